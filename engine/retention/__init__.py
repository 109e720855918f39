"""How much of what was pinned is still there after one round, two, five: shares, survival, comparison?"""

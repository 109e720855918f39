"""Does a receipt tell the truth about what was dropped?"""

"""Is this chain intact, and does it still hold what was pinned?"""

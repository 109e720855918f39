"""Which numbered lines does a file hold, and what does each say?

Reading never skips: every line has a number, an offset and either bytes or the reason it cannot be looked at.
"""

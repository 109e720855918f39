"""Which command answers which question?"""

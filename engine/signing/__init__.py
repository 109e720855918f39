"""Whose signature is this, over which bytes, and was it made for this purpose?"""

"""How do bytes reach the disk whole, or not at all?"""

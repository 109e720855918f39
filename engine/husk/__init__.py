"""What of an aging event may leave, who agreed, where did it go, and does every byte come back?"""

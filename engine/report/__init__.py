"""How does an answer leave the program, so that somebody else can read and check it?"""

"""What stood in the context before and after each compaction?"""

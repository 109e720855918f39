"""Which pinned span is still there after a compaction, by the policy `lexical-1`?"""

"""Does a receipt tell the truth about what was dropped?

A `CompactionReceipt` is a claim. `verify` says whether the claim agrees with itself and, where content is held, whether
the content agrees with the claim; `recompute` says which items went; `seal` writes an honest claim; `link` finds the
content a claim belongs to; `sweep` does it for a whole ledger. Nothing here says whether dropping was wise, nor
whether the content shown to the compactor was all there was.
"""

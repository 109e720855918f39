"""What every page draws the same way: foreign text, verdicts, digests, findings, pages of a list, states."""

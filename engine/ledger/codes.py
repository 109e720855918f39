"""Which kinds of findings can a walk over a ledger make?

Constants only. A code says what was seen at a line, not who did it or why.
"""

from __future__ import annotations

from engine.findings import Code, Severity

_BREAK, _LIMIT, _NOTICE = Severity.BREAK, Severity.LIMIT, Severity.NOTICE

CHAIN_MISMATCH = Code(
    "chain_mismatch",
    _BREAK,
    "the stored chain value is not the one recomputed from this row and the row before it",
    "compare this row and its neighbours with a copy of the ledger",
)
UNCHAINED_ROW = Code(
    "unchained_row",
    _BREAK,
    "a row without a chain value stands after the chain began",
    "find out which program wrote it without the ledger's own writer",
)
PRECHAIN_REJECTED = Code(
    "prechain_rejected",
    _BREAK,
    "a row stands in front of the chain, and strict mode accepts none",
    "verify without --strict to skip it",
)
DUPLICATE_KEY = Code(
    "duplicate_key",
    _BREAK,
    "a key stands twice in one object, so two honest readers see two different rows",
    "compare both values; neither can be believed",
)
NOT_AN_OBJECT = Code("not_an_object", _BREAK, "this line is JSON but not a row")
NON_STRING_CHAIN = Code("non_string_chain", _BREAK, "the chain value of this row is not text")
UNHASHABLE_ROW = Code("unhashable_row", _BREAK, "this row cannot be serialised, so its chain cannot be recomputed")
INVALID_UTF8 = Code(
    "invalid_utf8",
    _BREAK,
    "this line holds bytes that are not UTF-8; the chain covers their replacement, not these bytes",
    "compare the bytes of this line with a copy",
)
UNREADABLE_LEDGER = Code("unreadable_ledger", _LIMIT, "the ledger could not be read, so nothing is known about it")
DECLARATIONS_OVER_LIMIT = Code(
    "declarations_over_limit",
    _LIMIT,
    "the ledger declares more breaks than are kept; the later ones were not looked at",
)
AFTER_UNREAD_LINE = Code(
    "after_unread_line", _LIMIT, "the line before this row was not looked at, so its link was not checked"
)
UNFINISHED_LAST_LINE = Code(
    "unfinished_last_line",
    _NOTICE,
    "the last line has no line end and is no whole row: it may still be being written, or was cut off",
    "verify again when the writer is done",
)
DECLARED_BREAK = Code(
    "declared_break", _NOTICE, "somebody declared this break; the chain was not checked across this row"
)
PRECHAIN_ROWS = Code("prechain_rows", _NOTICE, "rows in front of the chain were skipped, not checked")
NAN_VALUE = Code("nan_value", _NOTICE, "this row holds NaN or Infinity, which is not JSON for other readers")
STARTS_WITH_BOM = Code(
    "starts_with_bom",
    _NOTICE,
    "the file starts with a byte order mark, which the format does not allow",
    "remove the mark from a copy and verify the copy",
)
NOT_UTF8_FILE = Code(
    "not_utf8_file",
    _NOTICE,
    "the file looks like UTF-16 or UTF-32; ledgers are UTF-8",
    "convert a copy and verify the copy",
)
NOTHING_TO_CHECK = Code("nothing_to_check", _NOTICE, "the ledger holds no rows; nothing was checked")

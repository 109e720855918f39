"""What did a reader notice that the user should know?

Codes shared by every transcript reader and a collector that stays small on a file where every line is bad. A notice
never fails a file; which sides of a round it touches is said there.
"""

from __future__ import annotations

from collections import Counter

from engine.findings import Code, Finding, Severity

PER_CODE = 200
"""Findings kept for one code; the rest are counted in one closing finding."""
SHOWN_CHARS = 200

LINE_UNREADABLE = Code(
    "transcript_line_unreadable",
    Severity.NOTICE,
    "this line is not a JSON value and was left out",
    "look at the line; rows before and after it are read",
)
LINE_UNFINISHED = Code(
    "transcript_line_unfinished",
    Severity.NOTICE,
    "the last line is cut off; it may still be being written",
    "read the file again later",
)
LINE_TOO_LONG = Code(
    "transcript_line_too_long",
    Severity.NOTICE,
    "this line is longer than the limit; its size and digest are given, its content was not read",
    "raise the line limit to read it",
)
LINE_TOO_DEEP = Code(
    "transcript_line_too_deep",
    Severity.NOTICE,
    "this line is nested deeper than the limit and was left out",
    "raise the nesting limit to read it",
)
NUL_RUN = Code("transcript_nul_run", Severity.NOTICE, "a run of NUL bytes stands here")
RECORD_RECOVERED = Code(
    "transcript_record_recovered",
    Severity.NOTICE,
    "several records stand on this line; whole ones were read, cut ones left out",
)
LINES_JOINED = Code(
    "transcript_lines_joined", Severity.NOTICE, "a raw line break inside a string; this line and the next were joined"
)
CONTROL_CHARACTERS = Code(
    "transcript_control_characters", Severity.NOTICE, "raw control characters inside a string; they were kept"
)
LOSSY_DECODE = Code(
    "transcript_lossy_decode",
    Severity.NOTICE,
    "bytes that are not UTF-8 were shown as U+FFFD; the digest is of what is shown, not of the original text",
)
TRANSCODED = Code(
    "transcript_transcoded",
    Severity.NOTICE,
    "the file is UTF-16 and was read as UTF-8; offsets are those of the UTF-8 form",
)
BYTE_ORDER_MARK = Code("transcript_byte_order_mark", Severity.NOTICE, "the file starts with a byte order mark")
SINGLE_ARRAY = Code(
    "transcript_single_array", Severity.NOTICE, "the file holds one JSON array; its entries were read as rows"
)
EMPTY_FILE = Code("transcript_empty_file", Severity.NOTICE, "the file holds no row")
NOT_AN_OBJECT = Code("transcript_row_not_an_object", Severity.NOTICE, "this row is not a JSON object and was left out")
UNKNOWN_ROWS = Code(
    "transcript_unknown_rows", Severity.NOTICE, "rows of a type this reader does not know were counted, not read"
)
REPEATED_ROWS = Code(
    "transcript_repeated_rows", Severity.NOTICE, "rows repeat an id seen before; the first of each was taken"
)
COPIED_ROWS = Code("transcript_copied_rows", Severity.NOTICE, "rows were copied from another session")
PARENT_MISSING = Code(
    "transcript_parent_missing", Severity.NOTICE, "the parent of this row is not in the file; joined by file order"
)
PARENT_CYCLE = Code("transcript_parent_cycle", Severity.NOTICE, "the parents of this row lead back to it; cut here")
ORDER_DISAGREES = Code(
    "transcript_order_disagrees",
    Severity.NOTICE,
    "the path by parents and the rows in file order differ in number",
    "compare both counts before relying on this round",
)
VALUE_UNREADABLE = Code(
    "transcript_value_unreadable", Severity.NOTICE, "a block of this row has no readable form and was kept as opaque"
)
MORE = Code("transcript_more_notices", Severity.NOTICE, "more notices of the same kind were counted, not listed")
UNTESTED_FORMAT = Code(
    "transcript_untested_format",
    Severity.NOTICE,
    "this reader follows the published format and has not been tried on real files with a compaction",
)

UNREADABLE = frozenset({LINE_UNREADABLE.name, LINE_UNFINISHED.name, LINE_TOO_LONG.name, LINE_TOO_DEEP.name})


def shorten(text: str) -> str:
    """Cut foreign text to a displayable length, free of lone surrogates."""
    cut = text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8")


class Notices:
    """Collects findings in order, at most `PER_CODE` of a kind, and counts rows by unknown type."""

    def __init__(self) -> None:
        self._found: list[Finding] = []
        self._counts: Counter[Code] = Counter()
        self._unknown: dict[str, tuple[int, int]] = {}
        self._first_unreadable: int | None = None

    def add(self, code: Code, line: int | None = None, *, field: str = "", claimed: str = "", found: str = "") -> None:
        """Note one finding."""
        self._counts[code] += 1
        if code.name in UNREADABLE and self._first_unreadable is None:
            self._first_unreadable = line or 1
        if self._counts[code] <= PER_CODE:
            self._found.append(Finding(code, line, shorten(field), shorten(claimed), shorten(found)))

    def unknown(self, kind: object, line: int) -> None:
        """Count a row of a type the reader does not know."""
        name = shorten(str(kind))
        if name not in self._unknown and len(self._unknown) >= PER_CODE:
            name = "…"
        first, count = self._unknown.get(name, (line, 0))
        self._unknown[name] = (first, count + 1)

    def unreadable_before(self, line: int | None) -> bool:
        """Tell whether a line could not be read before this one (anywhere, when None)."""
        first = self._first_unreadable
        return first is not None and (line is None or first < line)

    def count(self, code: Code) -> int:
        """Return how often a code was noted."""
        return self._counts[code]

    def findings(self) -> tuple[Finding, ...]:
        """Return all findings, unknown types and surpluses last."""
        unknown = [
            Finding(UNKNOWN_ROWS, first, "type", found=f"{kind}: {n}") for kind, (first, n) in self._unknown.items()
        ]
        more = [
            Finding(MORE, None, code.name, found=str(n - PER_CODE)) for code, n in self._counts.items() if n > PER_CODE
        ]
        return (*self._found, *unknown, *more)

"""How does a table leave as CSV without becoming a spreadsheet program?

A cell that starts like a formula gets an apostrophe in front (ASVS 1.2.10), control characters are written visibly, and
the first line is the manifest as a comment. The whole filtered set is written, not the page on the screen.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from engine.report.manifest import Manifest

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_cell(value: Any) -> str:
    """Return one cell as text that no spreadsheet runs."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    text = "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in str(value))
    original = str(value)
    return "'" + text if original.startswith(FORMULA_STARTS) or text.startswith(FORMULA_STARTS) else text


def csv_lines(manifest: Manifest, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a CSV export, manifest first."""
    yield "# " + json.dumps(manifest.as_json(), ensure_ascii=True) + "\r\n"
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for row in chain([columns], rows):
        writer.writerow([csv_cell(value) for value in row])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def json_document(manifest: Manifest, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a JSON export: the manifest and one object a row; lone surrogates are escaped."""
    listed = [dict(zip(columns, row, strict=True)) for row in rows]
    return json.dumps({"manifest": manifest.as_json(), "rows": listed}, ensure_ascii=True, indent=1) + "\n"

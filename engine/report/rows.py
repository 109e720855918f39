"""Which rows leave in an export of a ledger?

The whole filtered set in its order, read from the index in pages; and the manifest that names ledger and filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.clock import format_time
from engine.findings import Result
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import EVERYTHING, Filter, Sort, count, page
from engine.report.manifest import Manifest, made_at
from engine.review import LedgerReview

PAGE = 5000
COLUMNS = ("line", "offset", "length", "time", "kind", "compactor", "dropped_count", "dropped_bytes", "equation")


def exported_columns(index: LedgerIndex) -> tuple[str, ...]:
    """Return the column names of an export: the fixed ones and the attached states."""
    return (*COLUMNS, *index.states)


def exported_rows(index: LedgerIndex, flt: Filter, sort: Sort) -> Iterator[tuple[Any, ...]]:
    """Yield every row that matches, in order."""
    first = 0
    while True:
        found = page(index, flt, sort, first=first, limit=PAGE)
        for row in found.rows:
            yield (
                row.line,
                row.offset,
                row.length,
                format_time(row.time) if row.time else "",
                row.labels.get("kind", ""),
                row.labels.get("compactor", ""),
                row.dropped_count,
                row.dropped_bytes,
                row.equation.name.lower(),
                *(row.labels[name] for name in index.states),
            )
        first += len(found.rows)
        if not found.rows or first >= found.total:
            return


def ledger_manifest(ledger: LedgerReview, index: LedgerIndex | None = None, flt: Filter = EVERYTHING) -> Manifest:
    """Return the manifest of an export of one ledger, stamped when its chain is broken."""
    broken = ledger.chain.result is Result.FAILS
    words = {
        **{
            pick.column: " | ".join(index.label(pick.column, code) for code in sorted(pick.codes))
            for pick in flt.picks
            if index is not None
        },
        **{
            name: str(getattr(flt, name))
            for name in ("since", "until", "first_line", "last_line")
            if getattr(flt, name)
        },
    }
    return Manifest(
        kind="ledger rows",
        sources=((ledger.input.name, ledger.input.sha256, ledger.input.size),),
        count=count(index, flt) if index is not None else ledger.chain.reference.rows,
        filter=words,
        results={answer.question.value: answer.result.value for answer in ledger.answers},
        heads={ledger.input.name: ledger.chain.head},
        stamp="THE CHAIN OF THIS LEDGER IS BROKEN: rows after the first break are not vouched for" if broken else "",
        made_at=made_at(),
    )

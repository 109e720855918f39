"""What did a walk over the chain say about each row of the index?

Turns a chain report into one state for each row. A row is called linked only when the walk looked at it and named
nothing; rows past the last finding that the report keeps are called not listed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.errors import UsageError
from engine.findings import Severity
from engine.ledger import codes
from engine.ledger.index.layout import Form, LedgerIndex
from engine.ledger.index.store import attach
from engine.ledger.report import ChainReport

CHAIN_STATE = "chain_state"
LINKED = "linked"
BROKEN = "broken"
DECLARED = "declared break"
OUTSIDE = "outside the chain"
NOT_LOOKED_AT = "not looked at"
NOT_LISTED = "not listed"
_NAMES = (LINKED, BROKEN, DECLARED, OUTSIDE, NOT_LOOKED_AT, NOT_LISTED)
_BAD = frozenset({BROKEN, NOT_LOOKED_AT, DECLARED})


def attach_chain(index: LedgerIndex, report: ChainReport) -> LedgerIndex:
    """Attach the state of every row's link; raises `UsageError` when the report is about other bytes."""
    if report.sha256 != index.sha256:
        raise UsageError("report_of_other_bytes", "expected a report on the very bytes that were indexed")
    values = np.zeros(index.rows, dtype="|u1")
    lines, forms = index.columns["line"], index.columns["form"]
    chained = np.flatnonzero(forms == Form.CHAINED_ROW)
    first = int(chained[0]) if len(chained) else index.rows
    values[:first][forms[:first] == Form.ROW_WITHOUT_CHAIN] = _NAMES.index(OUTSIDE)
    if len(report.findings) >= report.limits.findings:
        last = max((f.line for f in report.findings if f.line is not None), default=0)
        values[lines > last] = _NAMES.index(NOT_LISTED)
    if report.lines < index.lines:  # the walk was stopped early
        values[lines > report.lines] = _NAMES.index(NOT_LISTED)
    worst: dict[int, str] = {}
    for finding in report.findings:
        if finding.line is not None and finding.code is not codes.PRECHAIN_ROWS:
            state = _state(finding.code.severity, finding.code is codes.DECLARED_BREAK)
            if state is not None and (state == BROKEN or finding.line not in worst):
                worst[finding.line] = state
    return attach_by_line(index, CHAIN_STATE, worst, names=_NAMES, bad=_BAD, values=values)


def attach_by_line(
    index: LedgerIndex,
    name: str,
    by_line: Mapping[int, str],
    *,
    names: tuple[str, ...],
    bad: frozenset[str],
    values: np.ndarray[tuple[int], np.dtype[np.uint8]] | None = None,
) -> LedgerIndex:
    """Attach a state to each row: the one named for its line, else the one in `values`, else the first of `names`.

    Lines that the index does not hold are passed over. Raises `UsageError` for a state that is not in `names`.
    """
    if not set(by_line.values()) <= set(names):
        raise UsageError("state_names", f"expected states among {', '.join(names)}")
    chosen = np.zeros(index.rows, dtype="|u1") if values is None else values
    if by_line and index.rows:
        wanted = np.fromiter(by_line, dtype="<i8", count=len(by_line))
        states = np.fromiter((names.index(state) for state in by_line.values()), "|u1", len(by_line))
        places = np.searchsorted(index.columns["line"], wanted)
        inside = places < index.rows
        places, wanted, states = places[inside], wanted[inside], states[inside]
        there = index.columns["line"][places] == wanted
        chosen[places[there]] = states[there]
    return attach(index, name, names, chosen, bad=bad)


def _state(severity: Severity, is_declared: bool) -> str | None:
    if is_declared:
        return DECLARED
    match severity:
        case Severity.BREAK:
            return BROKEN
        case Severity.LIMIT:
            return NOT_LOOKED_AT
        case Severity.NOTICE:
            return None

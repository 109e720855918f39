"""Which rows stand under each chart?

The numbers of the figures, line by line, for a table on screen and for a file. A share that is not defined is empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.retention.compare import Comparison
from engine.retention.report import Retention
from engine.retention.rows import Row

Table = list[dict[str, Any]]


def shares(found: Retention) -> Table:
    """Return one row for each group, class and round: k of n, share, interval, unverifiable and bounded pins."""
    return [
        {"group": group.name, "pins": line.of.value, "measure": line.measure.value, **point.as_json()}
        for group in found.groups
        for line in group.lines
        for point in line.points
    ]


def kept_and_present(found: Retention) -> Table:
    """Return one row for each group and round: kept by the compactor beside present for the agent."""
    return [
        {
            "group": group.name,
            "round": gap.round,
            "kept": gap.kept.k,
            "present": gap.present.k,
            "pins": gap.kept.n,
            "block_only": gap.block_only,
            "carried_from_block": gap.carried,
            "recovered": gap.recovered,
            "block_words": gap.words,
        }
        for group in found.groups
        for gap in group.gaps
    ]


def survival(found: Retention) -> Table:
    """Return one row for each group and round since a pin was written."""
    return [{"group": group.name, **step.as_json()} for group in found.groups for step in group.survival.steps]


def transitions(found: Retention) -> Table:
    """Return one row for each group and change of verdict between two rounds."""
    return [{"group": group.name, **flow.as_json()} for group in found.groups for flow in group.flows]


def budgets(found: Retention) -> Table:
    """Return one row for each round of each session: words kept beside pins kept."""
    return [each.as_json() for each in found.budgets]


def comparisons(found: Iterable[Comparison]) -> Table:
    """Return one row for each pair of groups."""
    return [
        {
            "first": each.first,
            "second": each.second,
            "test": each.test.value,
            "round": each.round,
            "p": each.p,
            "kept_first": each.kept[0],
            "pins_first": each.pins[0],
            "kept_second": each.kept[1],
            "pins_second": each.pins[1],
            "only_first": each.only_first,
            "only_second": each.only_second,
            "difference": each.difference,
            "low": each.low,
            "high": each.high,
            "words_kept_first": each.budgets[0],
            "words_kept_second": each.budgets[1],
            "equal_budgets": each.equal_budgets,
        }
        for each in found
    ]


def spans(rows: Iterable[Row]) -> Table:
    """Return one row for each pin and round: the verdict, and what stands beside it."""
    return [
        {
            "session": row.session,
            "compactor": row.compactor,
            "method": row.method,
            "model": row.model,
            "round": row.round,
            "pin": row.pin,
            "class": row.cls.value,
            "critical": row.critical,
            "verdict": row.verdict.value if row.verdict else "UNVERIFIABLE",
            "in_block": row.in_block,
            "bounded": row.bounded,
            "flags": " ".join(flag.value for flag in row.flags),
            "text": row.text,
        }
        for row in rows
    ]

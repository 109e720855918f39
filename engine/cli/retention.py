"""Which rules were kept over the rounds, and how do compactors compare?

Exit codes: 0 every round could be read, 3 none could, or some are unverifiable or partial. How many rules were lost
is no failure of a command: `winnow spans audit` judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import emit_json, safe, say
from engine.cli.span_input import audited_sessions, held_pins
from engine.cli.verify import Json
from engine.errors import EXIT_CANNOT_LOOK, EXIT_HOLDS, RefusedError
from engine.report.manifest import Manifest, made_at
from engine.report.table import csv_lines
from engine.retention import tables
from engine.retention.intervals import Figure, Share
from engine.retention.references import Reference, references
from engine.retention.report import Group, Retention
from engine.retention.report import retention as compute
from engine.retention.rows import distinct
from engine.retention.series import GroupBy, Line, Measure
from engine.retention.survival import Loss
from engine.storage.files import atomic_write


class Table(StrEnum):
    """Which rows `--csv` writes."""

    SHARES = "shares"
    PRESENT = "present"
    SURVIVAL = "survival"
    TRANSITIONS = "transitions"
    BUDGETS = "budgets"
    COMPARISONS = "comparisons"
    SPANS = "spans"


def retention(
    sessions: Annotated[list[Path], typer.Argument(help="Session files, or folders of them.")],
    *,
    pins: Annotated[Path | None, typer.Option(help="File of pins, JSON Lines.")] = None,
    by: Annotated[GroupBy, typer.Option(help="What sessions are put together by.")] = GroupBy.COMPACTOR,
    measure: Annotated[Measure, typer.Option(help="What counts as kept.")] = Measure.KEPT,
    loss: Annotated[Loss, typer.Option(help="What counts as the loss of a pin.")] = Loss.NOT_KEPT,
    published: Annotated[bool, typer.Option("--references", help="Show published points beside it.")] = False,
    table: Annotated[Table, typer.Option(help="Which rows --csv writes.")] = Table.SHARES,
    csv: Annotated[Path | None, typer.Option(help="File for the rows of a table.")] = None,
    as_json: Json = False,
) -> None:
    """Follow the pinned rules of sessions over their compaction rounds."""
    done, unread = audited_sessions(sessions, held_pins(pins))
    found = compute(done, by=by, measure=measure, loss=loss)
    shown = references() if published else ()
    copies = len(done) - len(distinct(done))
    if csv is not None:
        _write_csv(csv, found, table, tuple((each.source, each.digest, each.size) for each in done))
    if as_json:
        body = {**found.as_json(), "references": [each.as_json() for each in shown]}
        body["copies"] = copies
        emit_json("retention", {**body, "not_read": [{"path": str(path), "reason": why} for path, why in unread]})
    else:
        for line in _lines(found, shown):
            say(line)
        if copies:
            say(f"{copies} copies of session files passed over")
        for path, why in unread:
            say(f"not read: {safe(path, 400)}: {safe(why)}")
    whole = bool(found.rows) and not found.unverifiable and not unread and not any(row.bounded for row in found.rows)
    raise typer.Exit(EXIT_HOLDS if whole else EXIT_CANNOT_LOOK)


def _write_csv(path: Path, found: Retention, table: Table, sources: tuple[tuple[str, str, int], ...]) -> None:
    if path.exists() and path.suffix != ".csv":
        raise RefusedError(
            "out_is_no_csv", "expected a new file or one named .csv; nothing was written", where=str(path)
        )
    rows = {
        Table.SHARES: tables.shares(found),
        Table.PRESENT: tables.kept_and_present(found),
        Table.SURVIVAL: tables.survival(found),
        Table.TRANSITIONS: tables.transitions(found),
        Table.BUDGETS: tables.budgets(found),
        Table.COMPARISONS: tables.comparisons(found.comparisons),
        Table.SPANS: tables.spans(found.rows),
    }[table]
    chosen = {"by": found.by.value, "measure": found.measure.value, "loss": found.loss.value}
    manifest = Manifest(f"retention-{table.value}", sources, len(rows), filter=chosen, made_at=made_at())
    columns = list(rows[0]) if rows else []
    written = csv_lines(manifest, columns, ([row[name] for name in columns] for row in rows))
    atomic_write(path, "".join(written).encode("utf-8", "backslashreplace"))


def _lines(found: Retention, shown: tuple[Reference, ...]) -> Iterator[str]:
    for group in found.groups:
        yield from _group_lines(group)
    for each in found.comparisons:
        budget = "equal budgets" if each.equal_budgets else "different budgets: no ranking"
        if each.round is None:
            yield f"{safe(each.first)} and {safe(each.second)}: no round that could be read in both"
            continue
        p = "" if each.p is None else f"p {each.p:.3g}, "
        kept = f"{each.kept[0]} of {each.pins[0]} against {each.kept[1]} of {each.pins[1]} in round {each.round}"
        yield f"{safe(each.first)} and {safe(each.second)}: {each.test.value}, {p}{kept}, {budget}"
    for reference in shown:
        points = ", ".join(f"round {number} {share:.2f}" for number, share in reference.rounds)
        yield f"published: {reference.label}: {points} ({reference.source}; {reference.note})"
    if not found.rows:
        yield "no pinned span met a compaction round; pin spans by hand with --pins"
    yield "  does not prove: that a kept rule is obeyed, that the pins are all the rules, that a session is typical"


def _group_lines(group: Group) -> Iterator[str]:
    plural = "" if group.sessions == 1 else "s"
    yield f"{safe(group.name)}: {group.sessions} session{plural}, {group.survival.pins} pins followed"
    for line in group.lines:
        yield f"  {line.of.value} {line.measure.value}: {', '.join(_point(line))}" + _cliff(line)
    if group.survival.steps:
        half = group.survival.half_life
        yield f"  half-life: {'not reached' if half is None else f'{half} rounds'}"
    grey = sum(point.unverifiable for line in group.lines for point in line.points)
    if grey:
        yield "  ○ UNVERIFIABLE pins stand in no share: the text after those rounds cannot be read"


def _point(line: Line) -> Iterator[str]:
    for point in line.points:
        grey = f" ○{point.unverifiable}" if point.unverifiable else ""
        yield f"round {point.round} {shown_figure(point.figure)}{grey}"


def _cliff(line: Line) -> str:
    return "" if line.cliff is None else f"; below half from round {line.cliff}"


def shown_figure(figure: Figure) -> str:
    """Return k of n, with share and interval when there are enough pins."""
    if isinstance(figure, Share):
        return f"{figure.k}/{figure.n} ({figure.value:.0%}, {figure.low:.0%} to {figure.high:.0%})"
    return f"{figure.k}/{figure.n}"

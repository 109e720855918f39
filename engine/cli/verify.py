"""Was this ledger altered?

Verifies the chain of each ledger given; see `engine.ledger.verify` for what a green answer does not prove.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.output import emit_json, findings_text, headline, safe, say
from engine.findings import Result, exit_code, worst
from engine.ledger.report import ChainReport, Limits
from engine.ledger.verify import DEFAULT_LIMITS, verify_chain
from engine.lines.source import FileSource

Json = Annotated[bool, typer.Option("--json", help="Print one machine-readable object.")]


def verify(
    ledgers: Annotated[list[Path], typer.Argument(help="Ledger files (JSON Lines).")],
    *,
    strict: Annotated[bool, typer.Option(help="Accept no skipped rows and honour no declared break.")] = False,
    max_nesting: Annotated[int, typer.Option(min=1, help="Deepest nesting looked at.")] = DEFAULT_LIMITS.nesting,
    max_line_bytes: Annotated[
        int, typer.Option(min=1, help="Longest line looked at, in bytes.")
    ] = DEFAULT_LIMITS.line_bytes,
    as_json: Json = False,
) -> None:
    """Verify the chain of ledgers: every break, with line, claimed and recomputed value."""
    limits = Limits(nesting=max_nesting, line_bytes=max_line_bytes)
    reports = [verify_chain(FileSource(path), strict=strict, limits=limits) for path in ledgers]
    if as_json:
        emit_json("verify", {"ledgers": [chain_json(report) for report in reports]})
    else:
        for report in reports:
            _print(report)
    raise typer.Exit(exit_code(worst(report.result for report in reports)))


def chain_json(report: ChainReport) -> dict[str, Any]:
    """Return the stable machine form of one report."""
    return {
        "path": report.name,
        "sha256": report.sha256,
        "result": report.result.value,
        "scope": report.scope,
        "rows": report.reference.rows,
        "findings": [finding.as_json() for finding in report.findings],
        "breaks_total": report.breaks_total,
        "bytes_as_written": {"yes": report.bytes_as_written.yes, "first_line": report.bytes_as_written.first_line},
        "head": report.head,
        "tail": report.tail.value,
        "reference": report.reference.as_json(),
    }


def _print(report: ChainReport) -> None:
    say(safe(report.name, 400))
    say(headline(report.result, chain_words(report)))
    for line in findings_text(report.findings, report.breaks_total):
        say(line)
    written = report.bytes_as_written
    if written.yes is not None:
        say("  bytes as written: " + ("yes" if written.yes else f"no, first at line {written.first_line}"))
    say("  does not prove: that no rows were cut off the end (that takes a pin), nor that the rows tell the truth")
    say()


def chain_words(report: ChainReport) -> str:
    """Return the plain words of a chain result."""
    rows = f"{report.reference.chained} chained rows of {report.reference.rows}"
    match report.result:
        case Result.HOLDS:
            return f"INTACT, {rows}, scope {report.scope}"
        case Result.BOUNDED:
            return f"no break found in {rows}, scope {report.scope}"
        case Result.FAILS:
            return f"BROKEN, {report.breaks_total} break(s) in {rows}, scope {report.scope}"
        case Result.COULD_NOT_LOOK:
            return f"CANNOT CHECK, {rows}, scope {report.scope}"

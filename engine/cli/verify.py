"""Was this ledger altered?

Verifies the chain of each ledger given; see `engine.ledger.verify` for what a green answer does not prove.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.output import emit_json, findings_text, headline, safe, say
from engine.cli.progress import progress_line
from engine.cli.walking import walk
from engine.errors import UsageError
from engine.findings import Result, exit_code, worst
from engine.ledger.pin_check import PinReport, check_pins
from engine.ledger.pins import PinFile, read_pin_file
from engine.ledger.report import ChainReport, Limits
from engine.ledger.verify import DEFAULT_LIMITS
from engine.lines.source import FileSource

Json = Annotated[bool, typer.Option("--json", help="Print one machine-readable object.")]


def verify(
    ledgers: Annotated[list[Path], typer.Argument(help="Ledger files (JSON Lines).")],
    *,
    strict: Annotated[bool, typer.Option(help="Accept no skipped rows and honour no declared break.")] = False,
    pin: Annotated[Path | None, typer.Option(help="Pin file: also look for rows cut off or rewritten.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Name of the ledger in a pin file of several.")] = None,
    max_nesting: Annotated[int, typer.Option(min=1, help="Deepest nesting looked at.")] = DEFAULT_LIMITS.nesting,
    max_line_bytes: Annotated[
        int, typer.Option(min=1, help="Longest line looked at, in bytes.")
    ] = DEFAULT_LIMITS.line_bytes,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Processes that walk one ledger side by side.")] = 1,
    remember: Annotated[
        Path | None, typer.Option(help="Folder of your own: next time only what changed is walked.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify the chain of ledgers: every break, with line, claimed and recomputed value."""
    if pin is not None and len(ledgers) > 1:
        raise UsageError(
            "pin_for_several", f"expected one ledger with --pin, found {len(ledgers)}", hint="verify them one by one"
        )
    limits = Limits(nesting=max_nesting, line_bytes=max_line_bytes)
    pins = None if pin is None else read_pin_file(FileSource(pin))
    listed = []
    results = []
    for path in ledgers:
        report = walk(path, strict=strict, limits=limits, jobs=jobs, remember=remember)
        compared = _compare(path, pins, namespace, strict=strict, limits=limits)
        results += [report.result, *(each.result for each in compared)]
        if as_json:
            listed.append({**chain_json(report), "pin": pins_json(pins, compared)})
        else:
            _print(report, pins, compared)
    if as_json:
        emit_json("verify", {"ledgers": listed})
    raise typer.Exit(exit_code(worst(results)))


def _compare(
    path: Path, pins: PinFile | None, namespace: str | None, *, strict: bool, limits: Limits
) -> tuple[PinReport, ...]:
    if pins is None:
        return ()
    return check_pins(
        FileSource(path), pins, namespace=namespace, strict=strict, limits=limits, on_progress=progress_line()
    )


def pins_json(pins: PinFile | None, compared: Sequence[PinReport]) -> dict[str, Any] | None:
    """Return the stable machine form of a comparison with a pin file, None when none was given."""
    if pins is None:
        return None
    return {
        "file": pins.name,
        "format": pins.format.value,
        "integrity": pins.integrity.value,
        "findings": [finding.as_json() for finding in pins.findings],
        "answers": [report.as_json() for report in compared],
    }


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


def _print(report: ChainReport, pins: PinFile | None, compared: Sequence[PinReport]) -> None:
    say(safe(report.name, 400))
    say(headline(report.result, chain_words(report)))
    for line in findings_text(report.findings, report.breaks_total):
        say(line)
    written = report.bytes_as_written
    if written.yes is not None:
        say("  bytes as written: " + ("yes" if written.yes else f"no, first at line {written.first_line}"))
    for each in compared:
        say(headline(each.result, f"pin: {each.answer.value}: {safe(each.sentence, 400)}"))
    if pins is None:
        say("  does not prove: that no rows were cut off the end (that takes a pin), nor that the rows tell the truth")
    else:
        for line in findings_text(pins.findings):
            say(line)
        say("  does not prove: anything about rows behind the newest pin, nor that the rows tell the truth")
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

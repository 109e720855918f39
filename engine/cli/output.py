"""How does a command speak?

Results go to standard output, refusals to standard error. Foreign text is escaped so that it cannot move the cursor,
colour a word or hide characters. `--json` prints exactly one object with its schema name. The words printed are those
of the engine; a command adds no verdict of its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from engine.errors import CannotLookError
from engine.findings import Finding, Result
from engine.report.plain import plain

GLYPHS = {Result.HOLDS: "✔", Result.BOUNDED: "◐", Result.FAILS: "✖", Result.COULD_NOT_LOOK: "○"}
SHOWN = 160
FINDINGS_SHOWN = 50


def safe(text: object, limit: int = SHOWN) -> str:
    """Make foreign text harmless for a terminal: control, format and surrogate characters become ⟨U+XXXX⟩."""
    return plain(text, limit)


def say(text: str = "") -> None:
    """Print one line of our own words (foreign parts must have gone through `safe`)."""
    _write(text + "\n")


def emit_json(command: str, body: dict[str, Any]) -> None:
    """Print the one machine object of a command; lone surrogates are escaped, so it can always be written."""
    value = {"schema": f"winnow:{command}:v1", **body}
    _write(json.dumps(value, ensure_ascii=True, indent=2, default=str) + "\n")


class AnswerLostError(CannotLookError):
    """The answer could not be written out in full: whoever reads it must not take it for one of the four."""


def finish() -> None:
    """Send out what is still held back; raises `AnswerLostError` when nobody takes it (full disk, closed pipe)."""
    try:
        sys.stdout.flush()
    except OSError as exc:
        raise _lost(exc) from exc


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except OSError as exc:
        raise _lost(exc) from exc


def _lost(exc: OSError) -> AnswerLostError:
    return AnswerLostError(
        "answer_lost", f"the answer could not be written: {exc.strerror or exc}", hint="what was written is not all"
    )


def headline(result: Result, words: str) -> str:
    """Return glyph, word and scope of a result."""
    return f"{GLYPHS[result]} {result.value.replace('_', ' ')}  {words}"


def findings_text(findings: Iterable[Finding], total: int | None = None) -> list[str]:
    """Return one line per finding: place, code, claimed and recomputed, sentence and note."""
    listed = list(findings)
    lines = [_finding_line(finding) for finding in listed[:FINDINGS_SHOWN]]
    rest = max(total or 0, len(listed)) - len(lines)
    if rest > 0:
        lines.append(f"  … and {rest} more (--json lists those kept)")
    return lines


def _finding_line(finding: Finding) -> str:
    place = f"line {finding.line}" if finding.line else "file"
    values = ""
    if finding.claimed or finding.found:
        values = f"  claimed {safe(finding.claimed, 100) or '-'}  found {safe(finding.found, 100) or '-'}"
    field = f" {safe(finding.field)}" if finding.field else ""
    note = f" ({safe(finding.note)})" if finding.note else ""
    return f"  {place}{field}: {finding.code.sentence}{note}{values}"

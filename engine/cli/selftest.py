"""May this installation be believed?

Runs the frozen vectors and the planted lie on this machine; see `engine.receipts.golden` for what green does not prove.
"""

from __future__ import annotations

import typer

from engine.cli.output import GLYPHS, emit_json, headline, safe, say
from engine.cli.verify import Json
from engine.findings import exit_code
from engine.receipts.golden import selftest as run_selftest


def selftest(*, as_json: Json = False) -> None:
    """Check this installation against frozen vectors and a lie told on purpose."""
    report = run_selftest()
    if as_json:
        emit_json("selftest", report.as_json())
    else:
        for check in report.checks:
            say(f"  {GLYPHS[check.result]} {safe(check.name)}")
        words = f"{len(report.checks) - len(report.failed)} of {len(report.checks)} checks agree"
        say(headline(report.result, words))
        say("  does not prove: that the files of this installation were not replaced as a whole")
    raise typer.Exit(exit_code(report.result))

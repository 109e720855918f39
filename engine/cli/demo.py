"""What does Winnow show on samples?

Copies the sample ledgers into a folder of their own and opens the dashboard on them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from engine.cli.opening import Browser, Port, Workspace, serve
from engine.cli.output import safe, say
from sample_ledgers.build import copy_to


def demo(*, workspace: Workspace = None, port: Port = None, browser: Browser = True) -> None:
    """Open the dashboard on samples: honest, edited, cut off, lying, declared, hostile and real-shaped."""
    if workspace is not None:
        _show(workspace, port, browser=browser)
        return
    with tempfile.TemporaryDirectory(prefix="winnow-demo-") as folder:
        _show(Path(folder), port, browser=browser)


def _show(workspace: Path, port: int | None, *, browser: bool) -> None:
    samples = copy_to(workspace / "samples")
    say(f"samples in {safe(samples, 400)}")
    serve(workspace, [samples], port, browser=browser)

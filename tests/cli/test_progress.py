"""A long command tells a person how far it is, and nobody else."""

from __future__ import annotations

import sys
from io import StringIO

import pytest

from engine.cli.progress import ProgressLine, progress_line
from engine.findings import Progress, ignore_progress


def test_a_pipe_gets_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where standard error is no terminal, nothing is drawn."""
    monkeypatch.setattr(sys, "stderr", StringIO())
    assert progress_line() is ignore_progress


def test_a_terminal_gets_one_line_that_goes_away() -> None:
    """The line shows step and share, is drawn over itself, and is cleared at the end."""
    out = StringIO()
    line = ProgressLine(out)
    line(Progress("verifying", 43, 100))
    line(Progress("verifying", 44, 100))
    line(Progress("verifying", 100, 100))
    assert out.getvalue() == "\r\x1b[Kverifying 43 %\r\x1b[K"


def test_an_unknown_total_shows_the_count() -> None:
    """Without a total the count itself is shown."""
    out = StringIO()
    ProgressLine(out)(Progress("reading", 7, 0, "rows"))
    assert out.getvalue().endswith("reading 7")

"""An answer that does not arrive is never taken for another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support.hostile_bytes import HONEST

RUN = [sys.executable, "-c", "from engine.cli.main import run; run()", "verify"]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Return an honest ledger, for which the code would be 0."""
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(HONEST)
    return path


def _run(words: list[str], out: int | IO[Any], **more: str) -> subprocess.CompletedProcess[bytes]:
    command = [*RUN, *words]
    return subprocess.run(
        command, stdout=out, stderr=subprocess.PIPE, env={**os.environ, **more}, check=False, timeout=60
    )


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_full_disk_loses_the_answer_by_name(ledger: Path, words: list[str]) -> None:
    """The code is 3, with a sentence and no traceback."""
    with Path("/dev/full").open("wb") as full:
        ended = _run([str(ledger), *words], full)
    assert ended.returncode == 3
    assert ended.stderr.startswith(b"error: the answer could not be written: No space left")
    assert b"Traceback" not in ended.stderr


def test_a_closed_pipe_loses_the_answer_by_name(ledger: Path) -> None:
    """A reader that went away is not told that the ledger fails."""
    read, write = os.pipe()
    os.close(read)
    try:
        ended = _run([str(ledger)], write)
    finally:
        os.close(write)
    assert ended.returncode == 3
    assert ended.stderr.startswith(b"error: the answer could not be written: Broken pipe")


def test_a_narrow_character_set_gets_escapes(ledger: Path) -> None:
    """The glyph of the result is written as an escape, the result itself arrives."""
    ended = _run([str(ledger)], subprocess.PIPE, PYTHONIOENCODING="ascii")
    assert ended.returncode == 0
    assert b"HOLDS" in ended.stdout

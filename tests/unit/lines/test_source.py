"""A file that stops being readable says so by name, wherever it happens."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import CannotLookError
from engine.findings import Result
from engine.ledger.verify import verify_ledger
from engine.lines.source import FileSource
from engine.load import load_input
from engine.receipts.link import receipts_of
from engine.receipts.sweep import sweep_ledger
from engine.review import review
from engine.transcripts.content import read_content
from engine.transcripts.reader import read_transcript
from tests.support.commands import typed

# Reading the memory of this process from address 0 is an input/output error of the real kernel behind a regular file.
UNREADABLE = Path("/proc/self/mem")

pytestmark = pytest.mark.skipif(not UNREADABLE.exists(), reason="needs /proc")


@pytest.mark.parametrize("door", [lambda source: list(receipts_of(source)), read_content, read_transcript])
def test_an_error_in_the_middle_is_a_refusal_with_the_name(door: Callable[[FileSource], object]) -> None:
    """No door lets the operating system's exception through."""
    with pytest.raises(OSError, match="Input/output"), UNREADABLE.open("rb") as plain:
        plain.read(10)
    with pytest.raises(CannotLookError, match=r"mem: cannot read: Input/output error"):
        door(FileSource(UNREADABLE))


def test_the_walk_and_the_listing_give_it_as_a_result() -> None:
    """Could not look: neither a pass nor an accusation."""
    assert verify_ledger(FileSource(UNREADABLE)).result is Result.COULD_NOT_LOOK
    assert sweep_ledger(FileSource(UNREADABLE)).chain.result is Result.COULD_NOT_LOOK
    assert load_input(FileSource(UNREADABLE)).refusal is not None
    assert len(review([UNREADABLE]).refused) == 1
    for command in ("verify", "check", "rounds", "pin"):
        answer = typed(command, UNREADABLE)
        assert (answer.code, "internal" in answer.err) == (3, False), command


def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exchanged between the look and the opening, it is refused at once."""
    os.mkfifo(tmp_path / "f")
    monkeypatch.setattr(FileSource, "size", lambda _: 1)
    with pytest.raises(CannotLookError, match="regular file"):
        FileSource(tmp_path / "f").open()

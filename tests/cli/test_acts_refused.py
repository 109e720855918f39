"""Commands that write refuse what would harm a file they were given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.storage.files import LOCK_SUFFIX
from engine.storage.intent import Intent, note_intent
from sample_ledgers.build import copy_to
from tests.support.commands import typed

LEDGER = "honest_holds/receipts.jsonl"
UNFINISHED = "unfinished_tail_bounded/receipts.jsonl"
CONTENT = ("--pre", "honest_holds/before.json", "--post", "honest_holds/after.json")


@pytest.fixture(autouse=True)
def _samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copy_to(tmp_path))


@pytest.mark.parametrize("place", [LEDGER, "forked_fails/receipts.jsonl", "honest_holds/before.json"])
def test_a_pin_never_replaces_a_file(place: str) -> None:
    """Neither the pinned ledger, nor another one, nor content is written over."""
    before = Path(place).read_bytes()
    refused = typed("pin", LEDGER, "--out", place)
    assert refused.code in {1, 2, 3}
    assert Path(place).read_bytes() == before


@pytest.mark.parametrize("place", [LEDGER, "honest_holds/before.json", "honest_holds/receipts.pin"])
def test_a_pin_goes_into_no_file_of_something_else(place: str) -> None:
    """A ledger, a content file and a pin in another form are no witness store."""
    before = Path(place).read_bytes()
    refused = typed("pin", LEDGER, "--store", place, "--namespace", "a")
    assert (refused.code, Path(place).read_bytes()) == (1, before)
    assert "nothing was recorded" in refused.err


@pytest.mark.parametrize("name", ["missing.jsonl", "honest_holds"])
def test_a_ledger_that_cannot_be_read_gets_no_pin(name: str) -> None:
    """That is no accusation: the exit code says that nobody could look."""
    refused = typed("pin", name)
    assert refused.code == 3
    assert "no pin was made" in refused.err


def test_nothing_is_sealed_onto_its_own_input() -> None:
    """A ledger given as content as well, under either of its names, stays as it is."""
    before = Path(LEDGER).read_bytes()
    Path("other.jsonl").hardlink_to(LEDGER)
    for name in (LEDGER, "other.jsonl"):
        refused = typed("seal", "--pre", name, "--post", "honest_holds/after.json", "--ledger", LEDGER)
        assert (refused.code, Path(LEDGER).read_bytes()) == (2, before)


def test_nothing_is_sealed_behind_an_unfinished_line() -> None:
    """A new row would turn a line that may still be being written into a break."""
    before = Path(UNFINISHED).read_bytes()
    refused = typed("seal", *CONTENT, "--ledger", UNFINISHED)
    assert (refused.code, Path(UNFINISHED).read_bytes()) == (3, before)
    assert "may still be being written" in refused.err


def test_an_unfinished_line_of_our_own_is_cut_back_and_sealed_behind() -> None:
    """What an earlier seal left when it was stopped does not stand in the way, and leaves no break."""
    whole, tail = Path(UNFINISHED).read_bytes().rsplit(b"\n", 1)
    with Path(UNFINISHED + LOCK_SUFFIX).open("wb") as lock:
        note_intent(lock.fileno(), Intent(len(whole) + 1, tail + b" and the rest\n"))
    assert typed("seal", *CONTENT, "--ledger", UNFINISHED).code == 0
    assert tail not in Path(UNFINISHED).read_bytes()
    assert json.loads(typed("verify", UNFINISHED, "--json").out)["ledgers"][0]["result"] == "HOLDS"

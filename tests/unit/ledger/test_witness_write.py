"""A store takes pins forward only, locked, in the bytes of the format's own writer."""

from __future__ import annotations

import errno
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from arcaeon.record.ledger import Head
from arcaeon.record.ledger.witness import WitnessStore

from engine.errors import BusyError, RefusedError, WinnowError
from engine.findings import Result
from engine.ledger.pins import Integrity, Pin, read_pin_file
from engine.ledger.verify import verify_chain
from engine.ledger.witness import walk_store
from engine.ledger.witness_write import keeper_time, publish_head, record_pin
from engine.lines.source import FileSource, MemorySource
from engine.storage.files import FileLock
from tests.support.faults import Fault, sweep_steps, under
from tests.support.ledgers import chain_of, chained, frozen, numbered

LINES = chained(numbered(4))
CHAINS = [chain_of(line) for line in LINES]
AS_OF = "2026-01-01T00:00:00Z"


def a_pin(rows: int, chain: str | None = None, namespace: str = "ns") -> Pin:
    """Return a pin of the honest ledger."""
    return Pin(namespace, rows, chain or CHAINS[rows - 1], AS_OF)


def test_the_bytes_are_those_of_the_reference_store(tmp_path: Path) -> None:
    """Pin by pin the same file, with and without a keeper's clock."""
    for rows, namespace, received in ((1, "ns", None), (2, "é\u2028", AS_OF), (2, "ns", None)):
        ours = record_pin(tmp_path / "ours", a_pin(rows, namespace=namespace), received_at=received)
        theirs = WitnessStore(tmp_path / "theirs").record(
            namespace, Head(chain=CHAINS[rows - 1], rows=rows, as_of=AS_OF), received_at=received
        )
        assert ours == theirs
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert walk_store(FileSource(tmp_path / "ours")).result is Result.HOLDS


REFUSED: dict[str, tuple[Pin, str | None, str]] = {
    "fewer rows": (a_pin(2), None, "pin_goes_back"),
    "another chain for the same rows": (a_pin(3, "0" * 32), None, "pin_contradicts"),
    "from the future": (a_pin(4), "2025-12-31T23:54:59Z", "pin_from_the_future"),
    "a time nobody can read": (a_pin(4), "yesterday", "pin_time_unreadable"),
    "no namespace": (a_pin(4, namespace=""), None, "pin_not_usable"),
    "no rows": (Pin("ns", None, None, AS_OF, why="no rows"), None, "pin_not_usable"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_pin_that_contradicts_is_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written; another namespace is not concerned."""
    store = tmp_path / "w"
    record_pin(store, a_pin(3))
    before = store.read_bytes()
    pin, received, code = REFUSED[name]
    with pytest.raises(RefusedError) as refused:
        record_pin(store, pin, received_at=received)
    assert (refused.value.code, store.read_bytes()) == (code, before)
    record_pin(store, a_pin(1, namespace="other"))


def test_repeating_a_pin_is_a_sign_of_life(tmp_path: Path) -> None:
    """The same head again is kept, in either case of its letters; so is a time within the tolerance."""
    record_pin(tmp_path / "w", a_pin(3))
    record_pin(tmp_path / "w", a_pin(3), received_at="2025-12-31T23:55:00Z")
    assert walk_store(FileSource(tmp_path / "w")).chained == 2


def test_a_broken_store_takes_nothing(tmp_path: Path) -> None:
    """An edited pin is not built upon."""
    store = tmp_path / "w"
    record_pin(store, a_pin(1))
    store.write_bytes(store.read_bytes().replace(b'"rows": 1', b'"rows": 0'))
    with pytest.raises(RefusedError, match="does not hold together"):
        record_pin(store, a_pin(2))


def test_publishing_pins_what_the_walk_saw(tmp_path: Path) -> None:
    """A verified ledger is pinned; a broken one never leaves a pin behind."""
    report = verify_chain(MemorySource("l", b"".join(LINES)))
    written = publish_head(tmp_path / "w", "ns", report, received_at=keeper_time(frozen), clock=frozen)
    assert (written["rows"], written["chain"]) == (4, CHAINS[-1])
    file = read_pin_file(FileSource(tmp_path / "w"))
    assert (file.integrity, file.pins[0].received_at) == (Integrity.VERIFIED, "2026-01-01T12:00:00Z")
    with pytest.raises(RefusedError):
        publish_head(tmp_path / "other", "ns", verify_chain(MemorySource("l", b"".join(LINES[1:]))))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EMFILE])
def test_every_failed_step_leaves_a_whole_store(tmp_path: Path, error: int) -> None:
    """Each step of a recording fails once: no half pin, no success that is none."""
    store = tmp_path / "w"
    record_pin(store, a_pin(1))
    before = store.read_bytes()

    def run(fault: Fault) -> None:
        store.write_bytes(before)
        result = under(fault, lambda: record_pin(store, a_pin(2)))
        report = walk_store(FileSource(store))
        assert report.result is Result.HOLDS
        assert report.chained == (1 if isinstance(result, WinnowError) else 2), fault
        assert isinstance(result, WinnowError | dict)

    tally = sweep_steps(run, lambda nth: Fault(nth, error))
    tally.require_all()
    assert {"append.write", "append.sync", "append.read", "intent.sync"} <= set(tally.steps)


def test_a_held_store_refuses(tmp_path: Path) -> None:
    """Nothing is recorded without the lock."""
    with FileLock(tmp_path / "w.lock"), pytest.raises(BusyError):
        record_pin(tmp_path / "w", a_pin(1), lock_seconds=0)
    assert not (tmp_path / "w").exists()


def _record(arguments: Any) -> None:
    store, namespace = arguments
    for rows in (1, 2, 3, 4):
        record_pin(store, a_pin(rows, namespace=namespace), lock_seconds=60)


def test_many_keepers_at_once_make_one_chain(tmp_path: Path) -> None:
    """Eight processes record four pins each: all are there, every link holds."""
    store = tmp_path / "w"
    with ProcessPoolExecutor(8) as pool:
        list(pool.map(_record, [(store, f"n{n}") for n in range(8)]))
    report = walk_store(FileSource(store))
    assert (report.result, report.chained) == (Result.HOLDS, 32)

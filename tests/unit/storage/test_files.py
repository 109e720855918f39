"""Files are replaced whole or not at all, and a lock that is not got refuses."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from engine.errors import BusyError, CannotLookError, LifecycleError
from engine.storage.failpoints import listening
from engine.storage.files import FileLock, atomic_write
from engine.storage.outcome import NotStoredError, Outcome, OutcomeUnknownError
from tests.support.faults import Fault, sweep_steps, under


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    """The new bytes are there, the mode of the old file stays, and nothing is left beside it."""
    path = tmp_path / "state.json"
    atomic_write(path, b"one")
    path.chmod(0o600)
    atomic_write(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.EACCES])
def test_every_failed_step_leaves_old_or_new_bytes(tmp_path: Path, error: int) -> None:
    """Each durable step fails once: the file is whole, no temporary stays, the outcome is told."""
    path = tmp_path / "state"

    def run(fault: Fault) -> None:
        path.write_bytes(b"old")
        result = under(fault, lambda: atomic_write(path, b"new"))
        content = path.read_bytes()
        assert [p.name for p in tmp_path.iterdir()] == ["state"]
        if isinstance(result, NotStoredError):
            assert (content, result.outcome) == (b"old", Outcome.NOT_STORED)
        elif isinstance(result, OutcomeUnknownError):
            assert (content, fault.fired) == (b"new", ["replace.sync_folder"])
        else:
            assert (result, content, fault.fired) == (None, b"new", [])

    tally = sweep_steps(run, lambda nth: Fault(nth, error))
    tally.require_all()
    assert tally.steps == [
        "replace.open",
        "replace.write",
        "replace.sync",
        "replace.rename",
        "replace.sync_folder",
    ]


def test_a_short_write_is_carried_on(tmp_path: Path) -> None:
    """A write call that takes two bytes at a time still makes the whole file."""
    fault = Fault(1, room=2, for_ever=True)
    assert under(fault, lambda: atomic_write(tmp_path / "f", b"abcdefg")) is None
    assert (tmp_path / "f").read_bytes() == b"abcdefg"
    assert fault.fired.count("replace.write") == 4


def test_a_held_lock_refuses_after_the_time_out(tmp_path: Path) -> None:
    """The second holder is told that another one has it, and the first still works."""
    with FileLock(tmp_path / "l") as first:
        with pytest.raises(BusyError, match="nothing was written"), FileLock(tmp_path / "l", timeout=0.02):
            pytest.fail("two holders")
        assert first.descriptor > 0
    with FileLock(tmp_path / "l", timeout=0):
        assert stat.S_IMODE((tmp_path / "l").stat().st_mode) == 0o600


def test_a_lock_file_that_was_replaced_is_not_believed(tmp_path: Path) -> None:
    """Removing the file under a holder lets the next one lock the new file, not the lost one."""
    with FileLock(tmp_path / "l"):
        (tmp_path / "l").unlink()
        with FileLock(tmp_path / "l", timeout=0) as second:
            assert os.path.samestat(os.fstat(second.descriptor), (tmp_path / "l").stat())


def test_a_lock_file_that_goes_while_we_try_is_not_believed(tmp_path: Path) -> None:
    """The file is removed between our opening and our locking it: we lock the one that others will find."""
    path = tmp_path / "l"
    tries: list[str] = []

    def remove(step: str) -> None:
        if step == "lock.try":
            tries.append(step)
            if len(tries) == 1:
                path.unlink()

    with listening(remove), FileLock(path, timeout=0) as lock:
        assert os.path.samestat(os.fstat(lock.descriptor), path.stat())
    assert len(tries) == 2


def test_a_lock_that_cannot_be_opened_refuses(tmp_path: Path) -> None:
    """Neither a missing folder nor an exhausted process starts an act without a lock."""
    with pytest.raises(CannotLookError, match="cannot open the lock"), FileLock(tmp_path / "no" / "l"):
        pytest.fail("no lock")
    fault = Fault(1, errno.EMFILE)
    result = under(fault, FileLock(tmp_path / "l").__enter__)
    assert isinstance(result, CannotLookError)
    assert fault.fired == ["lock.open"]


def test_a_lock_out_of_use_has_no_descriptor(tmp_path: Path) -> None:
    """Asking outside the block is wrong use."""
    with pytest.raises(LifecycleError):
        _ = FileLock(tmp_path / "l").descriptor


def test_an_error_while_closing_the_lock_is_not_an_error_of_the_act(tmp_path: Path) -> None:
    """The act is done; the lock is free again although closing complained."""
    fault = Fault(3, errno.EIO)

    def act() -> str:
        with FileLock(tmp_path / "l"):
            return "done"

    assert under(fault, act) == "done"
    assert fault.fired == ["lock.close"]
    with FileLock(tmp_path / "l", timeout=0):
        pass

"""Files are replaced whole, and a lock that is not got refuses."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from engine.errors import BusyError, CannotLookError, LifecycleError
from engine.storage.failpoints import listening
from engine.storage.files import FileLock, atomic_write
from engine.storage.outcome import NotStoredError, Outcome, OutcomeUnknownError
from tests.support.faults import FailAt

REPLACE_STEPS = ("replace.open", "replace.write", "replace.sync", "replace.rename")


def test_replacing_keeps_the_mode_and_leaves_no_temporary(tmp_path: Path) -> None:
    """A replaced file has the new bytes and the old mode, alone in its folder."""
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("step", REPLACE_STEPS)
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EMFILE])
def test_a_failed_replacement_leaves_the_old_file(tmp_path: Path, step: str, error: int) -> None:
    """Whichever step fails, the old bytes stay and no temporary is left."""
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    fault = FailAt(step, error)
    with listening(fault), pytest.raises(NotStoredError) as caught:
        atomic_write(path, b"new")
    assert fault.fired == 1
    assert caught.value.outcome is Outcome.NOT_STORED
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_unacknowledged_rename_is_unknown(tmp_path: Path) -> None:
    """When the folder cannot be synced the outcome is unknown, not success."""
    fault = FailAt("replace.sync_folder", errno.EIO)
    with listening(fault), pytest.raises(OutcomeUnknownError):
        atomic_write(tmp_path / "a", b"new")
    assert fault.fired == 1


def test_short_writes_are_continued(tmp_path: Path) -> None:
    """A write call that takes two bytes is followed by another."""
    fault = FailAt("replace.write", room=2)
    with listening(fault):
        atomic_write(tmp_path / "a", b"abcdef")
    assert fault.fired == 1
    assert (tmp_path / "a").read_bytes() == b"abcdef"


def test_a_held_lock_refuses_in_time(tmp_path: Path) -> None:
    """A lock held elsewhere raises BusyError and is free again after its holder is done."""
    path = tmp_path / "a.lock"
    holder = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with pytest.raises(BusyError, match=r"0\.05 s"), FileLock(path, 0.05):
        pytest.fail("entered a held lock")
    os.close(holder)
    with FileLock(path, 0.05) as lock:
        assert os.fstat(lock.descriptor).st_ino == path.stat().st_ino


def test_a_lock_that_cannot_be_opened_refuses(tmp_path: Path) -> None:
    """No descriptor left, or no folder: refused with a reason, never unlocked."""
    fault = FailAt("lock.open", errno.EMFILE)
    with listening(fault), pytest.raises(CannotLookError), FileLock(tmp_path / "a.lock"):
        pytest.fail("entered without a lock")
    assert fault.fired == 1
    with pytest.raises(CannotLookError), FileLock(tmp_path / "missing" / "a.lock"):
        pytest.fail("entered without a lock")


def test_the_descriptor_of_a_free_lock_is_refused(tmp_path: Path) -> None:
    """A lock that is not held has no descriptor."""
    with pytest.raises(LifecycleError):
        _ = FileLock(tmp_path / "a.lock").descriptor

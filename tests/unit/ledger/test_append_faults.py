"""Whichever step of an append fails, no row is lost, none is half there, and the answer is true."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import BusyError, CannotLookError, WinnowError
from engine.findings import Result
from engine.ledger.append import append
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from engine.storage.failpoints import listening
from engine.storage.intent import Intent, note_intent
from engine.storage.outcome import NotStoredError, OutcomeUnknownError
from tests.support.faults import FailAt

STEPS_BEFORE = ("lock.open", "lock.try", "append.open", "append.read", "intent.write", "intent.sync")
STEPS_OF_WRITE = ("append.write", "append.sync")
STEPS_AFTER = ("intent.clear", "append.close", "lock.close")
ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.EACCES)


def _start(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    append(path, {"n": 0})
    return path


def test_every_step_of_an_append_is_named_here(tmp_path: Path) -> None:
    """The lists of steps below are all steps there are."""
    log = FailAt("none")
    with listening(log):
        append(tmp_path / "a.jsonl", {"n": 0})
        append(tmp_path / "a.jsonl", {"n": 1})
    assert set(log.seen) == {*STEPS_BEFORE, *STEPS_OF_WRITE, *STEPS_AFTER, "append.sync_folder"}


@pytest.mark.parametrize("step", [*STEPS_BEFORE, *STEPS_OF_WRITE])
@pytest.mark.parametrize("error", ERRORS)
def test_a_failed_step_is_an_error_and_changes_nothing(tmp_path: Path, step: str, error: int) -> None:
    """Bytes before equal bytes after, the answer is not success, and the next append works."""
    path = _start(tmp_path)
    before = path.read_bytes()
    fault = FailAt(step, error)
    with listening(fault), pytest.raises((NotStoredError, CannotLookError)) as caught:
        append(path, {"n": 1})
    assert fault.fired == 1
    assert not isinstance(caught.value, OutcomeUnknownError)
    assert path.read_bytes() == before
    append(path, {"n": 2})
    assert verify_chain(FileSource(path), strict=True).reference.rows == 2


def test_the_note_and_then_the_row_are_synced_after_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order on the disk: note, sync of the note, row, sync of the row; nothing is acknowledged before."""
    path = _start(tmp_path)
    calls: list[tuple[str, str]] = []

    def logged(name: str) -> None:
        real = getattr(os, name)

        def call(descriptor: int, *rest: object) -> object:
            calls.append((name, Path(f"/proc/self/fd/{descriptor}").readlink().name))
            return real(descriptor, *rest)

        monkeypatch.setattr(os, name, call)

    for name in ("write", "pwrite", "fsync", "ftruncate"):
        logged(name)
    append(path, {"n": 1})
    assert calls == [
        ("pwrite", "a.jsonl.lock"),
        ("fsync", "a.jsonl.lock"),
        ("write", "a.jsonl"),
        ("fsync", "a.jsonl"),
        ("ftruncate", "a.jsonl.lock"),
    ]


@pytest.mark.parametrize("step", STEPS_AFTER)
def test_a_fault_after_the_sync_does_not_hide_the_stored_row(tmp_path: Path, step: str) -> None:
    """The row was acknowledged by the disk, so the answer is stored, and the chain goes on."""
    path = _start(tmp_path)
    fault = FailAt(step, errno.EIO)
    with listening(fault):
        append(path, {"n": 1})
    assert fault.fired == 1
    assert append(path, {"n": 2}).cut_back == 0
    assert verify_chain(FileSource(path), strict=True).reference.rows == 3


@pytest.mark.parametrize("step", ["append.take_back", "append.sync_take_back"])
def test_when_taking_back_fails_the_outcome_is_unknown(tmp_path: Path, step: str) -> None:
    """A failed sync whose bytes cannot be cut off again is never called stored or not stored."""
    path = _start(tmp_path)

    first, second = FailAt("append.sync", errno.EIO), FailAt(step, errno.EIO)

    def both(name: str) -> int | None:
        first(name)
        return second(name)

    with listening(both), pytest.raises(OutcomeUnknownError):
        append(path, {"n": 1})
    assert (first.fired, second.fired) == (1, 1)
    append(path, {"n": 2})
    assert verify_chain(FileSource(path), strict=True).result is Result.HOLDS


def test_a_short_write_is_continued(tmp_path: Path) -> None:
    """A write call that took seven bytes is followed by one for the rest."""
    path = _start(tmp_path)
    fault = FailAt("append.write", room=7)
    with listening(fault):
        append(path, {"n": 1})
    assert fault.fired == 1
    assert verify_chain(FileSource(path), strict=True).reference.rows == 2


def test_a_torn_write_that_cannot_be_taken_back_is_cut_by_the_next_append(tmp_path: Path) -> None:
    """Our own torn row is recognised by the note in the lock's file and removed under the lock."""
    path = _start(tmp_path)
    short, full, stuck = (
        FailAt("append.write", room=7),
        FailAt("append.write", errno.ENOSPC, nth=2),
        FailAt("append.take_back", errno.EIO),
    )

    def faults(name: str) -> int | None:
        room = short(name)
        full(name)
        stuck(name)
        return room

    before = path.read_bytes()
    with listening(faults), pytest.raises(OutcomeUnknownError):
        append(path, {"n": 1})
    assert (short.fired, full.fired, stuck.fired) == (1, 1, 1)
    assert len(path.read_bytes()) == len(before) + 7
    assert append(path, {"n": 2}).cut_back == 7
    assert verify_chain(FileSource(path), strict=True).reference.rows == 2


def test_every_torn_length_of_our_own_row_is_cut_and_no_foreign_one(tmp_path: Path) -> None:
    """Noted bytes are cut at each length; bytes that differ from the note in one place stay."""
    path = _start(tmp_path)
    before = path.read_bytes()
    payload = b'{"n": 1, "ts": "2026-01-01T00:00:00Z", "chain": "0123"}\n'
    for length in range(1, len(payload)):
        for torn, cut in ((payload[:length], length), (payload[: length - 1] + b"~", 0)):
            path.write_bytes(before + torn)
            lock = os.open(f"{path}.lock", os.O_RDWR)
            note_intent(lock, Intent(len(before), payload))
            os.close(lock)
            assert append(path, {"n": 2}).cut_back == cut
            assert path.read_bytes().startswith(before + torn + b"\n") is (cut == 0)


def test_a_torn_note_is_no_note(tmp_path: Path) -> None:
    """A note that was itself cut off or altered cuts nothing from the ledger."""
    path = _start(tmp_path)
    before = path.read_bytes()
    payload = b'{"n": 1}\n'
    sidecar = Path(f"{path}.lock")
    lock = os.open(sidecar, os.O_RDWR)
    note_intent(lock, Intent(len(before), payload))
    os.close(lock)
    note = sidecar.read_bytes()
    for damaged in (note[:-1], note[:20], note.replace(b" 9 ", b" 8 "), b"\xff" + note, b"\n", b"a b c d\n"):
        assert damaged != note
        path.write_bytes(before + payload[:4])
        sidecar.write_bytes(damaged)
        assert append(path, {"n": 2}).cut_back == 0


def test_a_writer_that_ignores_the_lock_does_not_end_up_inside_our_chain(tmp_path: Path) -> None:
    """Bytes that appear between our look and our write make the append not stored; they stay."""
    path = _start(tmp_path)
    before = path.read_bytes()
    foreign = b'{"foreign": true}\n'

    def intrude(name: str) -> int | None:
        if name == "append.write":
            with path.open("ab") as other:
                other.write(foreign)
        return None

    with listening(intrude), pytest.raises(NotStoredError, match="another program"):
        append(path, {"n": 1})
    assert path.read_bytes() == before + foreign


def test_foreign_bytes_between_our_own_are_left_and_called_unknown(tmp_path: Path) -> None:
    """When a stranger wrote between two of our pieces nothing is cut off, for it might be the stranger's."""
    path = _start(tmp_path)
    short = FailAt("append.write", room=5)

    def intrude(name: str) -> int | None:
        room = short(name)
        if name == "append.write" and room is None:
            with path.open("ab") as other:
                other.write(b"stranger\n")
        return room

    with listening(intrude), pytest.raises(OutcomeUnknownError):
        append(path, {"n": 1})
    assert short.fired == 1
    assert b"stranger\n" in path.read_bytes()


def test_a_new_ledger_whose_name_is_not_durable_is_not_acknowledged(tmp_path: Path) -> None:
    """When the folder cannot be synced, the first row is not stored."""
    path = tmp_path / "a.jsonl"
    fault = FailAt("append.sync_folder", errno.EIO)
    with listening(fault), pytest.raises(NotStoredError):
        append(path, {"n": 1})
    assert fault.fired == 1
    assert path.read_bytes() == b""


HOLD = """
import fcntl, os, sys
lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_stopped_process_with_the_lock_makes_us_refuse(tmp_path: Path) -> None:
    """A lock held by a stopped process is BusyError in the stated time, and nothing is written."""
    path = _start(tmp_path)
    before = path.read_bytes()
    command = [sys.executable, "-c", HOLD, f"{path}.lock"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(BusyError):
            append(path, {"n": 1}, lock_seconds=0.2)
        holder.kill()
    assert path.read_bytes() == before
    append(path, {"n": 2})


WRITE = """
import sys
from collections.abc import Callable
from pathlib import Path
from engine.ledger.append import append
for number in range(int(sys.argv[2])):
    append(Path(sys.argv[1]), {"writer": sys.argv[3], "n": number}, lock_seconds=60)
"""


def test_sixteen_processes_lose_no_row_and_fork_no_chain(tmp_path: Path, sweep: Callable[[int], int]) -> None:
    """16 writers that append at once give one chain with every row in it (--sweep 500 for 8,000 rows)."""
    rows = sweep(12)
    path = tmp_path / "a.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITE, path, str(rows), str(writer)]) for writer in range(16)]
    assert [writer.wait() for writer in writers] == [0] * 16
    report = verify_chain(FileSource(path), strict=True)
    assert (report.result, report.reference.rows) == (Result.HOLDS, 16 * rows)
    written = [json.loads(line) for line in path.read_bytes().splitlines()]
    for writer in range(16):
        assert [row["n"] for row in written if row["writer"] == str(writer)] == list(range(rows))


def test_a_file_size_limit_leaves_no_torn_row(tmp_path: Path) -> None:
    """With a file size limit in the middle of the row, nothing is recorded and the ledger verifies."""
    path = _start(tmp_path)
    before = path.read_bytes()
    script = f"""
import resource
from pathlib import Path
from engine.ledger.append import append
from engine.errors import WinnowError
resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 300}, {len(before) + 300}))
try:
    append(Path({str(path)!r}), {{"pad": "x" * 250}})
    append(Path({str(path)!r}), {{"pad": "x" * 250}})
except WinnowError as exc:
    print(exc.code, exc)
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert answer.startswith("not_stored")
    assert "full" in answer
    assert verify_chain(FileSource(path), strict=True).result is Result.HOLDS
    append(path, {"n": 1})


def test_errors_are_the_engines_own() -> None:
    """Both failures of a write are in the engine's error tree."""
    assert issubclass(NotStoredError, WinnowError)
    assert issubclass(OutcomeUnknownError, WinnowError)

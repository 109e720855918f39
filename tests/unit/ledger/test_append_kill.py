"""A writer killed or failed at any system call loses no acknowledged row and leaves a ledger that goes on by itself."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.findings import Result
from engine.ledger.append import append
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from tests.support.syscalls import MUTATING_CALLS, every_nth, require_strace, run_with_fault

WRITE = """
import sys
from pathlib import Path
from engine.errors import WinnowError
from engine.ledger.append import append
for number in range(2):
    try:
        print("stored", append(Path(sys.argv[1]), {"n": number, "ts": "t"}).chain, flush=True)
    except WinnowError as exc:
        print(exc.code, flush=True)
"""
ERRORS = ("EIO", "ENOSPC", "EMFILE", "EINTR")
SILENT = {"EINTR"}
"""Errors that are retried, so that the program may succeed."""


@dataclass
class Sweep:
    """What a sweep planned, saw fire and saw pass."""

    planned: int = 0
    fired: int = 0
    passed: int = 0


def _one(folder: Path, call: str, nth: int, fault: str) -> bool:
    """Run one point and check the ledger afterwards; returns whether the fault fired."""
    folder.mkdir()
    path = folder / "a.jsonl"
    command = [sys.executable, "-c", WRITE, str(path)]
    injected = run_with_fault(command, call, nth, fault, [path, Path(f"{path}.lock"), folder])
    acknowledged = [line.split()[1] for line in injected.output.splitlines() if line.startswith("stored ")]
    append(path, {"n": "after", "ts": "t"})
    report = verify_chain(FileSource(path), strict=True)
    chains = [json.loads(line)["chain"] for line in path.read_bytes().splitlines()]
    assert report.result is Result.HOLDS, (call, nth, fault)
    assert [chain for chain in chains if chain in acknowledged] == acknowledged, (call, nth, fault)
    assert {entry.name for entry in folder.iterdir()} == {"a.jsonl", "a.jsonl.lock"}
    if "SIGKILL" not in fault:
        answers = injected.output.splitlines()
        assert len(answers) == 2, (call, nth, fault, injected)
        assert len(chains) == len(acknowledged) + 1 + answers.count("outcome_unknown"), (call, nth, fault, answers)
    return injected.fired


def _sweep(folder: Path, fault: str) -> Sweep:
    sweep = Sweep()
    for call in MUTATING_CALLS:
        for nth in every_nth():
            if not _one(folder / f"{call}-{nth}", call, nth, fault):
                break
            sweep.planned += 1
            sweep.fired += 1
            sweep.passed += 1
        else:
            pytest.fail(f"{call} never ran out of points")
        # A call that has no point at all is one this program does not make, or a fault that silently did not fire.
        assert nth > 1, f"no {call} was injected"
    return sweep


def test_a_kill_before_every_mutating_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SIGKILL at each call of two appends: acknowledged rows stay, the next append heals the rest by itself."""
    require_strace()
    sweep = _sweep(tmp_path, "signal=SIGKILL")
    with capsys.disabled():
        print(f"\nkill: planned {sweep.planned} = fired {sweep.fired} = passed {sweep.passed}")
    assert sweep.planned == sweep.fired == sweep.passed
    assert sweep.planned >= 14


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_at_every_mutating_call(tmp_path: Path, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each error at each call is answered truly: what is not called stored is not in the ledger."""
    require_strace()
    sweep = _sweep(tmp_path, f"error={error}")
    with capsys.disabled():
        print(f"\n{error}: planned {sweep.planned} = fired {sweep.fired} = passed {sweep.passed}")
    assert sweep.planned == sweep.fired == sweep.passed
    assert sweep.planned >= 14

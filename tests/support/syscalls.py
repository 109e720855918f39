"""Faults injected into system calls by strace, with proof that each one fired."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

MUTATING_CALLS = ("openat", "flock", "pwrite64", "write", "fsync", "ftruncate")
_RAN_OUT = 64


def require_strace() -> None:
    """Skip at a desk without strace; fail in CI, where it must not be missing."""
    if shutil.which("strace") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("strace is not installed, so no fault can be injected")
        pytest.skip("strace is not installed")


@dataclass(frozen=True)
class Injected:
    """One run under strace: whether the fault fired, the exit status, and what the program printed."""

    fired: bool
    status: int
    output: str


def run_with_fault(command: Sequence[str], call: str, nth: int, fault: str, paths: Sequence[Path]) -> Injected:
    """Run a command and inject a fault into the nth such call on one of the paths.

    Never with `--seccomp-bpf`: together with `-P` that injects nothing, silently.
    """
    trace = paths[0].with_suffix(".trace")
    watched = [part for path in paths for part in ("-P", str(path))]
    strace = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={nth}"]
    done = subprocess.run([*strace, *watched, *command], capture_output=True, text=True, check=False)
    fired = done.returncode in (137, -9) or "(INJECTED)" in trace.read_text()
    trace.unlink()
    return Injected(fired, done.returncode, done.stdout)


def every_nth() -> range:
    """Count the points of one call; a loop over it must end by a fault that does not fire."""
    return range(1, _RAN_OUT)

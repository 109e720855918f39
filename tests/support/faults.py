"""Storage that fails at a named step, and a count of what was planned, fired and passed.

A fault that did not fire proves nothing: every sweep counts on until a fault no longer fires, and says how many did.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.storage.failpoints import listening


@dataclass
class Fault:
    """Fails the n-th step of a run (1-based) with an error number, or lets it move only `room` bytes."""

    nth: int
    error: int | None = None
    room: int | None = None
    for_ever: bool = False
    steps: list[str] = field(default_factory=list)
    fired: list[str] = field(default_factory=list)

    def __call__(self, step: str) -> int | None:
        """Hear a step; the hook of `listening`."""
        self.steps.append(step)
        due = len(self.steps) >= self.nth if self.for_ever else len(self.steps) == self.nth
        if not due:
            return None
        self.fired.append(step)
        if self.error is not None:
            raise OSError(self.error, os.strerror(self.error))
        return self.room


@dataclass
class FailAt:
    """Fail the nth call of a step with an errno (or let it move only `room` bytes); `fired` counts.

    `forever` fails every later call of the step too.
    """

    step: str
    error: int = 0
    nth: int = 1
    room: int | None = None
    forever: bool = False
    fired: int = 0
    seen: list[str] = field(default_factory=list)

    def __call__(self, step: str) -> int | None:
        """Hear a step."""
        self.seen.append(step)
        count = self.seen.count(step)
        if step != self.step or not (count == self.nth or (self.forever and count > self.nth)):
            return None
        self.fired += 1
        if self.error:
            raise OSError(self.error, "injected")
        return self.room


@dataclass
class Tally:
    """What a sweep did: planned, fired and passed must be equal, and not zero."""

    planned: int = 0
    fired: int = 0
    passed: int = 0
    steps: list[str] = field(default_factory=list)

    def require_all(self) -> None:
        """Fail unless every planned fault fired and passed."""
        assert self.planned == self.fired == self.passed > 0, self


def sweep_steps(run: Callable[[Fault], None], make: Callable[[int], Fault]) -> Tally:
    """Run once for each step, failing it, until a run has no such step any more; `run` checks the outcome."""
    tally = Tally()
    while True:
        fault = make(tally.planned + 1)
        run(fault)
        if not fault.fired:
            return tally
        tally.planned += 1
        tally.fired += 1
        tally.passed += 1
        tally.steps.append(fault.fired[0])


def under(fault: Fault, act: Callable[[], object]) -> object:
    """Do an act while the fault listens; returns its value or the exception it raised."""
    try:
        with listening(fault):
            return act()
    except Exception as exc:  # noqa: BLE001 - the caller judges whatever came out
        return exc

"""Injected faults for the storage steps, and proof that they fired."""

from __future__ import annotations

from dataclasses import dataclass, field


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

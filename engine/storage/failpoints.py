"""Where may a test make a durable step fail?

Every step that touches the disk says its name here just before it runs. Nothing listens unless a test does, and only
in the thread that asked. A step without a name cannot be failed this way; the sweep over system calls shows whether
one was left unnamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Hook = Callable[[str], int | None]
"""Takes the name of a step; may raise `OSError`, or return how many bytes the step may move (None: all)."""

_HOOK: ContextVar[Hook | None] = ContextVar("failpoint_hook", default=None)


def reach(step: str) -> int | None:
    """Say that a step is about to run; returns the bytes it may move (None: all), raises what a test injected."""
    hook = _HOOK.get()
    return None if hook is None else hook(step)


@contextmanager
def listening(hook: Hook) -> Iterator[None]:
    """Let a hook hear every step of this thread while the block runs; for tests only."""
    token = _HOOK.set(hook)
    try:
        yield
    finally:
        _HOOK.reset(token)

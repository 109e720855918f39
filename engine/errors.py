"""What can stop a command, and with which exit code?

The tree::

    WinnowError            never raised itself
    ├── UsageError         2  the caller asked for something that cannot be meant
    │   └── LifecycleError 2  an object was used in a state that forbids it
    ├── RefusedError       1  an act was refused because its claim disagrees with itself or with the content
    └── CannotLookError    3  the input could not be read, so nothing is known about it
        ├── LimitError     3  a declared limit was passed
        └── BusyError      3  another process holds the lock

A bad ledger is not in this tree: it is a result. These classes do not say whether data was altered.
"""

from __future__ import annotations

from typing import ClassVar

EXIT_HOLDS = 0
EXIT_FAILS = 1
EXIT_USAGE = 2
EXIT_CANNOT_LOOK = 3


class WinnowError(Exception):
    """Carry a stable code, a message, the place and what to do about it.

    `message` is lower case without a full stop and names what was expected and found; `where` names the input
    (file, line, field); `hint` says what to do next.
    """

    exit_code: ClassVar[int] = EXIT_FAILS

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(WinnowError):
    """Wrong use; never looks like bad data."""

    exit_code = EXIT_USAGE


class LifecycleError(UsageError):
    """An object was used after the step that ended its life, or before the step that begins it."""


class RefusedError(WinnowError):
    """A refused act; nothing was changed."""

    exit_code = EXIT_FAILS


class CannotLookError(WinnowError):
    """The input could not be read; this says nothing about its content."""

    exit_code = EXIT_CANNOT_LOOK


class LimitError(CannotLookError):
    """A declared limit was passed; the limit stands in the message."""


class BusyError(CannotLookError):
    """Another process holds the lock; nothing was written."""

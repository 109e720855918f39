"""What became of an act that writes?

Three answers: stored, not stored, unknown. An act that stored returns; the other two are raised, so that no caller
can take them for success by not looking. None of this proves that the disk keeps what it acknowledged.
"""

from __future__ import annotations

import errno
from enum import StrEnum

from engine.errors import CannotLookError, RefusedError


class Outcome(StrEnum):
    """Stable words for what became of a write."""

    STORED = "stored"
    """The bytes are in the file and the disk acknowledged them."""
    NOT_STORED = "not_stored"
    """The file is as it was before the act."""
    UNKNOWN = "unknown"
    """The bytes may or may not be there; look before trying again."""


class NotStoredError(RefusedError):
    """The write failed and the file is as it was; `code` is `not_stored`."""

    outcome = Outcome.NOT_STORED


class OutcomeUnknownError(CannotLookError):
    """The write failed and could not be taken back; `code` is `outcome_unknown`."""

    outcome = Outcome.UNKNOWN


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def not_stored(where: str, reason: OSError | str) -> NotStoredError:
    """Build the error for a write that left the file as it was."""
    full = isinstance(reason, OSError) and reason.errno in _FULL
    return NotStoredError(
        "not_stored",
        f"{'the disk or quota is full' if full else _text(reason)}; nothing was recorded",
        where=where,
        hint="free some space and try again" if full else "the file is as it was before; try again",
    )


def outcome_unknown(where: str, reason: OSError | str) -> OutcomeUnknownError:
    """Build the error for a write that could neither be finished nor taken back."""
    return OutcomeUnknownError(
        "outcome_unknown",
        f"{_text(reason)}; whether the bytes were recorded is not known",
        where=where,
        hint="look at the end of the file before writing again",
    )


def _text(reason: OSError | str) -> str:
    return reason if isinstance(reason, str) else (reason.strerror or str(reason))

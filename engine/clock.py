"""What time is it, and how is a time written?

One spelling is accepted and written: `YYYY-MM-DDTHH:MM:SS[.fraction]Z`. A time in a file is a claim of its writer:
parsing it does not prove when anything happened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]

_RFC3339_Z = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z", re.ASCII)
_MICROSECOND_DIGITS = 6


def utc_now() -> datetime:
    """Return the machine's present time in UTC."""
    return datetime.now(UTC)


def format_time(moment: datetime) -> str:
    """Write a moment in UTC with whole seconds, as the ledger's own writer does."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime | None:
    """Read the one accepted spelling; anything else is None (zone-less, week dates and basic format included)."""
    match = _RFC3339_Z.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction = match.groups()
    micros = int((fraction or "0")[:_MICROSECOND_DIGITS].ljust(_MICROSECOND_DIGITS, "0"))
    try:
        return datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), micros, tzinfo=UTC)
    except ValueError:
        return None

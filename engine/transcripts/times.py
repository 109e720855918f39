"""Which moment does a count of milliseconds name?

Turns the epoch milliseconds that some tools store into the text form items carry. Order never depends on it: a clock
can be wrong, and published files have their times cut out.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MILLISECOND = 253_402_300_799_999


def time_of_milliseconds(value: object) -> str | None:
    """Return the ISO form of epoch milliseconds in UTC, or None for anything that is no such count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= LAST_MILLISECOND:
        return None
    moment = EPOCH + timedelta(milliseconds=int(value))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

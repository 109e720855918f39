"""When may the fast parsers be believed?

Only when their value, written out again, gives the very bytes of the line: then every token is spelled as Python's
`json` would spell it, there is no duplicate key, and the fast serialisation equals the exact one. Floats are accepted
only when Python's `repr` is their token, because fast libraries spell some of them differently. Anything else is
left to the exact road. A line that is believed here is canonical; that says nothing about its truth.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

_SORTED = orjson.OPT_SORT_KEYS
_format = msgspec.json.format


def _exact_float(token: str) -> float:
    value = float(token)
    if repr(value) != token:
        raise ValueError("float token is not Python's spelling")
    return value


_decode = msgspec.json.Decoder(float_hook=_exact_float).decode
_dumps = orjson.dumps
REFUSED = (ValueError, TypeError, RecursionError, msgspec.MsgspecError)
"""What the fast parsers raise on lines they will not vouch for (`orjson.JSONEncodeError` is a `TypeError`)."""


def decode(line: bytes) -> Any | None:
    """Return the value of a line that is provably canonical, else None (also for a canonical `null`).

    Nesting is the caller's to bound.
    """
    try:
        value = _decode(line)
        # The round trip is the proof: same bytes, so same tokens, same order, no key twice.
        return value if _format(_dumps(value), indent=0) == line else None
    except REFUSED:
        return None


def body_of_proved(row: dict[str, Any]) -> bytes:
    """Return the chain body of a row that `decode` vouched for and whose `chain` was taken out."""
    return _format(_dumps(row, option=_SORTED), indent=0)

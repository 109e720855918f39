"""When may the fast parsers be believed?

Only when their value, written out again, gives the very bytes of the line: then every token is spelled as Python's
`json` would spell it, there is no duplicate key, and the fast serialisation equals the exact one. Floats are accepted
only when Python's `repr` is their token, because fast libraries spell some of them differently. Anything else is
left to the exact road. A line that is believed here is canonical; that says nothing about its truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

_SORTED = orjson.OPT_SORT_KEYS

LIST_TOKEN = 715_517_920_016
"""A number that takes a digest list's place while the rest of its row is parsed; any number would do."""
_TOKEN = str(LIST_TOKEN).encode("ascii")
_DIGEST_START = b'"sha256:'
_LIST_START = b'"items": [' + _DIGEST_START
_STEP = 88  # a digest, its quotes, a comma and a space
_RAW, _JSON = (b'"sha256:%b:v1:%b", ' % (name, b"0" * 64) for name in (b"raw-bytes", b"json-c14n"))
_RECIPE_AT = _RAW.index(b"raw")
_HEX = b"0123456789abcdef"
# Hex digits become one byte that stands for nothing else; that byte itself, if it stands there, becomes another.
_HEX_TO_ONE = bytes.maketrans(_HEX + b"\x01", b"\x01" * len(_HEX) + b"\x02")
# The pattern of a JSON digest has no r, so that replacing j and then r builds the pattern of a whole list.
_PATTERNS = {"r": _RAW.translate(_HEX_TO_ONE), "j": _JSON.translate(_HEX_TO_ONE)}
_HEX_COLUMNS = tuple(
    (at, bytes.maketrans(b"rj", bytes((_RAW[at], _JSON[at]))))
    for at in range(_RAW.index(b"0" * 64))
    if _RAW[at] in _HEX or _JSON[at] in _HEX
)
"""Places of fixed hex digits within a quoted digest, and what must stand there under each recipe."""
_format = msgspec.json.format
_SEPARATOR = "\x7f"
_SEPARATOR_BYTES = _SEPARATOR.encode()
_JOINT = b', "' + _SEPARATOR_BYTES + b'", '
SERIALISER_DEPTH = 254
"""orjson refuses to write deeper values, so a line that made the round trip nests no deeper."""


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

    The value nests no deeper than `SERIALISER_DEPTH`.
    """
    try:
        value = _decode(line)
        # The round trip is the proof: same bytes, so same tokens, same order, no key twice.
        return value if _format(_dumps(value), indent=0) == line else None
    except REFUSED:
        return None


@dataclass(slots=True)
class Proved:
    """A row that is provably canonical.

    A long list of digests (a receipt's manifest) is proven by its shape and left unparsed: then `digests` holds the
    bytes between its brackets, and `row["dropped"]["items"]` is the number `LIST_TOKEN` instead of the list.
    """

    row: dict[str, Any]
    digests: bytes | None = None

    def body(self) -> bytes:
        """Return the chain body of the row, whose `chain` must have been taken out."""
        body = _format(_dumps(self.row, option=_SORTED), indent=0)
        return body if self.digests is None else body.replace(_TOKEN, b"[%b]" % self.digests, 1)

    def items(self) -> list[str]:
        """Return the digests that were left unparsed."""
        return [] if self.digests is None else self.digests[1:-1].decode("ascii").split('", "')


def prove(line: bytes) -> Proved | None:
    """Return the row of a line that is provably canonical, else None."""
    start = line.find(_LIST_START)
    if start >= 0:
        proved = _prove_around(line, start + len(_LIST_START) - len(_DIGEST_START))
        if proved is not None:
            return proved
    row = decode(line)
    return Proved(row) if isinstance(row, dict) else None


def _prove_around(line: bytes, start: int) -> Proved | None:
    """Prove a line in two parts: the digest list that starts inside the bracket at `start`, and the rest.

    The rest is decoded with a number in the list's place. That number stands in the line once, and is found as the
    whole value of `dropped.items`; so the place is a value's place, and any canonical value may stand there.
    """
    end = line.find(b"]", start)
    digests = line[start:end]
    if end < 0 or not digest_list(digests):
        return None
    rest = line[: start - 1] + _TOKEN + line[end + 1 :]
    if rest.count(_TOKEN) != 1:
        return None
    row = decode(rest)
    dropped = row.get("dropped") if isinstance(row, dict) else None
    found = dropped.get("items") if isinstance(dropped, dict) else None
    return Proved(row, digests) if row is not None and type(found) is int and found == LIST_TOKEN else None


def digest_list(inner: bytes) -> bool:
    """Tell whether bytes are digests of the two known recipes in quotes, joined as the format's writer joins them.

    With every hex digit read as one same byte the bytes must be the pattern of such a list; the fixed characters that
    are hex digits themselves are then compared column by column. The first letter of each recipe says which it is.
    """
    recipes = inner[_RECIPE_AT::_STEP]
    wanted = recipes.replace(b"j", _PATTERNS["j"]).replace(b"r", _PATTERNS["r"])[:-2]
    return inner.translate(_HEX_TO_ONE) == wanted and all(
        inner[at::_STEP] == recipes.translate(column) for at, column in _HEX_COLUMNS
    )


def decode_lines(lines: list[bytes]) -> list[Any] | None:
    """Return the values of several lines at once when all are provably canonical, else None.

    The lines are read as one array with a separator element between them. The separator's byte stands in none of the
    lines, so when every second element is the separator, each line is exactly one value and none borrows a bracket
    from its neighbour. No value nests deeper than `SERIALISER_DEPTH`.
    """
    if len(lines) == 1:
        value = decode(lines[0])
        return None if value is None else [value]
    joined = _JOINT.join(lines)
    if joined.count(_SEPARATOR_BYTES) != len(lines) - 1:
        return None
    document = b"[" + joined + b"]"
    try:
        values = _decode(document)
        if _format(_dumps(values), indent=0) != document:
            return None
    except REFUSED:
        return None
    separators = values[1::2]
    if len(values) != 2 * len(lines) - 1 or separators.count(_SEPARATOR) != len(separators):
        return None
    return list(values[::2])


def bodies_of_proved(rows: list[dict[str, Any]], sizes: list[int]) -> list[bytes]:
    """Return the chain bodies of rows that `decode_lines` vouched for and whose `chain` was taken out.

    `sizes` are the lengths of the bodies: sorting keys moves bytes but never changes their number.
    """
    text = _format(_dumps(rows, option=_SORTED), indent=0)
    bodies, start = [], 1
    for size in sizes:
        bodies.append(text[start : start + size])
        start += size + 2
    return bodies

"""Is there nothing at all to say about this receipt row?

The quick answer for the honest row in a sweep: a summary when every check without content passes, None whenever there
is any doubt. It never finds a fault; doubt goes to `engine.receipts.verify`, which decides and says why.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from engine.digests import HEX_DIGITS, JSON_C14N
from engine.findings import Result
from engine.lines.fast import LIST_TOKEN, Proved
from engine.receipts.consistency import EMPTY_DIGEST, core_body
from engine.receipts.schema import SCHEMA_V1, SCHEMA_V2
from engine.receipts.summary import ReceiptSummary, label, series_of
from engine.receipts.verify import NO_CONTENT, V1_LOWER_BOUND

_TOKEN = str(LIST_TOKEN).encode("ascii")
_DIGEST_LENGTH = len(EMPTY_DIGEST)
_LISTED_LENGTH = _DIGEST_LENGTH + 4  # quotes, comma and space
_CLEAN = (NO_CONTENT.name,)
_CLEAN_V1 = (NO_CONTENT.name, V1_LOWER_BOUND.name)

_Numbers = tuple[int, int, int, int, int, int, int, int | None]


def quick_summary(proved: Proved, line: int, offset: int, length: int) -> ReceiptSummary | None:
    """Summarise a row of the fast road that passes every check without content; None when in doubt."""
    row = proved.row
    try:
        numbers = _numbers(row)
        digests = row["pre"]["digest"], row["post"]["digest"], row["receipt_digest"]
    except (KeyError, TypeError):
        return None
    if numbers is None or not _adds_up(numbers) or not _known(digests[0], digests[1], numbers):
        return None
    if _manifest_length(proved) != numbers[4] or _core_digest(proved) != digests[2]:
        return None
    bounded = numbers[7] is None and numbers[6] > 0
    return ReceiptSummary(
        line,
        offset,
        length,
        Result.BOUNDED,
        "bounded_no_content+v1_lower_bound" if bounded else "bounded_no_content",
        "v2" if row["schema"] == SCHEMA_V2 else "v1",
        *numbers,
        label(row["compactor"]) if "compactor" in row else "",
        label(row["method"]) if "method" in row else "",
        label(row.get("opened_at")),
        series_of(row),
        *digests,
        _CLEAN_V1 if bounded else _CLEAN,
    )


def _numbers(row: dict[str, Any]) -> _Numbers | None:
    pre, post, dropped, introduced = row["pre"], row["post"], row["dropped"], row["introduced"]
    whole = (
        pre["count"],
        pre["bytes"],
        post["count"],
        post["bytes"],
        dropped["count"],
        dropped["bytes"],
        introduced["count"],
    )
    match row["schema"]:
        case schema if schema == SCHEMA_V2:
            last = introduced["bytes"]
        case schema if schema == SCHEMA_V1 and "bytes" not in introduced:
            return None if set(map(type, whole)) != {int} or min(whole) < 0 else (*whole, None)
        case _:
            return None
    return None if set(map(type, (*whole, last))) != {int} or min(*whole, last) < 0 else (*whole, last)


def _adds_up(numbers: _Numbers) -> bool:
    pre_count, pre_bytes, post_count, post_bytes, dropped, dropped_bytes, introduced, introduced_bytes = numbers
    kept, kept_bytes = pre_count - dropped, pre_bytes - dropped_bytes
    if kept < 0 or kept_bytes < 0 or kept + introduced != post_count:
        return False
    if introduced_bytes is None:
        exact = introduced == 0
        introduced_bytes = post_bytes - kept_bytes
        if introduced_bytes < 0 or (exact and introduced_bytes):
            return False
    pairs = ((dropped, dropped_bytes), (introduced, introduced_bytes), (kept, kept_bytes))
    # Bytes of nothing are in doubt; so the sides need no such look of their own.
    return kept_bytes + introduced_bytes == post_bytes and all(count or not size for count, size in pairs)


def _known(pre: object, post: object, numbers: _Numbers) -> bool:
    """Tell whether both digests over a side are well-formed, and are the empty list's only for no items."""
    for digest, count in ((pre, numbers[0]), (post, numbers[2])):
        if not isinstance(digest, str) or len(digest) != _DIGEST_LENGTH or not digest.startswith(JSON_C14N):
            return False
        if not HEX_DIGITS.issuperset(digest[len(JSON_C14N) :]) or (digest == EMPTY_DIGEST) is not (count == 0):
            return False
    return True


def _manifest_length(proved: Proved) -> int:
    if proved.digests is not None:
        return (len(proved.digests) + 2) // _LISTED_LENGTH
    return 0 if proved.row["dropped"].get("items") == [] else -1


def _core_digest(proved: Proved) -> str:
    # Every token of a proved row is spelled as the recipe spells it, so the fast serialiser's bytes are the recipe's.
    core = orjson.dumps(core_body(proved.row), option=orjson.OPT_SORT_KEYS)
    if proved.digests is not None:
        core = core.replace(_TOKEN, b"[%b]" % proved.digests.replace(b" ", b""), 1)
    return JSON_C14N + hashlib.sha256(core).hexdigest()

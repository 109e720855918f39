"""The fast road believes only what the exact road says too."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from engine.lines import fast
from engine.lines.canonical import chain_body, line_as_written
from engine.lines.strict import parse_exact
from tests.support.receipts import PRE, receipt_row

DIGEST = "sha256:raw-bytes:v1:" + "0123456789abcdef" * 4
LONG = receipt_row([*PRE, *(f"turn {number}" for number in range(12)), {"n": 1}], ["turn 3"])
LINE = json.dumps({**LONG, "ts": "2026-01-01T00:00:00Z", "chain": "0" * 32}).encode()


def whole(proved: fast.Proved) -> dict[str, Any]:
    """Put the unparsed list back into its row."""
    if proved.digests is not None:
        proved.row["dropped"]["items"] = proved.items()
    return proved.row


def believed(line: bytes) -> bool:
    """Tell whether a line is believed, and hold the belief against the exact road."""
    proved, again = fast.prove(line), fast.prove(line)
    if proved is None or again is None:
        return False
    proved.row.pop("chain", None)
    body = proved.body()
    row = whole(again)
    parsed = parse_exact(line.decode("utf-8"))
    assert (parsed.value, parsed.duplicates, parsed.problem) == (row, (), None)
    assert line_as_written(row) == line
    assert chain_body(row) == body
    return True


def test_a_receipt_line_is_proved_with_its_list_left_unparsed() -> None:
    """The manifest of a written receipt is proven by shape, and given back whole."""
    proved = fast.prove(LINE)
    assert proved is not None
    assert proved.digests is not None
    assert proved.row["dropped"]["items"] == fast.LIST_TOKEN
    assert whole(proved) == json.loads(LINE)
    assert believed(LINE)


def test_changed_lines_are_never_believed_wrongly(sweep: Callable[[int], int]) -> None:
    """Over thousands of byte changes around the list, whatever is believed is what the exact road reads."""
    rng = random.Random(3)
    spare = b'"\\],[{}: abcdefx0123456789rj-\x01\x7f\xc3' + str(fast.LIST_TOKEN).encode()
    kept = 0
    for _ in range(sweep(6000)):
        line = bytearray(LINE)
        for _ in range(rng.choice((1, 1, 2, 3))):
            place = rng.randrange(len(line))
            match rng.randrange(4):
                case 0:
                    line[place] = rng.choice(spare)
                case 1:
                    line[place:place] = bytes(rng.choices(spare, k=rng.randrange(1, 4)))
                case 2:
                    del line[place : place + rng.randrange(1, 90)]
                case _:
                    line[place : place + 1] = line[place : place + rng.choice((2, 88, 176))]
        kept += believed(bytes(line))
    assert kept > 50


@pytest.mark.parametrize(
    "line",
    [
        '{"dropped": {"items": ["%s"]5}}',
        '{"dropped": {"items": ["%s"]}, "dropped": 1}',
        '{"dropped": {"items": 1, "items": ["%s"]}}',
        '{"dropped": {"items": ["%s",]}}',
        '{"dropped": {"items": ["%s" ]}}',
        '{"dropped":{"items": ["%s"]}}',
        '{"dropped": {"items": ["%s"]}} x',
        '{"a": "x\\\\", "dropped": {"items": ["%s"]',
        '{"a": "dropped": {"items": ["%s"]}}',
    ],
)
def test_broken_lines_around_a_good_list_are_not_believed(line: str) -> None:
    """A list that is well-formed does not make its line so."""
    assert not believed((line % DIGEST).encode())


@pytest.mark.parametrize(
    "line",
    [
        '{"dropped": {"items": ["%s"]}}',
        '{"dropped": {"items": ["%s", ""]}}',
        '{"items": ["%s"], "dropped": {"items": [1]}}',
        '{"dropped": {"more": {"items": ["%s"]}, "items": %d}}',
        '{"a": "\\"items\\": [\\"sha256:", "dropped": {"items": ["%s"]}}',
        '{"dropped": {"items": ["%s"]}, "note": "%d"}',
        '{"dropped": {"items": ["%s"], "n": %d5}}',
    ],
)
def test_unusual_but_canonical_lines_are_believed_by_one_road_or_the_other(line: str) -> None:
    """A list elsewhere, the token in the row, or the list's start inside a text fall back to the whole round trip."""
    fill: tuple[object, ...] = (DIGEST, fast.LIST_TOKEN) if "%d" in line else (DIGEST,)
    assert believed((line % fill).encode())


@pytest.mark.parametrize(
    "digest",
    [
        DIGEST.replace("0", "x", 1),
        DIGEST.replace("0", "\x01", 1),
        DIGEST.replace("0", "A", 1),
        DIGEST.replace("sha256", "sha255"),
        DIGEST.replace("raw-bytes", "faw-bytes"),
        DIGEST.replace("raw-bytes", "json-c15n"),
        DIGEST.replace("v1", "v2"),
        DIGEST[:-1],
        DIGEST + "0",
    ],
)
def test_a_digest_of_another_shape_is_no_digest(digest: str) -> None:
    """Only the two recipes with 64 hex digits are proven by shape; others are parsed."""
    good = b'"' + DIGEST.encode() + b'"'
    assert fast.digest_list(b", ".join([good] * 3))
    for place in range(3):
        pieces = [good] * 3
        pieces[place] = b'"' + digest.encode() + b'"'
        assert not fast.digest_list(b", ".join(pieces))

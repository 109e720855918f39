"""A long line is read without its values, and says what the exact road says."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from engine.findings import CancelledError, Result
from engine.ledger import chain, declared
from engine.ledger.linefacts import LineFacts, exact_facts, long_facts
from engine.ledger.report import ChainReport
from engine.ledger.verify import verify_chain
from engine.lines import longline, longobject
from engine.lines.source import MemorySource
from engine.lines.strict import TOO_DEEP
from tests.support.damage import KEYS, NUMBERS, TEXTS, ledger
from tests.support.ledgers import chained

SPARE = (
    b'"', b"\\", b"[", b"]", b"{", b"}", b",", b":", b" ", b"\t", b"\x0b", b"\xc2\x85", b"\xe2\x80\xa8", b"\xff",
    b"\x80", b"\xf0\x9f", b"\xed\xa0\x80", b"\\ud83d", b"\\ude00", b"\\ud83d\\ude00", b"\\u00e9", b"\\/", b"\\u12",
    b"\x01", b"0", b"1", b"-", b"1.0", b"1e400", b"-0", b"NaN", b"-Infinity", b"true", b"null", b'"a"', b'"chain"',
    b'"\\u0061"', b", ", b": ", b"9" * 20, b"[], ", b"{},", b'"a": 1, ', b'"a":1,',
)  # fmt: skip


def go_on() -> None:
    """Ask for nothing."""


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Return a function that sets the size of pieces and of sorted runs."""

    def change(piece: int, run: int) -> None:
        monkeypatch.setattr(longline, "PIECE", piece)
        monkeypatch.setattr(longobject, "_SORT_RUN", run)

    return change


def told(facts: LineFacts | None) -> Any:
    """Return what both readings must agree on."""
    if facts is None:
        return None
    claimed = json.dumps(facts.claimed) if not isinstance(facts.claimed, longline.LongValue) else "long"
    body = bytes(facts.body) if isinstance(facts.claimed, str) and facts.is_row else b""
    key = facts.duplicate[0] if facts.duplicate else None
    seen = facts.text_sha256(), facts.is_utf8, facts.problem, key, facts.constants, facts.is_row
    return (*seen, claimed, facts.written, body)


def agree(data: bytes, nesting: int = 40) -> bool:
    """Hold both readings of a line against each other; return whether it is a row."""
    exact, long = exact_facts(data, nesting), long_facts(data, nesting, go_on)
    if exact is not None and exact.problem is TOO_DEEP:
        # The long reading may have met the end of JSON before the depth.
        assert long is not None
        assert long.problem is not None
        return False
    left, right = told(exact), told(long)
    if left is not None and right is not None and right[6] == "long":
        left, right = left[:6] + left[7:], right[:6] + right[7:]
    assert left == right, data
    return exact is not None and exact.is_row


def value(rng: random.Random, depth: int) -> Any:
    """Return a value with many members."""
    pick = rng.random()
    if depth < 4 and pick < 0.3:
        return {
            rng.choice(KEYS) + rng.choice(["", "x", "\\", '"']): value(rng, depth + 1) for _ in range(rng.randrange(9))
        }
    if depth < 4 and pick < 0.55:
        return [value(rng, depth + 1) for _ in range(rng.randrange(9))]
    return rng.choice(NUMBERS) if pick < 0.75 else rng.choice(TEXTS) + rng.choice(TEXTS)


def line(rng: random.Random) -> bytes:
    """Return a row in some writer's spelling, then damaged or not."""
    row = {"b": value(rng, 0), "a": value(rng, 0), "chain": rng.choice(["0" * 32, "é\ud800", 5, None, ["x" * 30], ""])}
    separators = rng.choice([None, None, (",", ":"), (" ,", ": ")])
    text = json.dumps(row, ensure_ascii=rng.random() < 0.3, separators=separators, sort_keys=rng.random() < 0.2)
    data = text.encode("utf-8", "surrogatepass" if rng.random() < 0.5 else "replace")
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice(SPARE) + data[at + rng.choice([0, 0, 1, 5]) :]
    return data


def test_random_rows_read_the_same_both_ways(
    sweep: Callable[[int], int], small_pieces: Callable[[int, int], None]
) -> None:
    """Whole, damaged and foreign spellings, with pieces from 12 bytes up and runs from 1 member up."""
    rows = 0
    for seed in range(sweep(2000)):
        rng = random.Random(seed)
        small_pieces(rng.choice([12, 13, 16, 29, 64, 4096]), rng.choice([1, 2, 3, 64]))
        rows += agree(line(rng), nesting=rng.choice([3, 40]))
    assert 0.3 < rows / sweep(2000) < 0.95


def test_whole_ledgers_give_the_same_report_when_every_line_counts_as_long(
    sweep: Callable[[int], int], small_pieces: Callable[[int, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk decides the same, declarations and strict mode included."""

    def reports(data: bytes) -> list[ChainReport]:
        return [verify_chain(MemorySource("m", data), strict=strict) for strict in (False, True)]

    for seed in range(sweep(250)):
        data = ledger(seed)
        expected = reports(data)
        with monkeypatch.context() as patch:
            small_pieces(random.Random(seed).choice([12, 50]), 2)
            for module in (chain, declared):
                patch.setattr(module, "is_long", lambda _: True)
            found = reports(data)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.reference == theirs.reference, seed
            assert [(f.code, f.line) for f in ours.findings] == [(f.code, f.line) for f in theirs.findings]
            assert (ours.bytes_as_written, ours.result, ours.head) == (
                theirs.bytes_as_written,
                theirs.result,
                theirs.head,
            )


@pytest.mark.parametrize(
    "space", ["", " ", "\t \r", "\xa0", "\u2003\x85", "\x1c\x1f", "\u3000" * 50, "\u2028\u2029 " * 9, "\xa0 " * 5000]
)
@pytest.mark.parametrize("piece", [13, 64, 65536])
def test_the_white_space_around_a_line_is_pythons(
    space: str, piece: int, small_pieces: Callable[[int, int], None]
) -> None:
    """What `str.strip` takes away is not part of the row, whatever the size of pieces."""
    small_pieces(piece, 4)
    for text in (space, space + "{}", "{}" + space, space + '{"a": 1}' + space, space + "é" + space):
        data = text.encode()
        start, end = longline.stripped(data)
        assert data[start:end].decode() == text.strip()


def test_a_long_line_can_be_stopped_anywhere() -> None:
    """The caller is asked often in texts, lists, objects and while members are sorted."""
    for data in (
        b'{"a": "' + b"x" * 400_000 + b'"}',
        b"[" + b"[]," * 100_000 + b"[]]",
        b"[" + b'{"a":1},' * 60_000 + b"{}]",
        b"[" + b'"a", ' * 100_000 + b"1]",
        b"{" + b",".join(b'"k%d":1' % (i * 7919 % 60_000) for i in range(60_000)) + b"}",
    ):
        asked = 0

        def ask() -> None:
            nonlocal asked
            asked += 1

        facts = long_facts(data, 512, ask)
        assert facts is not None
        assert facts.problem is None
        assert asked > 4

        def stop() -> None:
            raise CancelledError

        with pytest.raises(CancelledError):
            long_facts(data, 512, stop)


def test_an_honest_ledger_of_long_rows_holds_and_an_edit_in_one_is_named() -> None:
    """Texts, lists and many keys past the size of a long line link as small ones do."""
    rows = chained(
        [
            {"t": "é\n" * 1_500_000},
            {"l": [*range(200_000)]},
            {"z": {f"k{i}": i / 3 for i in range(200_000)}},
            {"f": [i / 8 for i in range(200_000)]},
        ]
    )
    assert all(longline.is_long(row) for row in rows)
    whole = verify_chain(MemorySource("m", b"".join(rows)))
    assert (whole.result, whole.bytes_as_written.yes, whole.reference.chained) == (Result.HOLDS, True, 4)
    edited = verify_chain(MemorySource("m", b"".join(rows).replace(b"100, 101", b"100, 1O1".replace(b"O", b"9"))))
    assert [(f.code.name, f.line) for f in edited.findings] == [("chain_mismatch", 2)]

"""Makes honest ledgers and damages them in every way the field has seen; deterministic for a seed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

from engine.lines.canonical import chain_body, chain_value

Rows = list[bytes]
TEXTS = [
    "",
    "a",
    "é",
    "🔒",
    "\u2028",
    "\x85",
    "\x0b",
    "\x1c",
    "\x7f",
    "\ufffd",
    "\ud800",
    '"\\/\b\f\n\r\t\x01',
    "NaN",
    "x" * 300,
    "[{",
    "}",
]
NUMBERS: list[Any] = [
    0,
    -1,
    1.0,
    0.1,
    1e-05,
    1e16,
    1e-7,
    -0.0,
    5e-324,
    2**53,
    2**64,
    10**30,
    float("nan"),
    float("inf"),
    1e22,
    123456.789,
]
KEYS = ["a", "b", "ts", "op", "é", "\ue000", "🔒", "chain2", "Chain", "", "a b", "authority"]


def value(rng: random.Random, depth: int = 0) -> Any:
    """Return a JSON value, hostile more often than not."""
    pick = rng.random()
    if depth < 4 and pick < 0.12:
        return {rng.choice(KEYS): value(rng, depth + 1) for _ in range(rng.randrange(4))}
    if depth < 4 and pick < 0.24:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if pick < 0.5:
        return rng.choice(NUMBERS)
    if pick < 0.6:
        return rng.choice([True, False, None])
    return rng.choice(TEXTS)


def row(rng: random.Random, number: int) -> dict[str, Any]:
    """Return a row without its chain."""
    made: dict[str, Any] = {"ts": "2026-01-01T00:00:00Z", "i": number}
    for _ in range(rng.randrange(4)):
        made[rng.choice(KEYS)] = value(rng)
    return made


def spelled(rng: random.Random, record: dict[str, Any]) -> bytes:
    """Write a row as some writer might: usually the ledger's own way."""
    style = rng.random()
    if style < 0.75:
        text = json.dumps(record, ensure_ascii=False)
    elif style < 0.85:
        text = json.dumps(record, ensure_ascii=True)
    elif style < 0.92:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    else:
        text = json.dumps(record, ensure_ascii=False, sort_keys=True)
    return text.encode("utf-8", "surrogatepass") if rng.random() < 0.02 else text.encode("utf-8", "backslashreplace")


def honest(rng: random.Random, count: int) -> Rows:
    """Return chained lines; sometimes with rows in front of the chain."""
    lines: Rows = [spelled(rng, row(rng, -n)) for n in range(rng.choice([0, 0, 0, 1, 2]))]
    previous = "genesis"
    for number in range(count):
        record = row(rng, number)
        record.pop("chain", None)
        previous = chain_value(previous, chain_body(record))
        lines.append(spelled(rng, {**record, "chain": previous}))
    return lines


def declare(rng: random.Random, lines: Rows) -> None:
    """Append a declaration: true, stale, wrong or malformed, with or without a resume value."""
    target = rng.randrange(len(lines))
    stripped = lines[target].decode("utf-8", "replace").strip()
    sha = hashlib.sha256(stripped.encode("utf-8", "surrogatepass")).hexdigest()
    record: dict[str, Any] = {
        "op": "chain_break_declared",
        "orphan_line": rng.choice([target + 1] * 6 + [target, True, 2.0]),
        "orphan_sha256": rng.choice([sha] * 6 + [sha.upper(), "0" * 64, sha[:10]]),
        "why": rng.choice(["copied by hand"] * 5 + [" ", 5]),
    }
    previous = _last_chain(lines)
    if rng.random() < 0.5:
        record["resume_prev"] = rng.choice([previous, "genesis", "", 7, _chain_before(lines, target)])
    chain = chain_value(previous, chain_body(record)) if rng.random() < 0.85 else "f" * 32
    lines.append(spelled(rng, {**record, "chain": chain} if rng.random() < 0.93 else record))


def _last_chain(lines: Rows) -> str:
    return _chain_before(lines, len(lines))


def _chain_before(lines: Rows, end: int) -> str:
    for line in reversed(lines[:end]):
        try:
            found = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(found, dict):
            chain = found.get("chain")
            return chain if isinstance(chain, str) else "genesis"
    return "genesis"


def edit(rng: random.Random, lines: Rows) -> None:
    """Change a value and keep the stale chain."""
    at = rng.randrange(len(lines))
    lines[at] = lines[at].replace(b'"i": ', rng.choice([b'"i": 9', b'"i":  ', b'"j": ', b'"i": 1, "i": ']), 1)


def delete(rng: random.Random, lines: Rows) -> None:
    """Take a row out."""
    del lines[rng.randrange(len(lines))]


def swap(rng: random.Random, lines: Rows) -> None:
    """Exchange two rows."""
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def repeat(rng: random.Random, lines: Rows) -> None:
    """Copy a row somewhere."""
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))


def rechain(rng: random.Random, lines: Rows) -> None:
    """Give a row another kind of chain value."""
    at = rng.randrange(len(lines))
    new = rng.choice([b"null", b"5", b'["a"]', b'"\\ud800"', b'"ABCDEF"', b'""', b"true", b'"genesis"'])
    head, _, _ = lines[at].rpartition(b'"chain": ')
    lines[at] = head + b'"chain": ' + new + b"}" if head else lines[at]


def orphan(rng: random.Random, lines: Rows) -> None:
    """Put in a row without a chain."""
    lines.insert(rng.randrange(len(lines) + 1), spelled(rng, row(rng, 77)))


def junk(rng: random.Random, lines: Rows) -> None:
    """Put in a line that is no row."""
    made = [
        b"42",
        b"[]",
        b"null",
        b"",
        b"  ",
        b"\xc2\xa0",
        b"{",
        b'{"a":1,"a":1}',
        b'[{"a":1,"a":2}]',
        b"nonsense",
        b"\xff\xfe",
    ]
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(made))


def flip(rng: random.Random, lines: Rows) -> None:
    """Change one byte of a line."""
    at = rng.randrange(len(lines))
    data = bytearray(lines[at])
    if data:
        data[rng.randrange(len(data))] = rng.choice([0, 9, 13, 32, 34, 92, 0x80, 0xE2, 0xFF, rng.randrange(256)])
        lines[at] = bytes(data)


def pad(rng: random.Random, lines: Rows) -> None:
    """Put white space around a line."""
    at = rng.randrange(len(lines))
    lines[at] = (
        rng.choice(["\u2003", "\xa0", "\x85", "\x1c", " ", "\t"]).encode() + lines[at] + rng.choice([b"", b"\x0c"])
    )


def remint(rng: random.Random, lines: Rows) -> None:
    """Write bytes whose chain was computed over the bytes: a verifier that cuts text would believe them."""
    at = rng.randrange(len(lines))
    body = rng.choice(
        [b'{"a": 1, "a": 1}', b'{"b":1}', b'{"a": 01}', b'{"a": 1e5}', b'{"a": "\\u0061"}', b'{"a": 1, "b": -0}', b"{}"]
    )
    chain = hashlib.sha256(_chain_before(lines, at).encode("utf-8", "replace") + body).hexdigest()[:32].encode()
    lines[at] = body[:-1] + (b", " if len(body) > 2 else b"") + b'"chain": "' + chain + b'"}'


DAMAGE: tuple[Callable[[random.Random, Rows], None], ...] = (
    declare, declare, edit, delete, swap, repeat, rechain, orphan, junk, flip, pad, remint,
)  # fmt: skip


def ledger(seed: int) -> bytes:
    """Return one ledger for a seed: honest, or damaged up to five times, with any line ends."""
    rng = random.Random(seed)
    lines = honest(rng, rng.choice([0, 1, 2, 5, 9]))
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        if lines:
            rng.choice(DAMAGE)(rng, lines)
    ending = rng.choice([b"\n"] * 6 + [b"\r\n", b"\r"])
    data = ending.join(lines)
    if lines and rng.random() < 0.9:
        data += ending
    if rng.random() < 0.05:
        data = data[: rng.randrange(len(data) + 1)]
    return b"\xef\xbb\xbf" + data if rng.random() < 0.02 else data

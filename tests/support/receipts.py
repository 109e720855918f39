"""Content and receipt rows for tests: the frozen fixture, honest and lying rows, and a generator of mutated ones."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import Any

from engine.digests import json_digest
from engine.receipts.consistency import core_body
from engine.receipts.seal import CompactionReceipt

PRE: list[Any] = ["the quick brown fox", {"role": "user", "text": "hello"}, b"\x00\x01binary"]
POST: list[Any] = ["the quick brown fox", "summary: user said hello"]

_WORDS = ("", "a", "alpha", "é", "\u2028", "😀", "long " * 9, 'q"uo\\te', "1", "null")
_ODD = (None, True, False, -1, 0, 1, 2.0, 10**30, "3", "", [], {}, [1], {"a": 1}, "\ud800", float("nan"), float("inf"))


def receipt_row(
    pre: list[Any], post: list[Any], *, compactor: str = "golden-fixture", method: str = "test:v1"
) -> dict[str, Any]:
    """Build an honest v2 row without a ledger."""
    return CompactionReceipt.open(pre).record_kept(post).row(compactor=compactor, method=method)


def reseal(row: dict[str, Any]) -> dict[str, Any]:
    """Give a changed row the digest that fits it, as a forger would."""
    changed = copy.deepcopy(row)
    changed["receipt_digest"] = json_digest(core_body(changed))
    return changed


def as_v1(row: dict[str, Any]) -> dict[str, Any]:
    """Turn a v2 row into the v1 row of the same compaction."""
    changed = copy.deepcopy(row)
    changed["schema"] = "arcaeon-compact:receipt:v1"
    del changed["introduced"]["bytes"]
    return reseal(changed)


def as_line(row: Any) -> bytes:
    """Write a row as one line of JSON; lone surrogates stay escapes."""
    return json.dumps(row).encode("ascii")


def random_item(rng: random.Random) -> Any:
    """Make a content item of any kind the item rule takes."""
    word = rng.choice(_WORDS) + rng.choice(("", "x", "y"))
    match rng.randrange(9):
        case 0 | 1 | 2:
            return word
        case 3:
            return word.encode()
        case 4 | 5:
            return {
                "role": rng.choice(("user", "tool")),
                "text": word,
                "n": rng.choice((1, 1.5, -0.0, 1e16, 1e-7, None)),
            }
        case 6:
            return [word, {"b": 1, "a": [True, 2**70]}]
        case 7:
            return rng.choice((1, 1.0, None, True, 2.5, 1e22))
        case _:
            return {"z": {"é": word, "\uffff": 1, "😀": 2}, "a": []}


def random_case(rng: random.Random) -> tuple[Any, list[Any] | None, list[Any] | None]:
    """Make a receipt row, honest or mutated, with the content that goes with it or nearly so."""
    pre = [random_item(rng) for _ in range(rng.randrange(8))]
    post = [item for item in pre if rng.random() < 0.6]
    post += [random_item(rng) for _ in range(rng.randrange(3))]
    if rng.random() < 0.3:
        rng.shuffle(post)
    row: Any = receipt_row(pre, post)
    if rng.random() < 0.35:
        row = as_v1(row)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        row = _mutate(rng, row)
    if isinstance(row, dict) and rng.random() < 0.6:
        with contextlib.suppress(ValueError, TypeError):
            row = reseal(row)
    held_pre = _held(rng, pre)
    return row, held_pre, _held(rng, post)


def _held(rng: random.Random, content: list[Any]) -> list[Any] | None:
    chance = rng.random()
    if chance < 0.3:
        return None
    held = list(content)
    if chance < 0.5 and held:
        held.pop(rng.randrange(len(held)))
    elif chance < 0.55:
        held.append(random_item(rng))
    elif chance < 0.6:
        held.reverse()
    return held


def _mutate(rng: random.Random, row: Any) -> Any:
    if not isinstance(row, dict) or not row or rng.random() < 0.02:
        return rng.choice(_ODD)
    row = copy.deepcopy(row)
    section = row.get(rng.choice(("pre", "post", "dropped", "introduced")))
    match rng.randrange(10):
        case 0 | 1 if isinstance(section, dict):
            _change_number(rng, section)
        case 2:
            row[rng.choice(list(row))] = rng.choice(_ODD)
        case 3 if len(row) > 1:
            row.pop(rng.choice(list(row)))
        case 4 if isinstance(section, dict) and section:
            section.pop(rng.choice(list(section)))
        case 5 if isinstance(section, dict):
            section[rng.choice(("extra", "digest"))] = rng.choice((_odd_digest(rng), *_ODD))
        case 6:
            row["schema"] = "arcaeon-compact:receipt:" + rng.choice(("v1", "v2", "v3", ""))
        case _:
            _change_manifest(rng, row)
    return row


def _change_number(rng: random.Random, section: dict[str, Any]) -> None:
    name = rng.choice(("count", "bytes"))
    old = section.get(name)
    steps = (1, -1, 5, -5, 0)
    section[name] = old + rng.choice(steps) if isinstance(old, int) and rng.random() < 0.7 else rng.choice(_ODD)


def _change_manifest(rng: random.Random, row: dict[str, Any]) -> None:
    dropped = row.get("dropped")
    items = dropped.get("items") if isinstance(dropped, dict) else None
    if not isinstance(items, list):
        return
    match rng.randrange(5):
        case 0 if items:
            items.pop(rng.randrange(len(items)))
        case 1 if items:
            items.append(rng.choice(items))
        case 2 if items:
            items[rng.randrange(len(items))] = _odd_digest(rng)
        case 3:
            rng.shuffle(items)
        case _:
            items.append(rng.choice((_odd_digest(rng), *_ODD)))


def _odd_digest(rng: random.Random) -> str:
    return rng.choice(
        (
            "sha256:raw-bytes:v1:0x1f",
            "sha256:raw-bytes:v1:" + "a" * 64,
            "sha256:raw-bytes:v1:" + "A" * 64,
            "sha256:json-c14n:v1:" + "b" * 63,
            "sha512:raw-bytes:v1:" + "c" * 128,
            "sha256:json-c14n:v2:" + "d" * 64,
            "md5:::ff",
            "a:b:c:",
            ":::",
            "",
            "x:y:z:0:1",
        )
    )

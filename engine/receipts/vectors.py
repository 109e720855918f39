"""Does this installation compute the frozen digests?

Reads the frozen vectors (`vectors.json`, chain values, item and whole digests, receipt digests of both schemas) and
recomputes every one. Green says that this machine's recipes are the frozen ones for these inputs; it does not prove
them for every input.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from engine.digests import item_digest, json_digest, raw_digest
from engine.findings import Result
from engine.lines.canonical import chain_body, chain_value
from engine.lines.strict import parse_exact
from engine.receipts.consistency import core_body
from engine.receipts.display import shown
from engine.receipts.schema import SCHEMA_V1
from engine.receipts.seal import CompactionReceipt

FROZEN_SHA256 = "b42b9668874fea80f58f50970ca5470ca95f41fd4994c8e8e78c743fbacac983"
"""SHA-256 of the vector file as frozen: a changed name or space in it is noticed as well as a changed value."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison of the self-test: what was expected and what this installation gives."""

    name: str
    expected: str
    found: str

    @property
    def result(self) -> Result:
        """Return HOLDS when both are equal, else FAILS."""
        return Result.HOLDS if self.expected == self.found else Result.FAILS

    def as_json(self) -> dict[str, str]:
        """Return the stable machine form."""
        return {"name": self.name, "result": self.result.value, "expected": self.expected, "found": self.found}


def vector_bytes() -> bytes:
    """Return the bytes of the vector file that is installed with the engine."""
    return files("engine.receipts").joinpath("vectors.json").read_bytes()


def check_vectors(data: bytes) -> tuple[Check, ...]:
    """Recompute every vector of a vector file, and compare the file with the frozen one; never raises."""
    return (compare_file(data), *recompute_vectors(data))


def compare_file(data: bytes) -> Check:
    """Compare a vector file with the frozen one, byte for byte."""
    return Check("vector file is the frozen one", FROZEN_SHA256, hashlib.sha256(data).hexdigest())


def recompute_vectors(data: bytes) -> tuple[Check, ...]:
    """Recompute every vector of a vector file, whatever file it is; a file that cannot be read is a failed check."""
    try:
        vectors = json.loads(data)
        return tuple(_checks(vectors))
    except (ValueError, TypeError, LookupError, AttributeError) as exc:
        return (Check("vector file can be read", "vectors", f"{type(exc).__name__}: {shown(str(exc))}"),)


def _checks(vectors: dict[str, Any]) -> Iterator[Check]:
    yield Check("vector file format", "winnow:vectors:v1", str(vectors["schema"]))
    for vector in vectors["chain"]:
        found = chain_value(vector["previous"], chain_body(_value(vector["row"])))
        yield Check(f"chain of {vector['name']}", vector["chain"], found)
    for vector in vectors["digests"]:
        yield Check(f"{vector['recipe']} of {vector['name']}", vector["digest"], _digest(vector))
    for vector in vectors["receipts"]:
        yield from _receipt_checks(vector)


def _digest(vector: dict[str, Any]) -> str:
    match vector["recipe"]:
        case "json-c14n":
            return json_digest(_value(vector["value"]))
        case "raw-bytes":
            return raw_digest(bytes.fromhex(vector["value"]))
        case other:
            raise ValueError(f"unknown recipe {other}")


def _receipt_checks(vector: dict[str, Any]) -> Iterator[Check]:
    name = vector["name"]
    pre, post = ([_item(item) for item in vector[side]] for side in ("pre", "post"))
    for position, (item, expected) in enumerate(zip(pre, vector["pre_items"], strict=True), 1):
        yield Check(f"item {position} of {name}", expected, item_digest(item).digest)
    row = CompactionReceipt.open(pre).record_kept(post).row(compactor=vector["compactor"], method=vector["method"])
    for field, expected in (
        ("pre", vector["pre_side"]),
        ("post", vector["post_side"]),
        ("dropped", vector["dropped"]),
        ("introduced", vector["introduced"]),
    ):
        yield Check(f"{field} of {name}", json.dumps(expected), json.dumps(row[field]))
    yield Check(f"v2 receipt of {name}", vector["receipt_digest_v2"], row["receipt_digest"])
    old = {**row, "schema": SCHEMA_V1, "introduced": {"count": row["introduced"]["count"]}}
    yield Check(f"v1 receipt of {name}", vector["receipt_digest_v1"], json_digest(core_body(old)))


def _item(item: dict[str, str]) -> Any:
    ((kind, value),) = item.items()
    match kind:
        case "text":
            return value
        case "bytes":
            return bytes.fromhex(value)
        case "json":
            return _value(value)
        case other:
            raise ValueError(f"unknown kind of item {other}")


def _value(text: str) -> Any:
    parsed = parse_exact(text)
    if parsed.problem is not None or parsed.duplicates:
        raise ValueError(f"no JSON value: {shown(text)}")
    return parsed.value

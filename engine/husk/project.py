"""What of an event stays when its payload leaves?

A husk is a projection, not a new fact: every structured field an estimator reads is kept with its value, the bulk named
by the product document on husking leaves. The projection is total and deterministic, and core and payload together are
the original value; that the kept fields are enough for some reader is that reader's declaration, not proven here.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.digests import canonical_json
from engine.findings import Code, Severity

PROJECTION_VERSION = 1
OVERSIZED_BYTES = 1024
UNKNOWN_BYTES = 8 * 1024
"""Unknown keys kept in one event, all together, in canonical bytes."""

SHAPE_UNPROJECTABLE = Code(
    "SHAPE_UNPROJECTABLE", Severity.LIMIT, "a part of the event has another shape than the projection knows"
)

_STRUCTURED = frozenset(
    {"id", "kind", "occurredAt", "session", "substrate", "surface", "light", "error", "sideEffects"}
    | {"judge", "claims", "verdict", "verdictLinks", "gates", "cohorts", "cohortTags"}
)
_LIGHT_PAYLOAD = ("rawRequest", "rawResponse", "reasoning", "toolCalls", "vendorMetadata")
_LIGHT_KEPT = frozenset(
    {"id", "provider", "model", "tokens", "inputTokens", "outputTokens", "cost", "latency", "latencyMs", "status"}
    | {"temperature", "error"}
)
_ERROR_KEPT = frozenset({"code", "type"})
_EFFECT_KEPT = frozenset({"kind", "target", "outcome", "id"})


class Why(StrEnum):
    """Why a path left."""

    RULE = "rule"
    OVERSIZED = "oversized"
    OVER_TOTAL = "over_total"


@dataclass(frozen=True, slots=True)
class Stripped:
    """One path that left (a JSON pointer), its canonical bytes, and why."""

    path: str
    size: int
    why: Why


@dataclass(frozen=True, slots=True)
class Projection:
    """What stays, what left, and the list of it in the order of paths."""

    core: Mapping[str, Any] = field(repr=False)
    payload: Mapping[str, Any] = field(repr=False)
    """By JSON pointer, the values that left."""
    stripped: tuple[Stripped, ...]

    def core_bytes(self) -> bytes:
        """Return the deterministic bytes of what stays."""
        return canonical_json(self.core)


@dataclass(frozen=True, slots=True)
class Unprojectable:
    """An event whose shape is not known well enough to take it apart; it stays whole."""

    path: str
    expected: str


class _ShapeError(Exception):
    def __init__(self, path: str, expected: str) -> None:
        super().__init__(path)
        self.path, self.expected = path, expected


@dataclass(slots=True)
class _Work:
    """The copy that is being taken apart."""

    core: dict[str, Any]
    payload: dict[str, Any] = field(default_factory=dict)
    stripped: list[Stripped] = field(default_factory=list)
    unknown: list[tuple[int, str, dict[str, Any], str]] = field(default_factory=list)

    def strip(self, holder: dict[str, Any], key: str, path: str, why: Why) -> None:
        """Move one member from the core to the payload; a key that is not there is nothing."""
        if key not in holder:
            return
        value = holder.pop(key)
        self.payload[path] = value
        self.stripped.append(Stripped(path, len(canonical_json(value)), why))

    def weigh(self, holder: dict[str, Any], base: str, known: frozenset[str]) -> None:
        """Strip the oversized unknown members of one object, and remember the others for the total."""
        for key in [key for key in holder if key not in known]:
            path, size = f"{base}/{_escaped(key)}", len(canonical_json(holder[key]))
            if size >= OVERSIZED_BYTES:
                self.strip(holder, key, path, Why.OVERSIZED)
            else:
                self.unknown.append((size, path, holder, key))


def project(value: Mapping[str, Any]) -> Projection | Unprojectable:
    """Take an admitted event apart; the input is not changed and nothing is raised."""
    work = _Work(copy.deepcopy(dict(value)))
    try:
        _light(work)
        _error(work, work.core, "/error")
        _dimensions(work)
        _side_effects(work)
    except _ShapeError as error:
        return Unprojectable(error.path, error.expected)
    work.weigh(work.core, "", _STRUCTURED)
    _cap_unknown(work)
    return Projection(work.core, work.payload, tuple(sorted(work.stripped, key=lambda each: each.path)))


def restore(core: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Put core and payload together again; raises `KeyError` when they do not belong together."""
    value = copy.deepcopy(dict(core))
    for path, inner in payload.items():
        *way, last = [_plain(part) for part in path.split("/")[1:]]
        holder: Any = value
        for part in way:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        holder[last] = copy.deepcopy(inner)
    return value


def projection_id() -> str:
    """Return version and digest of the rules; a plan binds it, so changed rules make it stale."""
    rules = {
        "structured": sorted(_STRUCTURED),
        "light_payload": sorted(_LIGHT_PAYLOAD),
        "light": sorted(_LIGHT_KEPT),
        "error": sorted(_ERROR_KEPT),
        "effect": sorted(_EFFECT_KEPT),
        "oversized": OVERSIZED_BYTES,
        "unknown": UNKNOWN_BYTES,
    }
    return f"{PROJECTION_VERSION}:sha256:{hashlib.sha256(canonical_json(rules)).hexdigest()}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _object(holder: Mapping[str, Any], key: str, path: str) -> dict[str, Any] | None:
    inner = holder.get(key)
    if inner is None or isinstance(inner, dict):
        return inner
    raise _ShapeError(path, "object")


def _light(work: _Work) -> None:
    light = _object(work.core, "light", "/light")
    if light is None:
        return
    for key in _LIGHT_PAYLOAD:
        work.strip(light, key, f"/light/{key}", Why.RULE)
    _error(work, light, "/light/error")
    work.weigh(light, "/light", _LIGHT_KEPT)


def _error(work: _Work, holder: dict[str, Any], path: str) -> None:
    error = _object(holder, "error", path)
    if error is not None:
        work.strip(error, "message", f"{path}/message", Why.RULE)
        work.weigh(error, path, _ERROR_KEPT)


def _dimensions(work: _Work) -> None:
    surface = _object(work.core, "surface", "/surface")
    for name, dimension in _members(surface.get("dimensions") if surface else None):
        if isinstance(dimension, dict):
            work.strip(dimension, "rationale", f"/surface/dimensions/{_escaped(name)}/rationale", Why.RULE)
        elif isinstance(dimension, list | str):
            raise _ShapeError(f"/surface/dimensions/{_escaped(name)}", "object or score")


def _members(dimensions: Any) -> Iterator[tuple[str, Any]]:
    match dimensions:
        case None:
            return
        case dict():
            yield from dimensions.items()
        case list():
            yield from ((str(number), each) for number, each in enumerate(dimensions))
        case _:
            raise _ShapeError("/surface/dimensions", "map or list")


def _side_effects(work: _Work) -> None:
    effects = work.core.get("sideEffects")
    if effects is None:
        return
    if not isinstance(effects, list):
        raise _ShapeError("/sideEffects", "list")
    for number, effect in enumerate(effects):
        if not isinstance(effect, dict):
            raise _ShapeError(f"/sideEffects/{number}", "object")
        work.strip(effect, "details", f"/sideEffects/{number}/details", Why.RULE)
        work.weigh(effect, f"/sideEffects/{number}", _EFFECT_KEPT)


def _cap_unknown(work: _Work) -> None:
    """Strip the largest unknown members, ties by path, until the rest fits; ids leave last."""
    total = sum(size for size, *_ in work.unknown)
    for size, path, holder, key in sorted(work.unknown, key=lambda each: (_is_id(each[3]), -each[0], each[1])):
        if total <= UNKNOWN_BYTES:
            return
        work.strip(holder, key, path, Why.OVER_TOTAL)
        total -= size


def _is_id(key: str) -> bool:
    return key.endswith(("id", "Id", "ID", "ids", "Ids"))

"""What can each reader still answer once a payload has left, and is its own word on that true?

Every reader of event history declares its fidelity. A reading is a value or a method boundary, never a smaller clean
number: an aggregate with one member at the boundary is at the boundary. Declarations are tested on events of the plan,
before and after husking; a test over a sample does not prove the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.digests import canonical_json
from engine.husk.facts import EXTRACTORS, Extractor, Fact, FactOutcome
from engine.husk.view import PayloadView, texts_of


class Fidelity(StrEnum):
    """How a reader fares on a husk."""

    EXACT = "exact"
    FACTS = "facts"
    POINTER = "pointer"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Value:
    """A clean answer, and over how many whole and husked events."""

    value: Any
    whole: int = 0
    husked: int = 0


@dataclass(frozen=True, slots=True)
class MethodBoundary:
    """An answer that cannot be had from husks: why, for which events, what is there and what would be needed."""

    reason: str
    ids: tuple[str, ...] = ()
    have: str = ""
    want: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Partial:
    """An answer over part of the members, which the caller asked for by name; says how many it covers."""

    value: Any
    covered: int
    of: int


Reading = Value | MethodBoundary
BOUNDARY_IDS = 5


@dataclass(frozen=True, slots=True)
class Consumer:
    """One reader of event history; `read` gets the event's value (whole) or its core (husk)."""

    name: str
    fidelity: Fidelity
    asks: str
    read: Callable[[Mapping[str, Any]], Any] = field(repr=False)
    extractor: Extractor | None = None

    def on_whole(self, value: Mapping[str, Any]) -> Reading:
        """Answer from the whole event."""
        if self.extractor is not None and self.fidelity is Fidelity.FACTS:
            return Value(
                self.extractor.extract(PayloadView(value, self.extractor.reads), dict(self.extractor.config)), 1
            )
        return Value(self.read(value), 1)

    def on_husk(self, core: Mapping[str, Any], facts: Mapping[str, Mapping[str, Any]], event_id: str) -> Reading:
        """Answer from a husk, or say that it cannot be had."""
        match self.fidelity:
            case Fidelity.EXACT:
                return Value(self.read(core), 0, 1)
            case Fidelity.FACTS:
                return self._from_facts(facts, event_id)
            case Fidelity.POINTER:
                return MethodBoundary(
                    "the text is in the archive; unseal it to read it", (event_id,), want="the payload"
                )
            case Fidelity.NONE:
                return MethodBoundary("the payload has left", (event_id,), want="the payload")

    def _from_facts(self, facts: Mapping[str, Mapping[str, Any]], event_id: str) -> Reading:
        if self.extractor is None:
            return MethodBoundary("no extractor is declared", (event_id,))
        fact, wanted = facts.get(self.extractor.name), self.extractor.identity()
        if fact is None:
            return MethodBoundary("the husk carries no such fact", (event_id,), want=wanted["version"])
        for part, want in wanted.items():
            if fact.get(part) != want:
                return MethodBoundary(f"the fact was made by another {part}", (event_id,), str(fact.get(part)), want)
        if fact.get("outcome") == FactOutcome.ERROR.value:
            return MethodBoundary("the fact could not be computed", (event_id,))
        return Value(fact.get("value"), 0, 1)


def aggregate(readings: Iterable[Reading], over: Callable[[list[Any]], Any]) -> Reading:
    """Answer over many events: a value only when every member has one, else a boundary that counts those without."""
    values: list[Any] = []
    whole = husked = 0
    missing: list[MethodBoundary] = []
    for each in readings:
        if isinstance(each, MethodBoundary):
            missing.append(each)
            continue
        values.append(each.value)
        whole, husked = whole + each.whole, husked + each.husked
    if not missing:
        return Value(over(values), whole, husked)
    ids = tuple(name for each in missing for name in each.ids)[:BOUNDARY_IDS]
    count = sum(each.count for each in missing)
    return MethodBoundary(missing[0].reason, ids, missing[0].have, missing[0].want, count)


def partial(readings: Sequence[Reading], over: Callable[[list[Any]], Any]) -> Partial:
    """Answer over the members that have a value, and say how many those are; only for a caller that asks for it."""
    values = [each.value for each in readings if isinstance(each, Value)]
    return Partial(over(values), len(values), len(readings))


def _pick(*path: str) -> Callable[[Mapping[str, Any]], Any]:
    def read(value: Mapping[str, Any]) -> Any:
        found: Any = value
        for part in path:
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    return read


def _scores(value: Mapping[str, Any]) -> Any:
    dimensions = _pick("surface", "dimensions")(value)
    match dimensions:
        case dict():
            return {name: each.get("score") if isinstance(each, dict) else each for name, each in dimensions.items()}
        case list():
            return [each.get("score") if isinstance(each, dict) else each for each in dimensions]
        case _:
            return None


def _identity(value: Mapping[str, Any]) -> Any:
    return [value.get(key) for key in ("id", "kind", "occurredAt", "session", "judge")]


def _verdict_links(value: Mapping[str, Any]) -> Any:
    return [value.get("id"), value.get("verdict"), value.get("verdictLinks"), value.get("claims")]


def _search_text(value: Mapping[str, Any]) -> Any:
    return list(texts_of(dict(value)))


_BY_NAME = {each.name: each for each in EXTRACTORS}

CONSUMERS = (
    Consumer("scores", Fidelity.EXACT, "scores of all dimensions", _scores),
    Consumer("gates", Fidelity.EXACT, "outcomes of gates", _pick("gates")),
    Consumer("cost", Fidelity.EXACT, "what a call cost", _pick("light", "cost")),
    Consumer("identity", Fidelity.EXACT, "which event, when, judged by whom", _identity),
    Consumer("verdict_linking", Fidelity.EXACT, "which verdict belongs to which claim", _verdict_links),
    *(
        Consumer(name, Fidelity.FACTS, asks, _search_text, _BY_NAME[name])
        for name, asks in (
            ("verdict_reliability", "how well verdicts are explained"),
            ("co_groundedness", "how much of an answer stands in its request"),
            ("trajectory", "which tools were used in which order"),
        )
    ),
    Consumer("exemplars", Fidelity.POINTER, "the text of examples", _search_text, _BY_NAME["exemplars"]),
    Consumer("free_text_search", Fidelity.NONE, "any text in events", _search_text),
)


def consumers_digest(consumers: Sequence[Consumer] = CONSUMERS) -> str:
    """Return the digest over all declarations; a plan binds it."""
    body = [[each.name, each.fidelity.value, each.extractor.name if each.extractor else ""] for each in consumers]
    return f"sha256:{hashlib.sha256(canonical_json(body)).hexdigest()}"


@dataclass(slots=True)
class Tested:
    """How one declaration fared on the events it was tried on."""

    consumer: Consumer
    checked: int = 0
    matched: int = 0
    mismatched: list[str] = field(default_factory=list)
    boundaries: int = 0

    def add(self, value: Mapping[str, Any], core: Mapping[str, Any], facts: Mapping[str, Fact]) -> None:
        """Compare the answer from the whole event with that from its husk."""
        stamped = {name: fact.as_json() for name, fact in facts.items()}
        event_id = str(value.get("id"))
        husked = self.consumer.on_husk(core, stamped, event_id)
        self.checked += 1
        if isinstance(husked, MethodBoundary):
            self.boundaries += 1
            if self.consumer.fidelity in {Fidelity.EXACT, Fidelity.FACTS}:
                self.mismatched.append(event_id)
            return
        whole = self.consumer.on_whole(value)
        if isinstance(whole, Value) and canonical_json(whole.value) == canonical_json(husked.value):
            self.matched += 1
        else:
            self.mismatched.append(event_id)

    def as_json(self, total: int) -> dict[str, Any]:
        """Return the line of the plan's table; `total` is the number of events that would be husked."""
        return {
            "name": self.consumer.name,
            "asks": self.consumer.asks,
            "fidelity": self.consumer.fidelity.value,
            "checked": self.checked,
            "matched": self.matched,
            "mismatched": len(self.mismatched),
            "boundaries": self.boundaries,
            "untested": total - self.checked,
            "samples": self.mismatched[:BOUNDARY_IDS],
        }

"""What do the readers of payloads need to know of an event before its payload leaves?

Four extractors read the raw event and leave a few numbers, each stamped with version, code and configuration. They run
in a child process with limits, through a view that stops undeclared reads. Facts are what one version of an extractor
saw; they do not stand for the text.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import ModuleType
from typing import Any

from engine.digests import canonical_json
from engine.husk.extractors import co_groundedness, exemplars, trajectory, verdict_reliability
from engine.husk.view import PayloadView, UndeclaredReadError

MAX_FACT_BYTES = 2048
MAX_TEXT = 64
"""Characters of one text in a fact: enough for a name, too few to carry the payload along."""


class FactOutcome(StrEnum):
    """How an extractor ended on one event."""

    OK = "ok"
    NOT_APPLICABLE = "not_applicable"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Extractor:
    """One reader of payloads: what it reads, how it is configured, and the digests that name it."""

    name: str
    version: str
    reads: tuple[str, ...]
    config: Mapping[str, Any]
    extract: Callable[[PayloadView, dict[str, Any]], dict[str, Any] | None] = field(repr=False)
    code: str = ""
    module: str = ""

    def identity(self) -> dict[str, str]:
        """Return version, code and configuration; a fact is believed only while all three match."""
        config = hashlib.sha256(canonical_json(dict(self.config))).hexdigest()
        return {"version": self.version, "code": self.code, "config": f"sha256:{config}"}


def extractor_of(module: ModuleType) -> Extractor:
    """Make an extractor of its module; the code digest is over the module's whole source."""
    code = f"sha256:{hashlib.sha256(inspect.getsource(module).encode('utf-8')).hexdigest()}"
    name = module.__name__.rsplit(".", 1)[-1]
    return Extractor(name, module.VERSION, tuple(module.READS), module.CONFIG, module.extract, code, module.__name__)


EXTRACTORS = tuple(map(extractor_of, (verdict_reliability, co_groundedness, trajectory, exemplars)))


def extractors_digest(extractors: tuple[Extractor, ...] = EXTRACTORS) -> str:
    """Return the digest over all identities; a plan binds it."""
    body = {each.name: each.identity() for each in extractors}
    return f"sha256:{hashlib.sha256(canonical_json(body)).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Fact:
    """What one extractor left of one event."""

    identity: Mapping[str, str]
    outcome: FactOutcome
    value: Any = None
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the form that stands on a husk."""
        digest = f"sha256:{hashlib.sha256(canonical_json(self.value)).hexdigest()}"
        return {**self.identity, "outcome": self.outcome.value, "value": self.value, "valueDigest": digest}


def facts_of(value: Mapping[str, Any], extractors: tuple[Extractor, ...] = EXTRACTORS) -> dict[str, Fact]:
    """Run every extractor over one event; an extractor that fails, says too much or reads too far is an ERROR fact.

    Runs in the calling process; `engine.husk.facts_child` puts limits around it.
    """
    return {each.name: _fact(each, value) for each in extractors}


def _fact(extractor: Extractor, value: Mapping[str, Any]) -> Fact:
    identity = extractor.identity()
    try:
        made = extractor.extract(PayloadView(value, extractor.reads), dict(extractor.config))
        fault = None if made is None else _fault(made)
    except UndeclaredReadError as error:
        return Fact(identity, FactOutcome.ERROR, error=f"read an undeclared path: {str(error)[:80]}")
    except Exception as error:  # noqa: BLE001 - whatever an extractor raises blocks its event, by name
        return Fact(identity, FactOutcome.ERROR, error=f"raised {type(error).__name__}")
    if fault:
        return Fact(identity, FactOutcome.ERROR, error=fault)
    return Fact(identity, FactOutcome.NOT_APPLICABLE if made is None else FactOutcome.OK, made)


def _fault(made: Any) -> str:
    try:
        data = json.dumps(made, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return "returned what JSON cannot hold"
    if len(data.encode("utf-8", "surrogatepass")) > MAX_FACT_BYTES:
        return f"returned more than {MAX_FACT_BYTES} bytes"
    return "returned text of the payload" if _longest(made) > MAX_TEXT else ""


def _longest(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case dict():
            return max((max(len(str(key)), _longest(inner)) for key, inner in value.items()), default=0)
        case list() | tuple():
            return max(map(_longest, value), default=0)
        case _:
            return 0


def errors_of(facts: Mapping[str, Fact]) -> str:
    """Return the first failed extractor and why, or nothing."""
    return next((f"{name}: {fact.error}" for name, fact in facts.items() if fact.outcome is FactOutcome.ERROR), "")

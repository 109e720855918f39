"""Facts: what extractors leave, and that a bad one blocks its event and nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.husk.facts import (
    EXTRACTORS,
    MAX_TEXT,
    FactOutcome,
    errors_of,
    extractor_of,
    extractors_digest,
    facts_of,
)
from engine.husk.facts_child import FactsChild
from tests.support.events import event, raw
from tests.support.hostile_extractors import BODIES, write


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder for modules that is importable while the test runs."""
    yield tmp_path
    sys.path[:] = [each for each in sys.path if each != str(tmp_path)]


def test_the_four_readers_leave_their_numbers() -> None:
    """Each extractor of the product document says what it is there to say."""
    made = facts_of(event(text=40))
    assert {name: fact.outcome for name, fact in made.items()} == {each.name: FactOutcome.OK for each in EXTRACTORS}
    assert made["trajectory"].value["tools"] == {"search": 1}
    assert made["verdict_reliability"].value["rationale_words"] == {"safety": 24, "style": 2}
    assert made["co_groundedness"].value["shared"] == 0
    assert made["exemplars"].value["characters"]["rawRequest"] == len("user") + 40


def test_an_event_without_the_parts_is_not_applicable() -> None:
    """Nothing to read is said as such, not as a zero."""
    made = facts_of({"id": "e", "kind": "light_call"})
    assert {fact.outcome for fact in made.values()} == {FactOutcome.NOT_APPLICABLE}


def test_no_fact_carries_the_payload() -> None:
    """The text of a request appears in no fact, whatever it is called."""
    told = "the vault code is 4711 and nobody may know it, not even you or me or anyone at all"
    value = event(text=10)
    value["light"]["rawRequest"] = {told: told}
    value["light"]["toolCalls"] = [{"name": told}]
    value["surface"] = {"dimensions": {told: {"rationale": told}}}
    shown = json.dumps([fact.as_json() for fact in facts_of(value).values()])
    assert all(told[at : at + MAX_TEXT + 1] not in shown for at in range(len(told) - MAX_TEXT))


def test_the_child_says_the_same() -> None:
    """Facts from the child process equal those from this one."""
    with FactsChild() as child:
        for text in (10, 400):
            assert child.facts(raw(event(text=text))) == facts_of(event(text=text))


EXPECTED = {
    "hangs": "no answer within",
    "raises": "raised RuntimeError",
    "eats_memory": "raised MemoryError",
    "says_too_much": "returned more than 2048 bytes",
    "returns_payload": "returned text of the payload",
    "reads_undeclared": "read an undeclared path: /surface",
    "exits": "process ended",
    "connects": "raised PermissionError",
    "returns_nan": "returned what JSON cannot hold",
    "returns_a_set": "returned what JSON cannot hold",
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_bad_extractor_blocks_its_event_by_name(folder: Path, name: str) -> None:
    """Hanging, dying, eating memory, saying too much: an ERROR fact each, and the next event is answered again."""
    bad = extractor_of(write(folder, name))
    with FactsChild([bad], seconds=1.5) as child:
        assert EXPECTED[name] in errors_of(child.facts(raw(event(text=400))))
    good = extractor_of(write(folder, "good", body="    return {'n': 1}"))
    with FactsChild([good]) as child:
        assert errors_of(child.facts(raw(event(text=400)))) == ""


def test_what_an_extractor_prints_goes_nowhere(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Megabytes of output neither block the child nor pass as an answer."""
    with FactsChild([extractor_of(write(folder, "prints"))]) as child:
        assert child.facts(raw(event()))["prints_extractor"].value == {"n": 1}
    assert capfd.readouterr().out == ""


def test_every_bad_extractor_is_tried() -> None:
    """No module that misbehaves is left out of the table."""
    assert set(BODIES) == set(EXPECTED) | {"prints"}


def test_other_code_is_another_identity(folder: Path) -> None:
    """Version, code and configuration each change the digest that a plan binds."""
    one = extractor_of(write(folder, "one", body="    return {'n': 1}"))
    two = extractor_of(write(folder, "one", body="    return {'n': 2}"))
    three = extractor_of(write(folder, "one", version="2", body="    return {'n': 2}"))
    assert len({extractors_digest((each,)) for each in (one, two, three)}) == 3

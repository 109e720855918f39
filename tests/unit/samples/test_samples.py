"""Every sample gets the answers stated in its folder, and is rebuilt byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.findings import Result
from engine.review import review
from sample_ledgers.build import HERE, SAMPLES, copy_to, differences

VERDICTS = {"holds", "fails", "bounded"}


def test_the_folders_are_as_built() -> None:
    """A fresh build differs nowhere, and no folder is left over."""
    assert differences() == []
    assert {p.name for p in HERE.iterdir() if p.is_dir() and p.name != "__pycache__"} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_gets_its_answers(name: str, tmp_path: Path) -> None:
    """Each question has the stated answer; findings stand at the stated lines; rounds are counted."""
    folder = copy_to(tmp_path) / name
    expected = json.loads((HERE / name / "expected.json").read_text(encoding="utf-8"))
    found = review([folder])
    (ledger,) = found.ledgers
    assert {a.question.value: a.result.value for a in ledger.answers} == expected["receipts.jsonl"]["answers"]
    seen = [[f.code.name, f.line] for f in ledger.chain.findings]
    assert [f for f in expected["receipts.jsonl"]["findings"] if f not in seen] == []
    if "session.jsonl" in expected:
        assert [len(t.rounds) for _, t in found.held.transcripts] == [expected["session.jsonl"]["rounds"]]
    assert found.refused == ()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_name_says_the_worst_answer(name: str) -> None:
    """The last word of a folder's name is the worst answer that could be looked for."""
    answers = set(SAMPLES[name].answers.values()) - {Result.COULD_NOT_LOOK.value}
    worst = next(w for w in ("FAILS", "BOUNDED", "HOLDS") if w in answers)
    word = name.rpartition("_")[2]
    assert word in VERDICTS
    assert (word == "fails") == (worst == "FAILS")

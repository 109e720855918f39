"""Every sample gets the answers stated in its folder, and is rebuilt byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.findings import Result
from engine.lines.source import FileSource
from engine.review import review
from engine.spans.session import audit_session
from engine.transcripts.reader import read_transcript
from sample_ledgers.build import FOLDERS, HERE, SAMPLES, STUDIES, copy_to, differences

VERDICTS = {"holds", "fails", "bounded"}


def test_the_folders_are_as_built() -> None:
    """A fresh build differs nowhere, and no folder is left over."""
    assert differences() == []
    assert {p.name for p in HERE.iterdir() if p.is_dir() and p.name != "__pycache__"} == set(FOLDERS)


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


@pytest.mark.parametrize("name", STUDIES)
def test_each_rule_of_a_study_gets_its_verdicts(name: str) -> None:
    """Session by session, rule by rule, round by round: verdict, class and block are the ones written by hand."""
    expected = json.loads((HERE / name / "expected.json").read_text(encoding="utf-8"))
    for file, rules in expected.items():
        audited = audit_session(read_transcript(FileSource(HERE / name / file)))
        assert {pin.text: [pin.cls.value, pin.critical] for pin in audited.snapshot.judged()} == {
            text: [rule["class"], rule["critical"]] for text, rule in rules.items()
        }
        for each in audited.rounds:
            assert each.audit is not None
            seen = {span.pin.text: (span.body.value, span.in_block) for span in each.audit.spans}
            for text, rule in rules.items():
                verdict, block = rule["rounds"][each.index - 1], rule["in_block"][each.index - 1]
                assert seen.get(text) == (None if verdict is None else (verdict, block)), (file, each.index, text)
        assert [pin.text for pin in audited.snapshot.pins if pin.id in audited.snapshot.uncovered] == [
            "You must never share the vault code."
        ]

"""Everything that is opened is judged side by side; nothing that could not be read disappears."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.findings import Result
from engine.load import InputKind, load_inputs
from engine.receipts.seal import CompactionReceipt
from engine.review import Question, review
from engine.transcripts.rounds import SideState
from engine.transcripts.views import side_views
from tests.support.sessions import ClaudeSession

PRE = ["user: refund window?", "assistant: 30 days.", "user: digital goods?"]
POST = ["user: refund window?", "assistant: 30 days, digital included."]


def _write(folder: Path, *, lie: bool = False) -> Path:
    kept = PRE if lie else POST
    ledger = folder / "receipts.jsonl"
    CompactionReceipt.open(PRE).record_kept(kept).seal(ledger, compactor="c", method="m")
    (folder / "before.json").write_text(json.dumps(PRE), encoding="utf-8")
    (folder / "after.json").write_text(json.dumps(POST), encoding="utf-8")
    return ledger


def test_an_honest_receipt_with_its_content_holds(tmp_path: Path) -> None:
    """Chain, receipt and content hold; the pin nobody gave stays grey and is not counted."""
    _write(tmp_path)
    found = review([tmp_path])
    (ledger,) = found.ledgers
    assert {a.question: a.result for a in ledger.answers} == {
        Question.SELF_CONSISTENT: Result.HOLDS,
        Question.CHAIN: Result.HOLDS,
        Question.HEAD_PIN: Result.COULD_NOT_LOOK,
        Question.SIGNATURE: Result.COULD_NOT_LOOK,
        Question.CONTENT: Result.HOLDS,
    }
    assert ledger.result is Result.HOLDS


def test_content_never_given_leaves_the_question_open(tmp_path: Path) -> None:
    """A receipt alone is self-consistent and its content is not checked."""
    ledger = _write(tmp_path)
    (only,) = review([ledger]).ledgers
    assert only.answer(Question.CONTENT).result is Result.COULD_NOT_LOOK
    assert "verified" not in " ".join(a.words for a in only.answers).lower()


def test_the_planted_lie_shows_only_with_content(tmp_path: Path) -> None:
    """A receipt that claims to have dropped nothing fails against what was shipped."""
    ledger = _write(tmp_path, lie=True)
    assert review([ledger]).ledgers[0].answer(Question.SELF_CONSISTENT).result is Result.HOLDS
    assert review([tmp_path]).ledgers[0].answer(Question.CONTENT).result is Result.FAILS


def test_an_edited_row_is_named(tmp_path: Path) -> None:
    """The chain's answer names the line, and the worst answer is the ledger's."""
    ledger = _write(tmp_path)
    ledger.write_bytes(ledger.read_bytes().replace(b'"compactor": "c"', b'"compactor": "d"'))
    (only,) = review([ledger]).ledgers
    assert only.result is Result.FAILS
    assert "line 1" in only.answer(Question.CHAIN).words


def test_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    """Unknown and damaged inputs stand beside the rest, with the reason and the line."""
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "broken.json").write_text('[{"a": 1, "a": 2}]', encoding="utf-8")
    found = review([tmp_path])
    assert {Path(i.name).name: f.code.name for i, f in found.refused} == {
        "notes.txt": "input_of_unknown_kind",
        "broken.json": "input_not_read",
    }


def test_links_are_not_followed_and_missing_paths_refused(tmp_path: Path) -> None:
    """A symbolic link inside a folder is left out; a path that is not there is wrong use."""
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "x.jsonl").write_text("", encoding="utf-8")
    assert [(i.kind, Path(i.name).name) for i in load_inputs([tmp_path])] == [(InputKind.LEDGER, "x.jsonl")]
    with pytest.raises(UsageError, match="no such"):
        review([tmp_path / "missing"])


def test_rounds_that_do_not_meet_are_counted(tmp_path: Path) -> None:
    """A receipt that begins where the last one ended continues it; another one leaves a gap."""
    ledger = tmp_path / "receipts.jsonl"
    third = ["something else"]
    for pre, post in ((PRE, POST), (POST, POST[:1]), (third, third)):
        CompactionReceipt.open(pre).record_kept(post).seal(ledger, compactor="c", method="m")
    (found,) = review([ledger]).ledgers
    assert [(link.continuity.value, link.previous) for link in found.rounds.values()] == [
        ("start", None),
        ("continues", 1),
        ("gap", 2),
    ]


def test_content_known_in_part_bounds_the_answer(tmp_path: Path) -> None:
    """A receipt whose digests are found on a partial side is never a full pass."""
    session = ClaudeSession(version="2.0.76")
    session.chat("one", "two")
    session.boundary("b")
    session.summary("s")
    (tmp_path / "session.jsonl").write_bytes(session.data())
    transcript = session.read()
    (only,) = transcript.rounds
    assert only.post.state is SideState.PARTIAL
    pre, post = (side_views(transcript, side)["raw-message"] for side in (only.pre, only.post))
    CompactionReceipt.open(pre).record_kept(post).seal(tmp_path / "receipts.jsonl", compactor="c", method="m")
    (ledger,) = review([tmp_path]).ledgers
    assert ledger.answer(Question.CONTENT).result is Result.BOUNDED

"""Receipts opened, kept, claimed and sealed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from arcaeon.prove.compact import CompactionReceipt as ReferenceReceipt

from engine.errors import LifecycleError, RefusedError, UsageError
from engine.findings import Result
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from engine.receipts.content import ContentError
from engine.receipts.seal import CompactionReceipt
from engine.receipts.verify import verify_receipt
from engine.storage.outcome import NotStoredError, OutcomeUnknownError
from tests.support.receipts import POST, PRE

LABELS = {"compactor": "summarizer-v2", "method": "llm-summary"}


def noon() -> datetime:
    """Tell a fixed time."""
    return datetime(2026, 8, 14, 12, tzinfo=UTC)


def test_three_calls_in_one_row_out(tmp_path: Path) -> None:
    """Open, keep and seal give one chained v2 row that holds with its content."""
    ledger = tmp_path / "receipts.jsonl"
    receipt = CompactionReceipt.open(PRE, clock=noon)
    receipt.record_kept(POST)
    row = receipt.seal(ledger, clock=noon, **LABELS)
    assert json.loads(ledger.read_text(encoding="utf-8")) == row
    assert list(row) == [
        "schema",
        "pre",
        "post",
        "dropped",
        "introduced",
        "compactor",
        "method",
        "kind",
        "opened_at",
        "receipt_digest",
        "ts",
        "chain",
    ]
    assert (row["opened_at"], row["ts"]) == ("2026-08-14T12:00:00Z", "2026-08-14T12:00:00Z")
    assert verify_receipt(row, PRE, POST).result is Result.HOLDS
    CompactionReceipt.open(POST).record_kept([]).seal(ledger, **LABELS)
    report = verify_chain(FileSource(ledger))
    assert (report.result, report.reference.chained) == (Result.HOLDS, 2)


@pytest.mark.parametrize(
    ("pre", "post"),
    [(PRE, POST), ([], []), (["a", "a", "b"], ["a"]), ([1, "1", b"1", [1.5, None]], ["new", 1]), (["x"], [])],
)
def test_the_row_is_the_one_the_reference_seals(tmp_path: Path, pre: list[Any], post: list[Any]) -> None:
    """Every field but the times and the chain is the reference's."""
    theirs = ReferenceReceipt.open(pre)
    theirs.record_kept(post)
    expected = theirs.seal(tmp_path / "theirs.jsonl", **LABELS)
    ours = CompactionReceipt.open(pre).record_kept(post).seal(tmp_path / "ours.jsonl", **LABELS)
    for row in (expected, ours):
        for name in ("ts", "opened_at", "chain"):
            row.pop(name)
    assert ours == expected
    assert list(ours) == list(expected)


def test_a_claim_of_drops_that_agrees_is_sealed(tmp_path: Path) -> None:
    """Naming the dropped items in any order seals when they are the dropped ones, copies counted."""
    receipt = CompactionReceipt.open(["a", "b", "a", "c"]).record_kept(["c"]).record_dropped(["a", "a", "b"])
    assert receipt.seal(tmp_path / "l.jsonl", **LABELS)["dropped"]["count"] == 3


@pytest.mark.parametrize("claim", [[], ["a"], ["a", "c"], ["a", "a", "b", "b"]])
def test_a_claim_that_disagrees_is_refused_with_both_counts(tmp_path: Path, claim: list[str]) -> None:
    """A compactor that claims other drops than the content shows gets no receipt, and no file."""
    receipt = CompactionReceipt.open(["a", "b", "c"]).record_kept(["c"]).record_dropped(claim)
    with pytest.raises(RefusedError) as caught:
        receipt.seal(tmp_path / "l.jsonl", **LABELS)
    assert f"claimed {len(claim)} " in caught.value.message
    assert "shows 2" in caught.value.message
    assert not (tmp_path / "l.jsonl").exists()


def test_misuse_is_refused_by_name(tmp_path: Path) -> None:
    """Construction, sealing without a survivor and every use after sealing are wrong use, not bad data."""
    with pytest.raises(UsageError, match=r"CompactionReceipt\.open"):
        CompactionReceipt(None, "now")  # type: ignore[arg-type]
    receipt = CompactionReceipt.open(PRE)
    with pytest.raises(LifecycleError, match="record_kept"):
        receipt.seal(tmp_path / "l.jsonl", **LABELS)
    receipt.record_kept(POST).seal(tmp_path / "l.jsonl", **LABELS)
    for misuse in (
        lambda: receipt.record_kept(POST),
        lambda: receipt.record_dropped([]),
        lambda: receipt.row(**LABELS),
        lambda: receipt.seal(tmp_path / "l.jsonl", **LABELS),
    ):
        with pytest.raises(LifecycleError, match="sealed"):
            misuse()
    assert (tmp_path / "l.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("content", ["a text", b"bytes", {"an": "object"}, 7, None])
def test_content_that_is_one_item_is_refused(content: Any) -> None:
    """A single text is not taken as the list of its characters, at no step."""
    with pytest.raises(ContentError, match="expected a list of items"):
        CompactionReceipt.open(content)
    with pytest.raises(ContentError, match="expected a list of items"):
        CompactionReceipt.open(PRE).record_kept(content)
    with pytest.raises(ContentError, match="expected a list of items"):
        CompactionReceipt.open(PRE).record_dropped(content)


@pytest.mark.parametrize("item", ["\ud800", float("nan"), object(), {"a": {1}}])
def test_an_item_that_cannot_be_digested_is_named(item: Any) -> None:
    """The refusal says which item."""
    with pytest.raises(ContentError) as caught:
        CompactionReceipt.open(["fine", item])
    assert caught.value.where == "item 2"


@pytest.mark.parametrize("label", [None, 3, "\ud800", ["x"]])
def test_labels_must_be_text(label: Any) -> None:
    """A label that no reader could show or digest is refused before anything is written."""
    receipt = CompactionReceipt.open(PRE).record_kept(POST)
    with pytest.raises(UsageError, match="compactor"):
        receipt.row(compactor=label, method="m")


def test_content_is_digested_when_it_is_handed_over() -> None:
    """Changing the list after opening changes nothing about the receipt."""
    pre = ["a", "b"]
    receipt = CompactionReceipt.open(pre)
    pre.clear()
    assert receipt.record_kept(["b"]).row(**LABELS)["dropped"]["count"] == 1


def test_a_receipt_stays_open_when_nothing_was_stored_and_not_when_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed write may be tried again; after an unknown outcome a second seal could be a second row."""
    receipt = CompactionReceipt.open(PRE).record_kept(POST)
    failures: list[Exception] = [NotStoredError("not_stored", "disk full"), OutcomeUnknownError("outcome_unknown", "?")]

    def failing(*_: Any, **__: Any) -> None:
        raise failures.pop(0)

    monkeypatch.setattr("engine.receipts.seal.append", failing)
    with pytest.raises(NotStoredError):
        receipt.seal(tmp_path / "l.jsonl", **LABELS)
    with pytest.raises(OutcomeUnknownError):
        receipt.seal(tmp_path / "l.jsonl", **LABELS)
    assert failures == []
    with pytest.raises(LifecycleError):
        receipt.seal(tmp_path / "l.jsonl", **LABELS)

"""The framed block of pinned spans."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from engine.spans.block import MAX_DIGESTS, Entry, append_block, format_block, split_block
from engine.spans.judge import Verdict, judge
from engine.spans.snapshot import snapshot
from tests.support.spans import CASES

WITH_BLOCK = [case for case in CASES["block"] if "<<<PINNED" in case["expect"].get("text", "")]


def entries_for(case: dict[str, Any]) -> list[Entry]:
    """Return the damaged pins of a case as entries."""
    post = case.get("receipt_for", case["post_text"])
    judged = judge(snapshot("evt-1", case["spans"]).judged(), post)
    return [
        Entry(one.pin.id, one.pin.cls, one.pin.critical, one.verdict, one.pin.text)
        for one in judged
        if one.verdict is not Verdict.PRESERVED
    ]


@pytest.mark.parametrize("case", WITH_BLOCK, ids=lambda case: case["id"])
def test_a_given_block_is_written_byte_for_byte_and_once(case: dict[str, Any]) -> None:
    """The text with its block is the stated one, and appending again to what stood before it changes nothing."""
    entries = entries_for(case)
    text = append_block(case.get("receipt_for", case["post_text"]), entries)
    assert text == case["expect"]["text"]
    assert append_block(split_block(text).body, entries) == text
    assert list(split_block(text).entries) == entries


def test_a_cut_block_is_ordinary_text_and_reported_as_torn() -> None:
    """A torn block stays in the body."""
    (case,) = [case for case in CASES["block"] if case["expect"].get("block_state") == "torn"]
    split = split_block(case["post_text"])
    assert (split.torn, split.entries, split.body) == (True, (), case["post_text"])


@pytest.mark.parametrize("change", ["never", "bytes=60", "n=3", "[2]", "<<<END"])
def test_a_block_changed_in_one_place_is_torn(change: str) -> None:
    """Any edit of frame or text is seen."""
    text = CASES["block"][0]["expect"]["text"]
    assert change in text
    changed = text.replace(change, change[:-1] + "9")
    assert split_block(changed).torn


@pytest.mark.parametrize("body", ["", "x", "x\n", "x\n\n\n", "\n"])
def test_the_text_before_a_block_is_found_again(body: str) -> None:
    """The original body is among the candidates, and the block can be replaced without growth."""
    entries = entries_for(CASES["block"][0])
    text = append_block(body, entries)
    assert body in split_block(text).bodies()
    assert append_block(split_block(append_block(body, entries[:1])).body, entries) == text


def test_a_text_made_of_heads_of_blocks_is_read_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line begins a block that reaches the end, and all share one digest: few are tried, and none is taken."""
    digest, count = "0" * 64, 2000
    head = f"\n\n<<<PINNED v1 n=1 sha256={digest}>>>\n"
    entry = f"[1] pin-{'0' * 16} FACT LOST bytes={0:07d}\n"
    rows = [
        head + entry.replace("bytes=0000000", f"bytes={(count - number) * len(head + entry):07d}")
        for number in range(1, count + 1)
    ]
    whole = "".join(rows) + f"\n<<<END PINNED sha256={digest}>>>"
    tried: list[int] = []
    real = hashlib.sha256
    monkeypatch.setattr("engine.spans.block.hashlib.sha256", lambda data: tried.append(len(data)) or real(data))
    split = split_block(whole)
    assert (split.torn, split.body) == (True, whole)
    assert len(tried) == MAX_DIGESTS


def test_no_entries_make_no_block() -> None:
    """An empty block cannot be written."""
    with pytest.raises(ValueError, match="at least one"):
        format_block([])

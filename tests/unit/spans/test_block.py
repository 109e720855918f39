"""The framed block of pinned spans."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spans.block import Entry, append_block, format_block, split_block
from engine.spans.judge import Verdict, judge
from engine.spans.snapshot import snapshot
from tests.support.spans import CASES

WITH_BLOCK = [case for case in CASES["block"] if case["expect"].get("status") == "OK"]


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
    """The text with its block is the stated one, and appending again changes nothing."""
    entries = entries_for(case)
    text = append_block(case["post_text"], entries)
    assert text == case["expect"]["text"]
    assert append_block(text, entries) == text
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
    assert append_block(append_block(text, entries[:1]), entries) == text


def test_no_entries_make_no_block() -> None:
    """An empty block cannot be written."""
    assert append_block("x", []) == "x"
    with pytest.raises(ValueError, match="at least one"):
        format_block([])

"""Receipts linked to rounds and content files by digest, and recomputed with what was found."""

from __future__ import annotations

from typing import Any

import pytest

from engine.findings import CancelledError, Result, Watch
from engine.lines.source import MemorySource
from engine.receipts.candidates import ContentIndex, HeldContent, SideName
from engine.receipts.content import ContentError
from engine.receipts.kept import Fate, find_held
from engine.receipts.link import FoundBy, HeldReceipt, Link, link_receipts, receipts_of
from engine.transcripts.rounds import Side, SideState, Transcript
from engine.transcripts.views import side_views
from tests.support.receipts import POST, PRE, as_line, receipt_row, reseal
from tests.support.sessions import CodexSession, codex_message

VIEWS = ("raw-message", "canonical-item", "plain-text")


def session() -> Transcript:
    """Read a Codex session of two exact rounds."""
    log = CodexSession()
    log.user("one: keep the rules")
    log.says("answer one")
    log.event("compacted", message="summary one", replacement_history=[codex_message("user", "summary one")])
    log.user("two: go on")
    log.says("answer two")
    log.event("compacted", message="summary two", replacement_history=[codex_message("user", "summary two")])
    return log.read()


SESSION = session()


def view(round_index: int, name: str) -> tuple[list[Any], list[Any]]:
    """Return both sides of a round in one view."""
    compaction = SESSION.rounds[round_index - 1]
    return side_views(SESSION, compaction.pre)[name], side_views(SESSION, compaction.post)[name]


def linked(*rows: Any, contents: tuple[HeldContent, ...] = ()) -> tuple[Link, ...]:
    """Link rows against the session."""
    receipts = [HeldReceipt("receipts.jsonl", line, row) for line, row in enumerate(rows, 1)]
    return link_receipts(receipts, [SESSION], contents)


def test_the_session_of_these_tests_has_two_exact_rounds() -> None:
    """Both sides of both rounds are exact, so that links can be complete."""
    states = [side.state for compaction in SESSION.rounds for side in (compaction.pre, compaction.post)]
    assert states == [SideState.EXACT] * 4


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("round_index", [1, 2])
def test_a_receipt_sealed_on_any_view_finds_its_round_and_holds(round_index: int, name: str) -> None:
    """Whoever sealed raw messages, canonical items or plain text gets the same round and a full check."""
    (link,) = linked(receipt_row(*view(round_index, name)))
    assert link.report.result is Result.HOLDS
    assert link.pre is not None
    assert link.post is not None
    assert (link.pre.round_index, link.pre.view, link.pre.side) == (round_index, name, SideName.BEFORE)
    assert (link.post.round_index, link.post.side) == (round_index, SideName.AFTER)
    assert (link.pre_by, link.post_by) == (FoundBy.DIGEST, FoundBy.DIGEST)


def test_a_lie_about_the_survivor_is_exposed_by_the_round() -> None:
    """A receipt that claims to have kept all finds its round by what went in, and fails by what came out."""
    pre, _ = view(1, "canonical-item")
    (link,) = linked(receipt_row(pre, pre))
    assert (link.pre_by, link.post_by) == (FoundBy.DIGEST, FoundBy.ROUND)
    assert link.report.result is Result.FAILS
    assert "receipt_drop_not_claimed" in {finding.code.name for finding in link.report.findings}


def test_the_content_before_never_proves_that_nothing_was_dropped() -> None:
    """A file with the content before is one side only, although its digest is claimed for both."""
    (link,) = linked(receipt_row(PRE, PRE), contents=(HeldContent("before", PRE), HeldContent("after", PRE[:2])))
    assert (link.pre_by, link.post_by) == (FoundBy.DIGEST, FoundBy.NOTHING)
    assert link.report.result is Result.BOUNDED
    pre, _ = view(1, "plain-text")
    (lie,) = linked(receipt_row(pre, pre), contents=(HeldContent("before", pre),))
    assert (lie.post_by, lie.report.result) == (FoundBy.ROUND, Result.FAILS)


def test_an_inexact_other_side_accuses_nobody() -> None:
    """When the round's other side is only partly known, the receipt is checked with the side that was found."""
    partial = session()
    first = partial.rounds[0]
    rounds = (type(first)(first.index, first.kind, first.pre, Side(first.post.keys, SideState.PARTIAL)),)
    held = Transcript(partial.format, partial.sources, partial.items, partial.messages, rounds)
    pre, _ = view(1, "plain-text")
    (link,) = link_receipts([HeldReceipt("l", 1, receipt_row(pre, pre[:1]))], [held])
    assert (link.post, link.post_by) == (None, FoundBy.NOTHING)
    assert link.report.result is Result.BOUNDED
    assert link.report.scope == "bounded_pre_only"


def test_a_receipt_of_other_content_is_left_out() -> None:
    """What matches nothing is not linked, nor is a row without digests."""
    assert linked(receipt_row(["elsewhere"], []), {"schema": "x"}, [1], {"pre": 3, "post": {"digest": ["x"]}}) == ()


def test_content_files_link_alone_or_with_a_round() -> None:
    """Two content files hold a receipt; one gives one side; a file goes with a round's other side."""
    before, after = HeldContent("before.json", PRE), HeldContent("after.jsonl", POST)
    (both,) = linked(receipt_row(PRE, POST), contents=(after, before))
    assert both.report.result is Result.HOLDS
    assert both.pre is not None
    assert both.post is not None
    assert (both.pre.source, both.post.source) == ("before.json", "after.jsonl")
    (one,) = linked(receipt_row(PRE, POST), contents=(before,))
    assert (one.report.scope, one.post_by) == ("bounded_pre_only", FoundBy.NOTHING)
    pre, _ = view(2, "raw-message")
    (mixed,) = linked(receipt_row(pre, POST), contents=(after,))
    assert mixed.report.result is Result.HOLDS


def test_an_empty_side_fits_everywhere_and_links_nothing() -> None:
    """A receipt that dropped everything is linked by its other side and checked in full."""
    pre, _ = view(1, "plain-text")
    (link,) = linked(receipt_row(pre, []))
    assert (link.post, link.post_by, link.report.result) == (None, FoundBy.EMPTY, Result.HOLDS)
    assert linked(receipt_row([], [])) == ()


def test_copies_are_counted_and_the_round_is_preferred() -> None:
    """The same content in a file beside the session does not tear the two sides of the round apart."""
    pre, post = view(1, "plain-text")
    (link,) = linked(receipt_row(pre, post), contents=(HeldContent("copy", pre), HeldContent("copy 2", post)))
    assert link.pre is not None
    assert (link.pre.source, link.alternatives) == ("session.jsonl", 2)


def test_a_forged_number_is_found_through_the_link() -> None:
    """A v2 receipt with all numbers fitted to one another is self-consistent, and fails with its round."""
    pre, post = view(1, "canonical-item")
    row = receipt_row(pre, post)
    row["dropped"]["bytes"] -= 10
    row["introduced"]["bytes"] -= 10
    (link,) = linked(reseal(row))
    assert link.report.reference["self_consistent"] is True
    assert link.report.result is Result.FAILS


def test_receipts_of_a_ledger_are_read_with_their_lines() -> None:
    """Rows that are no receipts, ambiguous or unreadable are passed over."""
    row = as_line(receipt_row(PRE, POST))
    twice = row.replace(b"{", b'{"method": "x", ', 1)
    source = MemorySource("l.jsonl", b"\n".join([b'{"op": 1}', row, twice, b"x", row]))
    assert [(receipt.ledger, receipt.line) for receipt in receipts_of(source)] == [("l.jsonl", 2), ("l.jsonl", 5)]


def test_content_that_no_receipt_can_digest_is_listed() -> None:
    """A lone surrogate in a content file is named, not raised; a text as content is wrong use."""
    index = ContentIndex.of([], [HeldContent("odd", ["\ud800"]), HeldContent("fine", ["a"])])
    assert (len(index), index.undigestible) == (1, ["odd, round 0, content, as-given"])
    with pytest.raises(ContentError):
        ContentIndex.of([], [HeldContent("text", "a text")])


def test_linking_can_be_cancelled() -> None:
    """Digesting the candidates polls for a cancel."""
    with pytest.raises(CancelledError):
        ContentIndex.of([SESSION], watch=Watch(is_cancelled=lambda: True))


def test_kept_dropped_and_introduced_content_is_found_in_held_content() -> None:
    """With content held, an item can be said to be kept; the claim alone could not say so."""
    contents = (HeldContent("before", ["rule", "chat", "rule"]), HeldContent("after", ["rule", "summary"]))
    links = linked(receipt_row(["rule", "chat", "rule"], ["rule", "summary"]), contents=contents)
    fates = {
        text: [(hit.line, hit.fate, hit.position, hit.times) for hit in find_held(text, links)]
        for text in ("rule", "chat", "summary", "x")
    }
    assert fates == {
        "rule": [(1, Fate.KEPT, 0, 1), (1, Fate.DROPPED, 2, 1)],
        "chat": [(1, Fate.DROPPED, 1, 1)],
        "summary": [(1, Fate.INTRODUCED, 1, 1)],
        "x": [],
    }
    assert find_held("rule", linked(receipt_row(["rule"], ["y"]), contents=(HeldContent("b", ["rule"]),))) == ()

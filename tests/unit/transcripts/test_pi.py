"""Rounds of pi sessions."""

from __future__ import annotations

import pytest

from engine.transcripts.item import Flag, Kind
from engine.transcripts.rounds import Reason, SideState, round_difference
from tests.support.sessions import PiSession, counts, notice_names, texts


def conversation(session: PiSession, *names: str) -> None:
    """Write a prompt and an answer for each name."""
    for name in names:
        session.user(f"u{name}", f"prompt {name}: " + "x" * 30)
        session.says(f"a{name}", f"answer {name}: " + "x" * 30)


def test_post_is_the_summary_and_the_kept_tail() -> None:
    """Entries from the first kept one stay, after the summary."""
    session = PiSession()
    conversation(session, "1", "2")
    session.entry("compaction", "k1", summary="sum: x", firstKeptEntryId="u2", tokensBefore=50)
    conversation(session, "3")
    found = session.read()
    (round_,) = found.rounds
    assert texts(found, round_.pre) == ["prompt 1", "answer 1", "prompt 2", "answer 2"]
    assert texts(found, round_.post) == ["sum", "prompt 2", "answer 2"]
    assert (round_.pre.state, round_.post.state) == (SideState.EXACT, SideState.EXACT)
    assert round_.summary_key == "k1#0"
    assert texts(found, found.context) == ["sum", "prompt 2", "answer 2", "prompt 3", "answer 3"]


def test_a_first_kept_entry_that_is_no_message_drops_nothing() -> None:
    """The tool keeps everything from a model change on."""
    session = PiSession()
    session.entry("model_change", "m1", modelId="x")
    conversation(session, "1")
    session.entry("compaction", "k1", summary="sum: x", firstKeptEntryId="m1", tokensBefore=5)
    found = session.read()
    assert len(round_difference(found, found.rounds[0]).dropped) == 0
    assert counts(found, found.rounds[0]) == (2, 3)


@pytest.mark.parametrize("kept", [None, "nowhere"])
def test_an_unknown_first_kept_entry_keeps_nothing_and_says_so(kept: str | None) -> None:
    """Nothing is kept, as the tool does, and the side is partial."""
    session = PiSession()
    conversation(session, "1")
    session.entry("compaction", "k1", summary="sum: x", firstKeptEntryId=kept, tokensBefore=5)
    found = session.read()
    assert texts(found, found.rounds[0].post) == ["sum"]
    assert found.rounds[0].post.reasons == (Reason.TAIL_UNRESOLVED,)


def test_a_kept_entry_before_an_earlier_compaction_comes_back() -> None:
    """The tool replays from there, without the earlier summary."""
    session = PiSession()
    conversation(session, "1", "2")
    session.entry("compaction", "k1", summary="first: x", firstKeptEntryId="u2", tokensBefore=5)
    conversation(session, "3")
    session.entry("compaction", "k2", summary="second: x", firstKeptEntryId="a1", tokensBefore=5)
    found = session.read()
    assert texts(found, found.rounds[1].post) == ["second", "answer 1", "prompt 2", "answer 2", "prompt 3", "answer 3"]


def test_version_one_counts_the_header_as_zero() -> None:
    """Without ids the kept tail is given by row number."""
    session = PiSession(version=1)
    conversation(session, "1", "2")
    session.add(type="compaction", summary="sum: x", firstKeptEntryIndex=3, tokensBefore=5)
    found = session.read()
    assert texts(found, found.rounds[0].post) == ["sum", "prompt 2", "answer 2"]
    assert found.format_version == "1"
    assert "@" in found.rounds[0].pre.keys[0]


def test_a_left_branch_is_flagged() -> None:
    """Only the path from the last entry to the root is context."""
    session = PiSession()
    conversation(session, "1")
    session.user("w1", "wrong: x")
    session.user("u2", "prompt 2: x", parent="a1")
    found = session.read()
    assert texts(found, found.context) == ["prompt 1", "answer 1", "prompt 2"]
    assert Flag.OFF_PATH in found.items["w1#0"].flags


def test_every_kind_of_message_is_cut_into_blocks() -> None:
    """Thinking, calls, results, commands and images are items; excluded commands are not."""
    session = PiSession()
    session.entry("message", "m1", message={"role": "user", "content": [{"type": "image", "data": "AAAA"}]})
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "toolCall", "id": "t", "name": "ls", "arguments": {}}]
    session.entry("message", "m2", message={"role": "assistant", "content": parts})
    session.entry("message", "m3", message={"role": "toolResult", "toolCallId": "t", "content": "a.txt"})
    bash = {"role": "bashExecution", "command": "pwd", "output": "/w"}
    session.entry("message", "m4", message=bash)
    session.entry("message", "m5", message={**bash, "excludeFromContext": True})
    session.entry("custom_message", "m6", content="note: x")
    session.entry("branch_summary", "m7", summary="branch: x")
    found = session.read()
    assert [found.items[key].kind for key in found.context] == [
        Kind.IMAGE,
        Kind.THINKING,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.TOOL_RESULT,
        Kind.PROMPT,
        Kind.SUMMARY,
    ]


def test_a_parent_that_is_no_entry_is_joined_by_file_order() -> None:
    """Forks hang results on call ids; the path is repaired and the round says so."""
    session = PiSession()
    conversation(session, "1")
    session.user("u2", "prompt 2: x", parent="call-7")
    session.entry("compaction", "k1", summary="sum: x", firstKeptEntryId="u2", tokensBefore=5)
    found = session.read()
    assert counts(found, found.rounds[0]) == (3, 2)
    assert found.rounds[0].pre.reasons == (Reason.REPAIRED_PATH,)
    assert "transcript_parent_missing" in notice_names(found)


def test_a_parent_cycle_ends() -> None:
    """Entries that are each other's parents are cut and noted."""
    session = PiSession()
    session.user("a", "one: x", parent="b")
    session.user("b", "two: x", parent="a")
    found = session.read()
    assert texts(found, found.context) == ["one", "two"]
    assert "transcript_parent_cycle" in notice_names(found)


def test_the_parent_session_is_named() -> None:
    """A branched file says where it came from."""
    session = PiSession()
    session.rows[0]["parentSession"] = "p0"
    session.user("a", "one: x", parent=None)
    assert session.read().parent_session == "p0"


def test_a_compaction_by_a_hook_says_so() -> None:
    """The method is the tool's claim."""
    session = PiSession()
    conversation(session, "1")
    session.entry("compaction", "k1", summary="sum: x", firstKeptEntryId="u1", tokensBefore=5, fromHook=True)
    session.entry("compaction", "k2", summary="sum: y", firstKeptEntryId="u1", tokensBefore=5, fromHook=False)
    assert [r.claimed.method for r in session.read().rounds] == ["hook", "summary"]

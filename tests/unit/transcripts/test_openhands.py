"""Rounds of OpenHands events."""

from __future__ import annotations

import json

from engine.lines.source import MemorySource
from engine.transcripts.item import Kind
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import RoundKind, round_difference
from tests.support.sessions import Lines, notice_names, openhands_new, openhands_old, texts


def test_the_older_view_shows_only_the_last_summary() -> None:
    """Ids forgotten so far are out, and a new summary takes the place of the former."""
    found = openhands_old().read()
    first, second = found.rounds
    assert texts(found, first.pre) == ["rules", "one", 'run {"command"', "out"]
    assert texts(found, first.post) == ["rules", "one", "first"]
    assert texts(found, second.pre) == ["rules", "one", "first", "answer"]
    assert texts(found, second.post) == ["rules", "second", "one"]
    assert texts(found, found.context) == ["rules", "second", "one", "two"]
    assert "transcript_untested_format" in notice_names(found)


def test_the_newer_view_can_forget_a_summary() -> None:
    """Condensations apply in order; the summary of one is an event for the next."""
    found = openhands_new().read()
    first, second = found.rounds
    assert texts(found, first.post) == ["rules", "one", "first"]
    assert texts(found, second.post) == ["rules", "second"]
    assert second.summary_key == "k2-summary#0"
    assert found.items["e2#1"].kind is Kind.TOOL_CALL


def test_bug_19_a_condensation_that_forgets_nothing_is_a_round_without_drops() -> None:
    """An empty list of forgotten events is flagged, not skipped."""
    session = openhands_old()
    session.add(id=9, source="agent", action="condensation", args={"forgotten_event_ids": []})
    found = session.read()
    assert round_difference(found, found.rounds[-1]).dropped == ()
    assert found.rounds[-1].kind is RoundKind.TRUNCATE
    assert "openhands_forgot_nothing" in notice_names(found)


def test_one_array_of_events_reads_as_lines_do() -> None:
    """The exported array gives the same rounds."""
    session = openhands_old()
    data = json.dumps(session.rows, indent=1).encode()
    found = read_transcript(MemorySource("trajectory.json", data))
    assert [(r.pre.keys, r.post.keys) for r in found.rounds] == [
        (r.pre.keys, r.post.keys) for r in session.read().rounds
    ]


def test_ids_that_are_not_in_the_view_and_unknown_events_are_noted() -> None:
    """Naming an event that is not there changes nothing and is said."""
    session = Lines()
    session.add(id=0, source="user", action="message", args={"content": "one: x"})
    session.add(id=1, source="agent", kind=None, odd=1)
    session.add(id=2, source="agent", action="condensation", args={"forgotten_event_ids": [77]})
    found = session.read()
    assert {"openhands_forgot_unknown", "transcript_unknown_rows"} <= set(notice_names(found))

"""Rounds of Copilot CLI event logs."""

from __future__ import annotations

from engine.transcripts.item import Flag
from engine.transcripts.rounds import Reason, SideState
from tests.support.sessions import copilot, notice_names, texts


def test_bug_24_an_answer_during_the_compaction_stays_in_post() -> None:
    """Events between start and end are not compacted; sub-agent events are no context."""
    found = copilot().read()
    (round_,) = found.rounds
    assert texts(found, round_.pre) == ["one", 'bash {"command"', "out"]
    assert texts(found, round_.post) == ["sum", "meanwhile"]
    assert round_.post.reasons == (Reason.NOT_RECORDED,)
    assert round_.pre.state is SideState.PARTIAL
    assert (round_.claimed.model, round_.claimed.tokens_before) == ("m", 10)
    assert texts(found, found.context) == ["sum", "meanwhile", "two"]
    assert (found.session, found.tool_version) == ("g1", "1.0.0")


def test_a_failed_compaction_is_no_round() -> None:
    """The attempt is listed apart and the context goes on."""
    session = copilot()
    session.rows[7]["data"]["success"] = False
    found = session.read()
    assert found.rounds == ()
    assert [(f.code.name, f.line) for f in found.failed_attempts] == [("copilot_attempt_failed", 8)]
    assert texts(found, found.context)[-2:] == ["meanwhile", "two"]


def test_a_compaction_without_start_or_summary_says_so() -> None:
    """What is not in the file is a notice and a reason."""
    session = copilot()
    del session.rows[5]
    del session.rows[6]["data"]["summaryContent"]
    found = session.read()
    assert "copilot_start_missing" in notice_names(found)
    assert Reason.SUMMARY_MISSING in found.rounds[0].post.reasons


def test_a_truncation_makes_later_sides_partial_and_invents_no_round() -> None:
    """The log does not say which messages went."""
    session = copilot()
    session.rows.insert(4, {"type": "session.truncation", "id": "t", "data": {"droppedTokens": 5}})
    found = session.read()
    assert len(found.rounds) == 1
    assert Reason.NOT_RECORDED in found.rounds[0].pre.reasons
    assert "copilot_truncation_unrecorded" in notice_names(found)


def test_a_rewind_drops_the_events_from_its_target_on() -> None:
    """A rewind to a known event is followed; to an unknown one it is a reason."""
    session = copilot()
    session.add(type="session.snapshot_rewind", id="w", data={"upToEventId": "e6"})
    found = session.read()
    assert texts(found, found.context) == ["sum"]
    assert Flag.OFF_PATH in found.items["e8#0"].flags


def test_repeated_and_unknown_events_are_counted() -> None:
    """The first of an id wins; a type of another family is unknown."""
    session = copilot()
    session.rows.append(session.rows[1])
    session.add(type="telemetry", id="z", data={})
    assert {"transcript_repeated_rows", "transcript_unknown_rows"} <= set(notice_names(session.read()))

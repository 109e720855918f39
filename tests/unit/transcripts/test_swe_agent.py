"""Rounds of SWE-agent trajectories."""

from __future__ import annotations

import pytest

from engine.errors import CannotLookError
from engine.transcripts.item import Flag, Kind
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import Reason, RoundKind, SideState, round_difference
from tests.support.documents import document, read, trajectory
from tests.support.sessions import notice_names, texts


def test_each_step_that_hides_an_output_is_a_round() -> None:
    """With two outputs kept, the fourth of four steps hides one and a sixth of six hides three in all."""
    found = read(trajectory())
    (round_,) = found.rounds
    assert (round_.kind, round_.pre.state, round_.post.state) == (
        RoundKind.TOOL_CLEAR,
        SideState.EXACT,
        SideState.EXACT,
    )
    assert texts(found, round_.pre)[4] == "out0"
    assert texts(found, round_.post)[4] == "Old environment output"
    assert texts(found, round_.pre)[5:] == texts(found, round_.post)[5:]
    difference = round_difference(found, round_)
    assert [item.text for item in difference.dropped] == ["out0: x"]
    assert [(item.kind, item.flags) for item in difference.introduced] == [
        (Kind.PLACEHOLDER, frozenset({Flag.CLEARED}))
    ]
    assert len(read(trajectory(6)).rounds) == 3


def test_a_trajectory_that_only_grows_has_no_round() -> None:
    """Appending to the input is no compaction, and each message is held once."""
    found = read(trajectory(steps=5, shown=9), "run.traj")
    assert (found.format, found.rounds) == ("swe-agent", ())
    assert len(found.messages) == 2 + 2 * 4
    assert found.context == tuple(found.items)


def test_a_shorter_or_rewritten_input_is_a_round_with_a_partial_pre() -> None:
    """What stood between the two calls is not in the file."""
    shorter = trajectory(steps=3, shown=9)
    shorter["trajectory"][2]["messages"] = shorter["trajectory"][1]["messages"][:-1]
    (round_,) = read(shorter).rounds
    assert (round_.kind, round_.pre.state, round_.pre.reasons) == (
        RoundKind.TRUNCATE,
        SideState.PARTIAL,
        (Reason.NOT_RECORDED,),
    )
    rewritten = trajectory(steps=2, shown=9)
    rewritten["trajectory"][1]["messages"][1] = {"role": "user", "content": "other task"}
    (round_,) = read(rewritten).rounds
    assert (round_.kind, round_.pre.state) == (RoundKind.HISTORY_REPLACEMENT, SideState.PARTIAL)


def test_newer_files_name_their_input_query() -> None:
    """The two spellings read alike."""
    value = trajectory()
    newer = {**value, "trajectory": [{"query": step["messages"]} for step in value["trajectory"]]}
    assert [r.post.keys for r in read(newer).rounds] == [r.post.keys for r in read(value).rounds]


def test_steps_without_input_are_noticed() -> None:
    """A step that is damaged does not stop the reading."""
    value = trajectory()
    value["trajectory"][1] = {"action": "ls"}
    value["trajectory"].append("x")
    found = read(value)
    assert notice_names(found) == ["swe_agent_input_missing"] * 2
    assert len(found.rounds) == 1


def test_a_file_without_steps_is_refused() -> None:
    """A document of another shape is named, not guessed at."""
    with pytest.raises(CannotLookError) as caught:
        read_transcript(document({"trajectory": {}}), format="swe-agent")
    assert caught.value.code == "trajectory_missing"

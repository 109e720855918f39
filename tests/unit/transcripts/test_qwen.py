"""Qwen Code sessions: a tree of rows and the histories its compressions left."""

from __future__ import annotations

from engine.transcripts.claude_code import CLAUDE_CODE
from engine.transcripts.item import Flag
from engine.transcripts.rounds import Reason, RoundKind, SideState, round_difference
from tests.support.documents import qwen_log, qwen_row
from tests.support.sessions import ClaudeSession, notice_names, texts


def test_a_compression_is_a_round_with_the_history_it_left() -> None:
    """Pre is the path before it, post the stored history, the context goes on from there."""
    found = qwen_log().read()
    (round_,) = found.rounds
    assert (found.format, found.session, found.tool_version) == ("qwen-code", "q1", "0.5.0")
    assert texts(found, round_.pre) == ["one", "two", "ls {}", "out"]
    assert texts(found, round_.post) == ["<state_snapshot>sum", "Got it.", "out"]
    assert (round_.kind, round_.pre.state, round_.post.state) == (RoundKind.SUMMARY, SideState.EXACT, SideState.EXACT)
    assert [item.text for item in round_difference(found, round_).kept] == ["out: x"]
    assert (round_.claimed.tokens_before, round_.claimed.tokens_after, round_.line) == (100, 40, 6)
    assert texts(found, found.context)[-1] == "three"
    assert notice_names(found) == ["transcript_untested_format"]


def test_a_rewound_branch_is_kept_outside_the_context() -> None:
    """The rows stay readable and are flagged."""
    found = qwen_log().read()
    assert found.items["x1#0"].flags == {Flag.OFF_PATH}
    assert "rewound" not in texts(found, found.rounds[0].pre)


def test_a_compression_without_history_is_a_failed_attempt() -> None:
    """No round is made of it, and the context goes on."""
    session = qwen_log()
    session.rows[5]["systemPayload"] = {"info": {"compressionStatus": 3}}
    found = session.read()
    assert (found.rounds, texts(found, found.context)[-2:]) == ((), ["out", "three"])
    assert [(f.code.name, f.line, f.found) for f in found.failed_attempts] == [("qwen_attempt_failed", 6, "3")]


def test_bug_14_a_missing_parent_makes_the_first_side_partial() -> None:
    """What stood before the file begins is not known; later rounds start from a stored history."""
    session = qwen_log()
    session.rows[0]["parentUuid"] = "gone"
    session.rows.append({**session.rows[5], "uuid": "c2", "parentUuid": "u2"})
    first, second = session.read().rounds
    assert (first.pre.state, first.pre.reasons) == (SideState.PARTIAL, (Reason.HEAD_MISSING,))
    assert second.pre.state is SideState.EXACT


def test_bug_20_a_circle_of_parents_ends() -> None:
    """The walk stops and says so."""
    session = qwen_log()
    session.rows[0]["parentUuid"] = "t1"
    assert "transcript_parent_cycle" in notice_names(session.read())


def test_bug_11_a_repeated_row_counts_once() -> None:
    """The first of each id is taken."""
    session = qwen_log()
    session.rows.append(qwen_row("u2", "c1", "user", "other: x"))
    found = session.read()
    assert texts(found, found.context)[-1] == "three"
    assert "transcript_repeated_rows" in notice_names(found)


def test_a_claude_session_whose_tool_results_hold_parts_stays_one() -> None:
    """Only messages of parts make the other format."""
    claude = ClaudeSession()
    claude.user("u1", "one", toolUseResult={"parts": [1]})
    claude.says("a1", "two")
    assert CLAUDE_CODE.sniff(claude.data(), "x") > 90
    assert claude.read().format == "claude-code"

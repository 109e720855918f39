"""Rounds of Claude Code sessions."""

from __future__ import annotations

import pytest

from engine.transcripts.item import Flag, Kind
from engine.transcripts.rounds import Reason, RoundKind, SideState, round_difference
from tests.support.sessions import SUMMARY_TEXT, ClaudeSession, counts, notice_names, texts


def compacted(**meta: object) -> ClaudeSession:
    """Write two exchanges and a compaction."""
    session = ClaudeSession()
    session.chat("1", "2")
    session.boundary("b1", preTokens=50, **meta)
    session.summary("s1")
    return session


def test_a_round_has_the_path_before_and_the_summary_after() -> None:
    """Pre is the whole conversation, post the summary; claims stand apart."""
    session = compacted()
    session.chat("3")
    found = session.read()
    (round_,) = found.rounds
    assert texts(found, round_.pre) == ["prompt 1", "answer 1", "prompt 2", "answer 2"]
    assert texts(found, round_.post) == [SUMMARY_TEXT]
    assert round_.kind is RoundKind.SUMMARY
    assert round_.summary_key == "s1#0"
    assert found.items["s1#0"].kind is Kind.SUMMARY
    assert (round_.claimed.trigger, round_.claimed.tokens_before, round_.line) == ("auto", 50, 5)
    assert round_.pre.state is SideState.EXACT
    assert round_.post.reasons == (Reason.REREAD_FILES_NOT_STORED,)
    assert texts(found, found.context) == [SUMMARY_TEXT, "prompt 3", "answer 3"]


def test_the_second_round_stands_on_the_first() -> None:
    """Pre of a later round is what the former left and the path since."""
    session = compacted()
    session.chat("3")
    session.boundary("b2", preTokens=50)
    session.summary("s2", "second summary")
    found = session.read()
    assert [counts(found, r) for r in found.rounds] == [(4, 1), (3, 1)]
    assert texts(found, found.rounds[1].pre) == [SUMMARY_TEXT, "prompt 3", "answer 3"]
    assert found.rounds[1].pre.reasons == (Reason.REREAD_FILES_NOT_STORED,)
    assert found.notices == ()


def test_command_rows_after_a_manual_compaction_belong_to_post() -> None:
    """The caveat, the command and its output stand in post although their parents lie before the boundary."""
    session = compacted()
    session.user("c1", "<local-command-caveat>x</local-command-caveat>", parent="a-2", isMeta=True)
    session.user("c2", "<command-name>/compact</command-name>")
    session.user("c3", "<local-command-stdout>Compacted</local-command-stdout>")
    session.chat("3")
    found = session.read()
    assert counts(found, found.rounds[0]) == (4, 4)
    assert texts(found, found.context)[-2:] == ["prompt 3", "answer 3"]
    assert len(found.context) == 6


def test_preserved_messages_are_kept_by_uuid_in_list_order() -> None:
    """The list of the new record says which messages stay; the walk does not run into the old history."""
    session = compacted(postTokens=9, preservedMessages={"uuids": ["u-2", "a-2"], "allUuids": ["u-2", "a-2"]})
    session.user("u-3", "prompt 3: x", parent="a-2")
    session.says("a-3", "answer 3: x")
    found = session.read()
    (round_,) = found.rounds
    assert texts(found, round_.post) == [SUMMARY_TEXT, "prompt 2", "answer 2"]
    assert round_.post.state is SideState.EXACT
    difference = round_difference(found, round_)
    assert [i.text[:8] for i in difference.dropped] == ["prompt 1", "answer 1"]
    assert len(difference.kept) == 2
    assert texts(found, found.context) == [SUMMARY_TEXT, "prompt 2", "answer 2", "prompt 3", "answer 3"]


def test_preserved_rows_written_after_the_boundary_are_found() -> None:
    """Preserved rows may be written again behind the summary under new ids."""
    session = compacted(postTokens=9, preservedMessages={"uuids": ["k1", "k2"]})
    session.user("k1", "prompt 2: again", parent="s1")
    session.says("k2", "answer 2: again")
    session.chat("3")
    found = session.read()
    assert texts(found, found.rounds[0].post) == [SUMMARY_TEXT, "prompt 2", "answer 2"]
    assert texts(found, found.context)[-2:] == ["prompt 3", "answer 3"]


def test_the_older_preserved_segment_is_walked_from_tail_to_head() -> None:
    """Without the list, the segment between two ids is taken."""
    session = compacted(postTokens=9, preservedSegment={"headUuid": "u-2", "anchorUuid": "s1", "tailUuid": "a-2"})
    found = session.read()
    assert texts(found, found.rounds[0].post) == [SUMMARY_TEXT, "prompt 2", "answer 2"]


def test_attachments_of_new_versions_are_in_post_and_said_to_be_unchecked() -> None:
    """Attachments up to the next prompt belong to post; their completeness is not claimed."""
    session = compacted(postTokens=9)
    session.row("attachment", "t1", attachment={"type": "file", "content": {"type": "text", "text": "file body"}})
    session.chat("3")
    found = session.read()
    (round_,) = found.rounds
    assert texts(found, round_.post) == [SUMMARY_TEXT, "file body"]
    assert round_.post.reasons == (Reason.ATTACHMENTS_UNCHECKED,)


def test_micro_compaction_replaces_named_results_by_the_placeholder() -> None:
    """The result is dropped and its placeholder introduced, as one rewritten block; later rounds see it."""
    session = ClaudeSession()
    session.chat("1")
    for name in ("t1", "t2"):
        session.calls(f"c-{name}", name)
        session.answers(f"r-{name}", name, f"output of {name}: " + "x" * 50)
    meta = {"trigger": "auto", "preTokens": 100, "tokensSaved": 30, "compactedToolIds": ["t1"]}
    session.row("system", "m1", subtype="microcompact_boundary", microcompactMetadata=meta)
    session.chat("2")
    session.boundary("b1", preTokens=100)
    session.summary("s1")
    found = session.read()
    micro, full = found.rounds
    assert micro.kind is RoundKind.TOOL_CLEAR
    assert (micro.claimed.tokens_before, micro.claimed.tokens_after) == (100, 70)
    difference = round_difference(found, micro)
    assert [i.text for i in difference.introduced] == ["[Old tool result content cleared]"]
    assert [(old.key, new.key) for old, new in difference.rewritten] == [("r-t1#0", "r-t1#0~cleared")]
    assert found.items["r-t1#0~cleared"].flags == {Flag.CLEARED}
    assert "r-t1#0~cleared" in full.pre.keys
    assert "r-t1#0" not in full.pre.keys


def test_blocks_of_one_answer_written_as_several_rows_are_all_in_context() -> None:
    """Rows with the message id of a row on the path belong to it, and results of parallel calls come back."""
    session = ClaudeSession()
    session.user("u1", "go: " + "x" * 80)
    for name in ("t1", "t2", "t3"):
        session.calls(f"c-{name}", name, message="m1")
    for name in ("t1", "t2", "t3"):
        session.answers(f"r-{name}", name, f"out {name}: " + "x" * 30, parent=f"c-{name}")
    session.says("a1", "done: x", parent="r-t3")
    session.boundary("b1", preTokens=50)
    session.summary("s1")
    found = session.read()
    assert counts(found, found.rounds[0])[0] == 8
    assert found.rounds[0].pre.state is SideState.EXACT


def test_a_rewound_branch_is_flagged_and_not_in_pre() -> None:
    """Rows that the user went back from are kept in the file's items, not in the context."""
    session = ClaudeSession()
    session.chat("1")
    session.user("w1", "wrong way: x")
    session.says("w2", "wrong answer: x")
    session.user("u-2", "prompt 2: " + "x" * 80, parent="a-1")
    session.says("a-2", "answer 2: x")
    session.boundary("b1", preTokens=50)
    session.summary("s1")
    found = session.read()
    assert texts(found, found.rounds[0].pre) == ["prompt 1", "answer 1", "prompt 2", "answer 2"]
    assert Flag.OFF_PATH in found.items["w1#0"].flags
    assert Flag.OFF_PATH not in found.items["u-2#0"].flags
    assert found.notices == ()


def test_api_error_rows_are_no_context() -> None:
    """A row that reports an API error was never sent to the model."""
    session = ClaudeSession()
    session.chat("1")
    session.says("e1", "API Error: overloaded", isApiErrorMessage=True)
    session.chat("2")
    found = session.read()
    assert texts(found, found.context) == ["prompt 1", "answer 1", "prompt 2", "answer 2"]
    assert "claude_api_error_rows" in notice_names(found)


def test_side_chains_are_no_context_but_a_sub_agent_file_is_read() -> None:
    """Sub-agent rows stay out of the main context; a file of nothing else is read as its own session."""
    session = ClaudeSession()
    session.chat("1")
    session.user("x1", "sub prompt: x", isSidechain=True)
    session.user("u2", "prompt 2: x", parent="a-1")
    found = session.read()
    assert texts(found, found.context) == ["prompt 1", "answer 1", "prompt 2"]
    alone = ClaudeSession()
    alone.user("x1", "sub prompt: x", isSidechain=True)
    alone.says("x2", "sub answer: x", isSidechain=True)
    found = alone.read()
    assert texts(found, found.context) == ["sub prompt", "sub answer"]
    assert "claude_sub_agent_file" in notice_names(found)


def test_a_summary_row_without_boundary_is_a_round() -> None:
    """The summary alone marks a compaction when the boundary row is missing."""
    session = ClaudeSession()
    session.chat("1")
    session.summary("s1")
    session.chat("2")
    found = session.read()
    assert [counts(found, r) for r in found.rounds] == [(2, 1)]
    assert texts(found, found.context) == [SUMMARY_TEXT, "prompt 2", "answer 2"]


def test_a_boundary_without_summary_says_that_it_is_missing() -> None:
    """Post without its summary is not exact."""
    session = ClaudeSession()
    session.chat("1")
    session.boundary("b1", preTokens=50)
    session.user("u-2", "prompt 2: x", parent="b1")
    found = session.read()
    assert Reason.SUMMARY_MISSING in found.rounds[0].post.reasons


def test_the_sdk_spelling_of_the_metadata_is_read() -> None:
    """The stream of the SDK writes snake case."""
    session = ClaudeSession()
    session.chat("1")
    session.row("system", "b1", parent=None, subtype="compact_boundary", compact_metadata={"pre_tokens": 7})
    session.summary("s1")
    found = session.read()
    assert found.rounds[0].claimed.tokens_before == 7


def test_a_head_cut_off_is_seen_by_the_first_parent() -> None:
    """A first row whose parent is not in the file says that the beginning is missing."""
    session = ClaudeSession()
    session.last = "gone"
    session.chat("1")
    session.boundary("b1", preTokens=1)
    session.summary("s1")
    assert session.read().rounds[0].pre.reasons == (Reason.HEAD_MISSING,)


def test_a_head_cut_off_is_seen_by_the_tokens() -> None:
    """Far fewer bytes than the claimed tokens can have had: the beginning is missing."""
    session = ClaudeSession()
    session.chat("1")
    session.boundary("b1", preTokens=155_250)
    session.summary("s1")
    assert session.read().rounds[0].pre.reasons == (Reason.HEAD_MISSING,)


@pytest.mark.parametrize("mark", ["REDACTED", "[trimmed for fixture]", "<truncated>"])
def test_redacted_text_lowers_the_side_and_is_flagged(mark: str) -> None:
    """A published file with holes is never exact, and the hole is not loss."""
    session = ClaudeSession()
    session.chat("1")
    session.user("u-2", f"prompt 2: key {mark} end")
    session.boundary("b1", preTokens=50)
    session.summary("s1")
    found = session.read()
    assert found.rounds[0].pre.reasons == (Reason.REDACTED,)
    assert Flag.REDACTED in found.items["u-2#0"].flags


def test_a_persisted_output_stub_asks_for_its_side_file() -> None:
    """A result kept in a side file is only as exact as the stub."""
    session = ClaudeSession()
    session.chat("1")
    session.calls("c1", "t1")
    session.answers("r1", "t1", "<persisted-output>\nOutput too large, saved to x.txt\n</persisted-output>")
    session.says("a9", "ok: x")
    session.boundary("b1", preTokens=50)
    session.summary("s1")
    found = session.read()
    assert found.rounds[0].pre.reasons == (Reason.SIDE_FILE_NOT_HELD,)
    assert Flag.TRUNCATED in found.items["r1#0"].flags


def test_images_are_known_by_size_and_digest() -> None:
    """An inline image becomes an item without its bytes."""
    session = ClaudeSession()
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 4000}
    session.user("u1", [{"type": "text", "text": "look: x"}, {"type": "image", "source": source}])
    item = session.read().items["u1#1"]
    assert item.kind is Kind.IMAGE
    assert item.size < 300
    assert "4000 bytes" in item.text


def second_stretch() -> ClaudeSession:
    """Write a compaction and one exchange after it."""
    session = compacted()
    session.chat("3")
    return session


def close(session: ClaudeSession) -> ClaudeSession:
    """Write a second compaction."""
    session.boundary("b2", preTokens=50)
    session.summary("s2", "second summary")
    return session


def test_a_dangling_parent_after_a_boundary_goes_on_with_the_row_before() -> None:
    """A break inside a later stretch loses nothing of that stretch."""
    session = second_stretch()
    session.user("u-4", "prompt 4: x", parent="gone")
    found = close(session).read()
    assert texts(found, found.rounds[1].pre) == [SUMMARY_TEXT, "prompt 3", "answer 3", "prompt 4"]
    assert Reason.REPAIRED_PATH in found.rounds[1].pre.reasons


@pytest.mark.parametrize("parent", ["a-1", None])
def test_a_row_that_hangs_on_the_old_history_ends_at_the_boundary(parent: str | None) -> None:
    """Neither the old history nor the branch beside it comes back; the summary stays."""
    session = second_stretch()
    session.user("u-4", "prompt 4: x", parent=parent)
    found = close(session).read()
    assert texts(found, found.rounds[1].pre) == [SUMMARY_TEXT, "prompt 4"]
    assert Reason.REPAIRED_PATH in found.rounds[1].pre.reasons
    assert Flag.OFF_PATH in found.items["u-3#0"].flags
    assert "transcript_order_disagrees" in notice_names(found)


def test_a_micro_compaction_clears_only_the_named_result_of_a_row() -> None:
    """Of two results in one row, the one that is named is replaced."""
    session = ClaudeSession()
    session.calls("c1", "t1", message="m")
    session.calls("c2", "t2", message="m")
    results = [{"type": "tool_result", "tool_use_id": name, "content": f"out {name}: x"} for name in ("t1", "t2")]
    session.user("r1", results)
    session.row("system", "m1", subtype="microcompact_boundary", microcompactMetadata={"compactedToolIds": ["t2"]})
    found = session.read()
    (round_,) = found.rounds
    assert texts(found, round_.post)[2:] == ["out t1", "[Old tool result content cleared]"]
    assert (round_.index, round_.claimed.tokens_after) == (1, None)
    assert len(round_difference(found, round_).dropped) == 1


def test_a_cleared_attachment_is_replaced_too() -> None:
    """A micro-compaction may name attachments by row."""
    session = ClaudeSession()
    session.row("attachment", "t1", attachment={"type": "file", "content": "body: x"})
    session.chat("1")
    session.row(
        "system", "m1", subtype="microcompact_boundary", microcompactMetadata={"clearedAttachmentUUIDs": ["t1"]}
    )
    found = session.read()
    assert texts(found, found.rounds[0].post) == ["[Old tool result content cleared]", "prompt 1", "answer 1"]


def test_rows_between_a_boundary_and_its_summary_are_no_second_round() -> None:
    """An attachment or a sub-agent's row may stand before the summary."""
    session = ClaudeSession()
    session.chat("1")
    session.boundary("b1", preTokens=10, postTokens=3)
    session.row("attachment", "t1", attachment={"type": "file", "content": "body: x"})
    session.user("x1", "sub: x", isSidechain=True)
    session.summary("s1")
    found = session.read()
    assert [texts(found, r.post) for r in found.rounds] == [[SUMMARY_TEXT, "body"]]


def test_a_preserved_segment_that_is_not_linked_is_unresolved() -> None:
    """A tail that never reaches its head keeps nothing."""
    session = compacted(postTokens=9, preservedSegment={"headUuid": "elsewhere", "tailUuid": "a-2"})
    found = session.read()
    assert texts(found, found.rounds[0].post) == [SUMMARY_TEXT]
    assert Reason.PRESERVED_UNRESOLVED in found.rounds[0].post.reasons


def test_other_system_rows_are_no_rounds() -> None:
    """Hook summaries and durations stand between the messages and mean nothing for the context."""
    session = ClaudeSession()
    session.chat("1")
    session.row("system", "y1", subtype="turn_duration", durationMs=1)
    session.row("progress", "y2", data={})
    session.chat("2")
    found = session.read()
    assert found.rounds == ()
    assert texts(found, found.context) == ["prompt 1", "answer 1", "prompt 2", "answer 2"]
    assert found.notices == ()

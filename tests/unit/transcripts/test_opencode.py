"""opencode exports: compactions, kept tails, failed attempts and cleared results."""

from __future__ import annotations

import json

from engine.lines.source import MemorySource
from engine.transcripts.item import Kind
from engine.transcripts.reader import read_transcript, sniff_format
from engine.transcripts.rounds import Reason, RoundKind, SideState, round_difference
from engine.transcripts.views import RAW_MESSAGE, side_views
from tests.support.opencode_sessions import OpencodeSession
from tests.support.sessions import counts, notice_names, texts


def compacted(**part: object) -> OpencodeSession:
    """Write two turns, a compaction and one more turn."""
    session = OpencodeSession()
    session.user("m1", "one: x")
    session.says("m2", "answer: x")
    session.user("m3", "two: x")
    session.tool("m4", "out: x")
    session.compaction("m5", **part)
    session.summary("m6", "sum: x", "m5")
    session.user("m7", "three: x")
    return session


def test_a_compaction_leaves_prompt_and_summary() -> None:
    """Without a kept tail the model sees the rendered prompt and the summary alone."""
    read = compacted().read()
    (found,) = read.rounds
    assert read.format == "opencode"
    assert counts(read, found) == (4, 2)
    assert texts(read, found.post) == ["What did we do so far?", "sum"]
    assert texts(read, read.context) == ["What did we do so far?", "sum", "three"]
    assert read.items[found.summary_key or ""].kind is Kind.SUMMARY
    assert (found.pre.state, found.post.state) == (SideState.EXACT, SideState.EXACT)
    assert (found.claimed.trigger, found.claimed.model) == ("auto", "m")


def test_a_kept_tail_follows_the_summary() -> None:
    """The messages from the named one up to the compaction stay, after prompt and summary."""
    read = compacted(tail_start_id="m3").read()
    (found,) = read.rounds
    assert texts(read, found.post)[:3] == ["What did we do so far?", "sum", "two"]
    difference = round_difference(read, found)
    assert [item.native_id for item in difference.dropped] == ["m1", "m2"]


def test_a_fork_whose_tail_is_not_in_the_file_keeps_nothing_and_says_so() -> None:
    """An unmapped tail is a notice and a partial side; old history is not pulled into post."""
    read = compacted(tail_start_id="msg_of_parent").read()
    (found,) = read.rounds
    assert texts(read, found.post) == ["What did we do so far?", "sum"]
    assert found.post.reasons == (Reason.TAIL_UNRESOLVED,)
    assert found.post.state is SideState.PARTIAL
    assert notice_names(read) == ["opencode_tail_unknown"]


def test_a_second_compaction_without_a_tail_starts_from_the_first_summary() -> None:
    """Pre of the second round is what the first left and what came since."""
    session = compacted(tail_start_id="m3")
    session.compaction("m8")
    session.summary("m9", "again: x", "m8")
    read = session.read()
    first, second = read.rounds
    assert second.pre.keys[: len(first.post.keys)] == first.post.keys
    assert texts(read, second.post) == ["What did we do so far?", "again"]


def test_a_failed_summary_is_no_round_and_leaves_the_context() -> None:
    """An attempt with an error, and one that never finished, are listed; the retry is the one round."""
    session = OpencodeSession()
    session.user("m1", "one: x")
    session.compaction("m2")
    session.summary("m3", "broken: x", "m2", error={"name": "APIError"})
    session.summary("m4", "half: x", "m2", finish=None)
    session.summary("m5", "sum: x", "m2")
    read = session.read()
    (found,) = read.rounds
    assert [attempt.found for attempt in read.failed_attempts] == ["APIError", "no finish"]
    assert texts(read, found.pre) == ["one"]
    assert texts(read, found.post) == ["What did we do so far?", "sum"]


def test_results_cleared_together_are_one_round_where_it_happened() -> None:
    """Two results cleared in one pass are one round before the next message; a later pass is another."""
    session = OpencodeSession()
    session.user("m0", "one: x")
    session.tool("m1", "first: x", cleared=35)
    session.tool("m2", "second: x", cleared=35)
    session.tool("m3", "third: x", cleared=55)
    session.user("m4", "two: x")
    session.user("m5", "three: x")
    read = session.read()
    one, two = read.rounds
    assert [one.kind, two.kind] == [RoundKind.TOOL_CLEAR, RoundKind.TOOL_CLEAR]
    assert "two" not in texts(read, one.pre)
    assert [item.text for item in round_difference(read, one).dropped] == ["first: x", "second: x"]
    assert [item.text for item in round_difference(read, two).dropped] == ["third: x"]
    assert "three" in texts(read, two.pre)
    assert len(round_difference(read, two).rewritten) == 1
    assert RAW_MESSAGE not in side_views(read, two.post)


def test_results_cleared_after_they_left_the_context_make_no_round() -> None:
    """A clearing that touches nothing the model still sees is no round."""
    session = OpencodeSession()
    session.user("m0", "one: x")
    session.tool("m1", "first: x", cleared=45)
    session.compaction("m2")
    session.summary("m3", "sum: x", "m2")
    session.user("m4", "two: x")
    assert [found.kind for found in session.read().rounds] == [RoundKind.SUMMARY]


def test_a_failed_answer_is_off_the_path_and_an_aborted_one_stays() -> None:
    """The tool leaves errors out of the next prompt, and keeps what an abort left."""
    session = OpencodeSession()
    session.user("m0", "one: x")
    session.says("m1", "broken: x", error={"name": "APIError"})
    session.says("m2", "half: x", error={"name": "MessageAbortedError"})
    read = session.read()
    assert texts(read, read.context) == ["one", "half"]


def test_times_cut_out_change_no_order() -> None:
    """Placeholder and missing times give items without a time, in file order."""
    session = compacted()
    session.messages[0]["info"]["time"] = {"created": "[trimmed for fixture]"}
    session.messages[1]["info"]["time"] = None
    session.messages[2]["info"]["time"] = {"created": 5}
    read = session.read()
    assert texts(read, read.rounds[0].pre)[:3] == ["one", "answer", "two"]
    assert read.items["m1#0"].time is None
    assert read.items["m2#0"].time is None


def test_unknown_and_broken_parts_stay_as_opaque_items() -> None:
    """Part types of a later version, files, and entries that are no messages are named, never lost or fatal."""
    session = OpencodeSession()
    session.message("user", "m1", {"type": "hologram", "x": 1}, {"type": "file", "mime": "text/plain", "url": "f"})
    image = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}
    session.message("user", "m2", image, {"type": "subtask"}, {"type": "text", "text": "y", "ignored": True})
    session.messages.append({"info": 5})
    session.messages.append(dict(session.messages[0]))
    read = session.read()
    assert [read.items[key].kind for key in read.context] == [Kind.OPAQUE, Kind.IMAGE, Kind.PROMPT]
    assert notice_names(read) == [
        "transcript_row_not_an_object",
        "transcript_repeated_rows",
        "transcript_unknown_rows",
    ]


def test_the_format_is_recognised_by_its_nesting() -> None:
    """The export shape is opencode's in either key order; a chat list with the same outer key is not."""
    data = compacted().data()
    turned = json.dumps(dict(reversed(json.loads(data).items()))).encode()
    assert sniff_format(MemorySource("x", data))[0][0].name == "opencode"
    assert sniff_format(MemorySource("x", turned))[0][0].name == "opencode"
    chat = b'{"messages": [{"role": "user", "content": "hi"}]}'
    assert read_transcript(MemorySource("x", chat)).format == "messages"

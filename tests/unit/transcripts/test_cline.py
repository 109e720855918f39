"""Cline conversations with the record of their latest compaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.lines.source import FileSource
from engine.load import load_inputs
from engine.review import hold
from engine.transcripts.cline import read_with_sidecar
from engine.transcripts.item import Kind
from engine.transcripts.options import ReadOptions
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import (
    Reason,
    RoundKind,
    Side,
    SideState,
    Transcript,
    rewritten_messages,
    round_difference,
    side_message_keys,
)
from engine.transcripts.views import RAW_MESSAGE, side_views
from tests.support.documents import cline_conversation, cline_message, cline_sidecar, document, read
from tests.support.sessions import notice_names, texts

# Computed once with Node.js over the tool's recipe, for the first four messages of `cline_conversation`.
PREFIX = "sha256:84d5e3508a21db1d4bb3e3df1d3a4fe7574c3116f98634dbee8cd24c9422a7a1"


def read_both(sidecar: Any, conversation: Any = None) -> Transcript:
    """Read a conversation with a record beside it."""
    source = document(conversation or cline_conversation(), "c1.messages.json")
    return read_with_sidecar(source, document(sidecar, "c1.compaction.json"), ReadOptions())


def test_a_record_with_count_and_fingerprint_gives_an_exact_round() -> None:
    """Pre is the compacted prefix, post the messages in its place, the context goes on with the rest."""
    found = read_both(cline_sidecar(source_message_count=4, source_prefix_hash=PREFIX))
    (round_,) = found.rounds
    assert (round_.pre.state, round_.pre.reasons, round_.post.state) == (SideState.EXACT, (), SideState.EXACT)
    assert texts(found, round_.pre) == [" one", "a.py\nbody", 'editor {"path"', "edited", "two"]
    assert texts(found, round_.post) == [" one", "earlier", "two"]
    assert texts(found, found.context) == [" one", "earlier", "two", "three", "four"]
    assert (round_.kind, round_.claimed.trigger) == (RoundKind.HISTORY_REPLACEMENT, "manual")
    assert (found.notices, len(found.sources), found.session) == ((), 2, "c1")


def test_a_message_kept_under_its_id_with_other_content_is_rewritten() -> None:
    """Equal blocks of it are kept, and the message as a whole is named; the raw view has the new message."""
    found = read_both(cline_sidecar(source_message_count=4))
    (round_,) = found.rounds
    assert rewritten_messages(found, round_) == ("m1",)
    assert [item.text for item in round_difference(found, round_).kept] == [" one: x ", "two: x"]
    assert len(side_message_keys(found, round_.post)) == 2
    assert side_views(found, round_.post)[RAW_MESSAGE] == cline_sidecar()["messages"]


def test_a_record_without_count_assumes_the_whole_conversation_and_says_so() -> None:
    """Public records lack the count; the side is not exact then."""
    found = read_both(cline_sidecar())
    (round_,) = found.rounds
    assert len(side_message_keys(found, round_.pre)) == 6
    assert round_.pre.state is SideState.PARTIAL
    assert round_.pre.reasons == (Reason.SOURCE_COUNT_ASSUMED, Reason.SOURCE_PREFIX_UNCHECKED)
    assert notice_names(found) == ["cline_prefix_unchecked"]


@pytest.mark.parametrize(
    ("fields", "reasons"),
    [
        ({"source_message_count": 4, "source_prefix_hash": "sha256:00"}, (Reason.SOURCE_PREFIX_MISMATCH,)),
        ({"source_message_count": 5, "source_prefix_hash": PREFIX}, (Reason.SOURCE_PREFIX_MISMATCH,)),
        ({"source_message_count": 7}, (Reason.SOURCE_PREFIX_MISMATCH,)),
        ({"source_message_count": 4, "sessionId": "other"}, (Reason.SOURCE_PREFIX_MISMATCH,)),
        ({"source_message_count": 4, "source_last_message_key": "id:m9"}, (Reason.SOURCE_PREFIX_MISMATCH,)),
        ({"source_message_count": 4, "source_last_message_key": "id:m4"}, (Reason.SOURCE_PREFIX_UNCHECKED,)),
        ({"source_message_count": 4}, (Reason.SOURCE_PREFIX_UNCHECKED,)),
    ],
)
def test_a_record_of_another_conversation_is_never_exact(fields: dict[str, Any], reasons: tuple[Reason, ...]) -> None:
    """What does not agree is named, and what cannot be compared is named as that."""
    pre = read_both(cline_sidecar(**fields)).rounds[0].pre
    assert (pre.state, pre.reasons) == (SideState.PARTIAL, reasons)


def test_a_wrapper_in_user_text_makes_the_fingerprint_unchecked() -> None:
    """The tool takes such wrappers out before it digests, differently by version: no guess is made."""
    conversation = cline_conversation()
    conversation["messages"][0]["content"][0]["text"] = "<user_input mode='act'>one</user_input>"
    found = read_both(cline_sidecar(source_message_count=4, source_prefix_hash=PREFIX), conversation)
    assert found.rounds[0].pre.reasons == (Reason.SOURCE_PREFIX_UNCHECKED,)


def test_a_summary_message_makes_a_summary_round() -> None:
    """The agentic strategy names its summary in the message's metadata."""
    facts = {"kind": "compaction_summary", "tokensBefore": 99}
    kept = [
        cline_message("s1", "user", "Context summary: x", metadata=facts),
        cline_message("m6", "assistant", "four: x"),
    ]
    found = read_both(cline_sidecar(messages=kept))
    (round_,) = found.rounds
    assert (round_.kind, round_.summary_key, round_.claimed.tokens_before) == (RoundKind.SUMMARY, "s1#0", 99)
    assert found.items["s1#0"].kind is Kind.SUMMARY


def test_a_record_alone_has_a_post_side_only() -> None:
    """What it compacted is not known, and the notice says which file has it."""
    found = read(cline_sidecar(), "c1.compaction.json")
    (round_,) = found.rounds
    assert (found.format, round_.pre.state, round_.pre.keys) == ("cline", SideState.ABSENT, ())
    assert round_.post.state is SideState.EXACT
    assert notice_names(found) == ["cline_source_not_given"]


def test_a_conversation_alone_has_no_round() -> None:
    """Nothing is invented."""
    found = read(cline_conversation())
    assert (found.format, found.rounds, found.notices) == ("cline", (), ())
    assert len(found.messages) == 6


def test_the_record_beside_a_conversation_on_disk_is_read_with_it(tmp_path: Path) -> None:
    """The two files differ in their ending; a link is not followed."""
    path = tmp_path / "c1.messages.json"
    path.write_text(json.dumps(cline_conversation()))
    beside = tmp_path / "c1.compaction.json"
    beside.write_text(json.dumps(cline_sidecar()))
    found = read_transcript(FileSource(path))
    assert (len(found.rounds), [file.name for file in found.sources]) == (1, [str(path), str(beside)])
    moved = beside.rename(tmp_path / "elsewhere.json")
    beside.symlink_to(moved)
    assert read_transcript(FileSource(path)).rounds == ()


def test_the_older_form_names_a_deleted_range(tmp_path: Path) -> None:
    """The first messages stay, the range goes; when it went is not stored, so no side is exact."""
    chat = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"m{n}: x"} for n in range(8)]
    path = tmp_path / "api_conversation_history.json"
    path.write_text(json.dumps(chat))
    events = tmp_path / "ui_messages.json"
    events.write_text(
        json.dumps([{"conversationHistoryDeletedRange": [2, 3]}, {"conversationHistoryDeletedRange": [2, 5]}, 7])
    )
    found = read_transcript(FileSource(path))
    (round_,) = found.rounds
    assert texts(found, round_.post) == ["m0", "m1", "m6", "m7"]
    assert (round_.kind, round_.pre.reasons) == (RoundKind.TRUNCATE, (Reason.SOURCE_COUNT_ASSUMED,))
    events.write_text(json.dumps([{"conversationHistoryDeletedRange": [2, 8]}]))
    found = read_transcript(FileSource(path))
    assert (found.rounds, notice_names(found)) == ((), ["cline_range_unusable"])


def test_several_records_of_a_session_are_alternatives(tmp_path: Path) -> None:
    """Records under other names belong by their session; each is a round over the same conversation."""
    path = tmp_path / "one.messages.json"
    path.write_text(json.dumps(cline_conversation()))
    for name, session in [("a", "c1"), ("b", "c1"), ("c", "another")]:
        record = {**cline_sidecar(source_message_count=4), "sessionId": session}
        (tmp_path / f"{name}.compaction.json").write_text(json.dumps(record))
    found = read_transcript(FileSource(path))
    first, second = found.rounds
    assert (first.index, second.index) == (1, 2)
    assert first.pre.keys == second.pre.keys
    assert len(found.sources) == 3
    assert len(side_message_keys(found, Side(found.context, SideState.EXACT))) == 6
    assert "cline_alternatives" in notice_names(found)


def test_a_record_finds_its_conversation_beside_it(tmp_path: Path) -> None:
    """Opening the record gives the same round as opening the conversation."""
    path = tmp_path / "c1.messages.json"
    path.write_text(json.dumps(cline_conversation()))
    record = tmp_path / "basic.compaction.json"
    record.write_text(json.dumps(cline_sidecar(source_message_count=4, source_prefix_hash=PREFIX)))
    assert read_transcript(FileSource(record)).rounds == read_transcript(FileSource(path)).rounds
    assert read_transcript(FileSource(record)).rounds[0].pre.state is SideState.EXACT


def test_a_damaged_record_beside_a_conversation_is_a_notice(tmp_path: Path) -> None:
    """A record that is cut off, or no object, never fails the conversation."""
    path = tmp_path / "c1.messages.json"
    path.write_text(json.dumps(cline_conversation()))
    (tmp_path / "c1.compaction.json").write_text('{"version": 1, "messages": [')
    (tmp_path / "d.compaction.json").write_text("[]")
    found = read_transcript(FileSource(path))
    assert found.rounds == ()
    assert notice_names(found) == ["cline_sibling_unreadable", "cline_sibling_unreadable"]


def test_a_folder_counts_the_round_of_a_conversation_once(tmp_path: Path) -> None:
    """The record and its conversation find each other; both readings are one compaction."""
    for name in ("c1", "c2"):
        (tmp_path / f"{name}.messages.json").write_text(json.dumps({**cline_conversation(), "sessionId": name}))
        (tmp_path / f"{name}.compaction.json").write_text(json.dumps({**cline_sidecar(), "sessionId": name}))
    held = hold(load_inputs([tmp_path]))
    assert [(read.session, len(read.rounds)) for _, read in held.transcripts] == [("c1", 1), ("c2", 1)]
    assert [len(read.sources) for _, read in held.transcripts] == [2, 2]

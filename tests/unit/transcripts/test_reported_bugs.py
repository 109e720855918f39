"""Failures that users of other readers reported, numbered as in the product notes; each on a small file of our own.

Numbers 18 and the array form of 23 for message lists are tested with the formats they belong to.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from engine.errors import LimitError
from engine.findings import CancelledError, Progress
from engine.lines.source import MemorySource
from engine.transcripts.item import Flag, Kind
from engine.transcripts.options import TranscriptLimits
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import Reason, RoundKind, Side, SideState, Transcript, round_difference
from engine.transcripts.views import side_views
from tests.support.sessions import (
    SUMMARY_TEXT,
    ClaudeSession,
    CodexSession,
    PiSession,
    codex_message,
    counts,
    notice_names,
    texts,
)


def read(data: bytes, **limits: int) -> Transcript:
    """Read bytes as a session file."""
    return read_transcript(MemorySource("session.jsonl", data), limits=TranscriptLimits(**limits))


def two_rounds() -> ClaudeSession:
    """Write a session with two compactions."""
    session = ClaudeSession()
    session.chat("1", "2")
    session.boundary("b1", preTokens=50)
    session.summary("s1")
    session.chat("3")
    session.boundary("b2", preTokens=50)
    session.summary("s2", "second summary")
    session.chat("4")
    return session


def without_row(session: ClaudeSession, uuid: str, replacement: bytes) -> bytes:
    """Return the file with the line of one row replaced."""
    lines = session.data().split(b"\n")
    return b"\n".join(replacement if f'"uuid": "{uuid}"'.encode() in line else line for line in lines)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085"])
def test_bug_01_unicode_separators_do_not_split_a_row(separator: str) -> None:
    """A separator inside a string leaves one record."""
    session = ClaudeSession()
    session.user("u1", f"prompt 1: a{separator}b")
    session.says("a1", "answer 1: x")
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in session.rows).encode()
    found = read(data)
    assert [item.text for item in found.items.values()] == [f"prompt 1: a{separator}b", "answer 1: x"]
    assert found.notices == ()


@pytest.mark.parametrize("surrogate", ["\\ud83d", "\\udc80"])
def test_bug_02_a_lone_surrogate_has_a_stable_digest_and_a_shown_form(surrogate: str) -> None:
    """It loads, is shown as U+FFFD, digests stably and apart from another one, and can be exported."""
    session = ClaudeSession()
    session.user("u1", "MARK")
    data = session.data().replace(b"MARK", surrogate.encode())
    first, again = read(data), read(data)
    item = first.items["u1#0"]
    assert item.text == "\N{REPLACEMENT CHARACTER}"
    assert item.digest == again.items["u1#0"].digest
    assert item.digest != read(session.data().replace(b"MARK", b"\\ud800")).items["u1#0"].digest
    assert "raw-message" not in side_views(first, _all(first))
    json.dumps([i.text for i in first.items.values()], ensure_ascii=False).encode("utf-8")


def _all(transcript: Transcript) -> Side:
    """Return the last context as a side."""
    return Side(transcript.context, SideState.EXACT)


def test_bug_03_a_nul_run_costs_only_its_row() -> None:
    """Rows before and after the run are kept, the line is named, and the round says what it lacks."""
    found = read(without_row(two_rounds(), "a-1", b"\0" * 300))
    assert [(f.code.name, f.line) for f in found.notices if f.code.name == "transcript_nul_run"] == [
        ("transcript_nul_run", 2)
    ]
    assert texts(found, found.rounds[0].pre) == ["prompt 1", "prompt 2", "answer 2"]
    assert Reason.REPAIRED_PATH in found.rounds[0].pre.reasons


def test_bug_04_truncated_lines_never_fail_the_file() -> None:
    """A cut line in the middle and a cut last line are left out with a notice each."""
    data = without_row(two_rounds(), "a-1", b'{"type":"assistant","uuid":"a-1","mess')
    found = read(data + b'{"type":"user","uuid":"u-9","parentUu')
    assert [(f.code.name, f.line) for f in found.notices if f.code.name.startswith("transcript_line_")] == [
        ("transcript_line_unreadable", 2),
        ("transcript_line_unfinished", 13),
    ]
    assert Reason.LINES_UNREADABLE in found.rounds[0].pre.reasons
    assert len(found.rounds) == 2


def test_bug_05_the_second_record_on_a_line_is_recovered() -> None:
    """A record cut off by another gives way to the whole one."""
    session = two_rounds()
    lines = session.data().split(b"\n")
    lines[1] = b'{"type":"progress","data":"cut <truncated>' + lines[1]
    found = read(b"\n".join(lines))
    assert counts(found, found.rounds[0]) == (4, 1)
    assert Flag.REPAIRED in found.items["a-1#0"].flags
    assert "transcript_record_recovered" in notice_names(found)


def test_bug_06_a_raw_line_break_in_a_string_makes_no_wrong_record() -> None:
    """Both halves are joined again and the item says so."""
    session = two_rounds()
    data = session.data().replace(b"answer 1: words", b"answer 1: wo\nrds")
    found = read(data)
    assert counts(found, found.rounds[0]) == (4, 1)
    assert "wo\nrds" in found.items["a-1#0"].text
    assert "transcript_lines_joined" in notice_names(found)


def test_bug_07_a_line_over_the_limit_is_named_and_an_image_inside_it_is_digested() -> None:
    """A long line costs a notice with size and digest; an image within the limit is an item without its bytes."""
    session = two_rounds()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 300_000}}
    session.user("i1", [image])
    data = session.data()
    inside, outside = read(data), read(data, line_bytes=100_000)
    assert inside.items["i1#0"].kind is Kind.IMAGE
    assert inside.items["i1#0"].size < 300
    (notice,) = [f for f in outside.notices if f.code.name == "transcript_line_too_long"]
    line = data.split(b"\n")[int(notice.line or 0) - 1]
    assert notice.claimed == f"{len(line)} bytes"
    assert notice.found.endswith(hashlib.sha256(line).hexdigest())
    assert "i1#0" not in outside.items


def test_bug_08_repeated_histories_share_their_items_and_a_large_file_is_refused() -> None:
    """A snapshot equal to the context adds no items; a file above the declared size is refused by name."""
    session = CodexSession()
    for number in range(20):
        session.user(f"prompt {number}: x")
    history = [row["payload"] for row in session.rows if row["type"] == "response_item"]
    for number in range(50):
        session.event(
            "compacted", message="", replacement_history=[*history, {"type": "compaction", "id": str(number)}]
        )
    found = session.read()
    assert len(found.rounds) == 50
    assert len(found.items) == 20 + 50
    with pytest.raises(LimitError, match="file_bytes"):
        read(session.data(), file_bytes=1000)


def test_bug_09_unknown_rows_and_changed_shapes_are_counted() -> None:
    """Unknown types, blocks and shapes are opaque, never a failure."""
    session = two_rounds()
    session.add(type="telemetry", x=1)
    session.add(type="telemetry", x=2)
    session.add(type=["odd"], uuid=7, message=3)
    session.row("user", "u9", message={"role": "user", "content": [{"type": "hologram", "v": 1}, 5, None]})
    session.row("assistant", "a9", message="not an object")
    found = session.read()
    assert "telemetry: 2" in [f.found for f in found.notices]
    assert found.items["u9#0"].kind is Kind.OPAQUE
    assert [counts(found, r) for r in found.rounds] == [(4, 1), (3, 1)]


def test_bug_10_blocks_of_one_answer_are_merged_and_repeated_ids_are_not_mixed_up() -> None:
    """No block is lost, and an id that comes again behind a gateway does not pull in rewound rows."""
    session = ClaudeSession()
    session.user("u1", "prompt 1: x")
    session.says("a1", "part one: x", message="m1")
    session.says("a2", "part two: x", message="m1", parent="u1")
    session.user("u2", "prompt 2: x", parent="a2")
    session.says("w1", "rewound: x", message="m2")
    session.user("u3", "prompt 3: x", parent="a2")
    session.says("a3", "other: x", message="m3")
    session.says("a4", "again m2: x", message="m2")
    found = session.read()
    assert texts(found, found.context) == ["prompt 1", "part one", "part two", "prompt 3", "other", "again m2"]


def test_bug_11_rows_appended_again_change_nothing() -> None:
    """The first of each uuid wins; rounds and sides are the same; the number is noted."""
    plain = two_rounds()
    again = ClaudeSession()
    again.rows = [*plain.rows[:8], *plain.rows[:8], *plain.rows[8:]]
    before, after = plain.read(), again.read()
    assert [(r.pre.keys, r.post.keys) for r in after.rounds] == [(r.pre.keys, r.post.keys) for r in before.rounds]
    (notice,) = [f for f in after.notices if f.code.name == "transcript_repeated_rows"]
    assert notice.found == "8 rows, 8 ids"


def test_bug_12_rows_copied_from_the_parent_session_are_flagged() -> None:
    """A resumed or forked file names its parent and flags what it copied."""
    session = ClaudeSession("new")
    session.session = "old"
    session.chat("1")
    session.session = "new"
    session.chat("2")
    session.user("f1", "forked: x", forkedFrom={"sessionId": "older", "messageUuid": "z"})
    found = session.read()
    assert (found.session, found.parent_session) == ("new", "old")
    assert [key for key, item in found.items.items() if Flag.COPIED in item.flags] == ["u-1#0", "a-1#0", "f1#0"]
    assert [(f.claimed, f.found) for f in found.notices if f.code.name == "transcript_copied_rows"] == [
        ("old", "2"),
        ("older", "1"),
    ]


def test_bug_13_parallel_tool_calls_are_not_lost() -> None:
    """Results that hang on a sibling of the path come back by the call they answer."""
    session = ClaudeSession()
    session.user("u1", "go: x")
    session.calls("c1", "t1", message="m1")
    session.calls("c2", "t2", message="m1", parent="c1")
    session.answers("r1", "t1", "out 1: x", parent="c1")
    session.answers("r2", "t2", "out 2: x", parent="c2")
    session.says("a1", "done: x", parent="r2")
    found = session.read()
    assert texts(found, found.context) == ["go", 'Read {"path"', 'Read {"path"', "out 1", "out 2", "done"]


def test_bug_14_a_dangling_parent_is_joined_by_file_order_and_said() -> None:
    """The path goes on with the row before; side, notice and item say that it was repaired."""
    session = ClaudeSession()
    session.chat("1")
    session.user("u-2", "prompt 2: x", parent="gone", logicalParentUuid="gone too")
    session.says("a-2", "answer 2: x")
    session.boundary("b1", preTokens=10)
    session.summary("s1")
    found = session.read()
    assert counts(found, found.rounds[0])[0] == 4
    assert Reason.REPAIRED_PATH in found.rounds[0].pre.reasons
    assert Flag.REPAIRED in found.items["u-2#0"].flags
    assert [f.line for f in found.notices if f.code.name == "transcript_parent_missing"] == [3]


def test_bug_15_old_history_is_not_pulled_into_post() -> None:
    """A preserved segment that cannot be linked stops at the boundary."""
    session = ClaudeSession()
    session.chat("1", "2")
    session.boundary("b1", preTokens=50, postTokens=9, preservedMessages={"uuids": ["lost-1", "lost-2"]})
    session.summary("s1")
    session.user("u-3", "prompt 3: x", parent="a-2")
    session.says("a-3", "answer 3: x")
    session.boundary("b2", preTokens=10)
    session.summary("s2", "second summary")
    found = session.read()
    assert texts(found, found.rounds[0].post) == [SUMMARY_TEXT]
    assert Reason.PRESERVED_UNRESOLVED in found.rounds[0].post.reasons
    assert texts(found, found.rounds[1].pre) == [SUMMARY_TEXT, "prompt 3", "answer 3"]
    assert Reason.REPAIRED_PATH in found.rounds[1].pre.reasons


def test_bug_16_a_summary_is_no_prompt_and_a_title_is_no_round() -> None:
    """The summary row has its own kind; title rows are no compaction."""
    session = two_rounds()
    session.rows.insert(0, {"type": "summary", "summary": "A title", "leafUuid": "a-2"})
    found = session.read()
    assert len(found.rounds) == 2
    assert [i.key for i in found.items.values() if i.kind is Kind.SUMMARY] == ["s1#0", "s2#0"]
    assert not any("A title" in item.text for item in found.items.values())


def test_bug_17_the_whole_history_stays_readable() -> None:
    """Items before a boundary are in the transcript; the context is given apart."""
    found = two_rounds().read()
    assert {"u-1#0", "a-2#0", "u-3#0"} <= set(found.items)
    assert texts(found, found.context) == ["second summary", "prompt 4", "answer 4"]


def test_bug_20_deep_nesting_and_cycles_end() -> None:
    """A deep row is a notice, a chain of 20,000 parents is walked, a cycle is cut."""
    session = two_rounds()
    deep = b'{"type":"user","uuid":"d","parentUuid":null,"message":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}\n"
    assert "transcript_line_too_deep" in notice_names(read(session.data() + deep))
    long = ClaudeSession()
    for number in range(20_000):
        long.user(f"u{number}", "x")
    assert len(long.read().context) == 20_000
    circle = ClaudeSession()
    circle.user("u1", "one: x", parent="u3")
    circle.user("u2", "two: x", parent="u1")
    circle.user("u3", "three: x", parent="u2")
    found = circle.read()
    assert texts(found, found.context) == ["one", "two", "three"]
    assert "transcript_parent_cycle" in notice_names(found)


def test_bug_21_times_order_nothing() -> None:
    """Missing and placeholder times are None; rows out of time order keep file order."""
    session = ClaudeSession()
    session.user("u1", "one: x", timestamp="2030-01-01T00:00:00Z")
    session.says("a1", "two: x", timestamp="[trimmed for fixture]")
    session.user("u2", "three: x", timestamp="1999-01-01T00:00:00Z")
    session.says("a2", "four: x", timestamp=None)
    found = session.read()
    assert texts(found, found.context) == ["one", "two", "three", "four"]
    assert [found.items[key].time for key in found.context] == [
        "2030-01-01T00:00:00Z",
        None,
        "1999-01-01T00:00:00Z",
        None,
    ]


def test_bug_22_two_hundred_rounds_are_read() -> None:
    """A session of 211 compactions gives 211 rounds, each with its own pre and post."""
    session = ClaudeSession()
    for number in range(211):
        session.chat(f"{number}.1", f"{number}.2")
        session.boundary(f"b{number}", preTokens=10)
        session.summary(f"s{number}", f"summary {number}: x")
    found = session.read()
    assert [r.index for r in found.rounds] == list(range(1, 212))
    assert {counts(found, r) for r in found.rounds[1:]} == {(5, 1)}
    assert all(len(round_difference(found, r).dropped) == 5 for r in found.rounds[1:])


@pytest.mark.parametrize(
    ("damage", "notice"),
    [
        (lambda data: b"\xef\xbb\xbf" + data, "transcript_byte_order_mark"),
        (lambda data: data.replace(b"\n", b"\r\n"), None),
        (lambda data: data.decode().encode("utf-16"), "transcript_transcoded"),
        (lambda data: data.decode().encode("utf-16-be"), "transcript_transcoded"),
        (lambda data: b"[" + data.strip().replace(b"\n", b",\n") + b"]", "transcript_single_array"),
    ],
)
def test_bug_23_encodings_and_framings_give_the_same_rounds(damage: Any, notice: str | None) -> None:
    """Byte order marks, CR LF, UTF-16 and one array read as the plain file does, and say so."""
    session = two_rounds()
    plain, found = session.read(), read(damage(session.data()))
    assert [(r.pre.keys, r.post.keys) for r in found.rounds] == [(r.pre.keys, r.post.keys) for r in plain.rounds]
    assert [i.digest for i in found.items.values()] == [i.digest for i in plain.items.values()]
    assert notice is None or notice in notice_names(found)


def test_bug_23_latin1_is_flagged_and_an_empty_file_says_so() -> None:
    """A lossy decode is on the item; an empty file is a transcript without rows, when its format is named."""
    session = ClaudeSession()
    session.user("u1", "MARK")
    found = read(session.data().replace(b"MARK", "Grüße".encode("latin-1")))
    assert found.items["u1#0"].flags == {Flag.LOSSY_DECODE}
    empty = read_transcript(MemorySource("e.jsonl", b""), format="claude-code")
    assert notice_names(empty) == ["transcript_empty_file"]


def test_progress_is_told_and_a_cancel_is_heard() -> None:
    """A long read reports bytes and stops when asked."""
    seen: list[Progress] = []
    source = MemorySource("s.jsonl", two_rounds().data())
    read_transcript(source, on_progress=seen.append)
    assert seen[0].total == source.size()
    with pytest.raises(CancelledError):
        read_transcript(source, is_cancelled=lambda: True)


def test_the_same_file_gives_the_same_keys_and_digests() -> None:
    """Two readings agree in every key, digest and side."""
    for session in (two_rounds(), CodexSession(), PiSession()):
        first, second = session.read(), session.read()
        assert first == second


def test_a_codex_snapshot_with_other_metadata_keeps_its_items() -> None:
    """Metadata is not content: the copy is kept, not dropped and introduced."""
    session = CodexSession()
    session.user("one: x", internal_chat_message_metadata_passthrough={"turn_id": "a"})
    session.event("compacted", message="", replacement_history=[codex_message("user", "one: x")])
    found = session.read()
    assert found.rounds[0].kind is RoundKind.HISTORY_REPLACEMENT
    assert round_difference(found, found.rounds[0]).dropped == ()

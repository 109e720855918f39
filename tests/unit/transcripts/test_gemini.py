"""Gemini CLI sessions in both forms."""

from __future__ import annotations

from engine.transcripts.item import Flag, Kind
from engine.transcripts.rounds import RoundKind, SideState, round_difference
from tests.support.documents import gemini_compacted, gemini_document, gemini_log, gemini_message, read
from tests.support.sessions import notice_names, texts


def test_the_document_form_has_messages_and_no_round() -> None:
    """Notices shown to the user are no context; thoughts, text, calls and results are."""
    found = read(gemini_document())
    assert (found.format, found.session, found.rounds, found.notices) == ("gemini", "g1", (), ())
    kinds = [found.items[key].kind for key in found.context]
    assert kinds == [Kind.PROMPT, Kind.THINKING, Kind.REPLY, Kind.TOOL_CALL, Kind.TOOL_RESULT]
    assert texts(found, found.context)[-1] == "out"


def test_a_replacement_that_loses_messages_is_a_round() -> None:
    """Pre is what stood there with its latest versions, post is the list as written."""
    found = gemini_log().read()
    (round_,) = found.rounds
    assert (round_.kind, round_.line) == (RoundKind.SUMMARY, 7)
    assert (round_.pre.state, round_.post.state) == (SideState.EXACT, SideState.EXACT)
    assert texts(found, round_.pre) == ["one", "two", "ls {}", "three"]
    assert texts(found, round_.post) == ["<state_snapshot>sum", "Got it. Thanks for the additional context!", "three"]
    assert round_.summary_key == "s1#0"
    assert [item.text for item in round_difference(found, round_).kept] == ["three: x"]
    assert texts(found, found.context)[-1] == "four"
    assert notice_names(found) == ["transcript_untested_format"]


def test_a_replacement_that_repeats_or_completes_is_no_round() -> None:
    """The tool also writes the whole list when it starts, and when a result arrives."""
    session = gemini_log()
    same = [gemini_message("m1", "user", "one: x"), gemini_message("m2", "gemini", "two: x", toolCalls=[{"name": "b"}])]
    session.rows[3:] = [{"$set": {"messages": same}}]
    found = session.read()
    assert (found.rounds, texts(found, found.context)) == ((), ["one", "two", "b null"])


def test_a_replacement_without_summary_is_a_truncation_or_a_rewriting() -> None:
    """Nothing is called a summary that is none."""
    session = gemini_log()
    session.rows[6] = {"$set": {"messages": gemini_compacted()[2:]}}
    assert [r.kind for r in session.read().rounds] == [RoundKind.TRUNCATE]
    session.rows[6] = {"$set": {"messages": [gemini_message("m1", "user", "other: x")]}}
    found = session.read()
    assert [r.kind for r in found.rounds] == [RoundKind.HISTORY_REPLACEMENT]
    assert len(round_difference(found, found.rounds[0]).rewritten) == 1


def test_a_rewind_takes_its_target_and_all_after_it_away() -> None:
    """The messages stay readable, outside the context."""
    session = gemini_log()
    session.rows[6:] = [{"$rewindTo": "m2"}]
    found = session.read()
    assert (found.rounds, texts(found, found.context)) == ((), ["one"])
    assert Flag.OFF_PATH in found.items["m3#0"].flags
    assert notice_names(found) == ["gemini_rewound"]


def test_a_rewind_to_an_unknown_message_empties_the_context() -> None:
    """The tool does so, and the reader says so."""
    session = gemini_log()
    session.rows[6:] = [{"$rewindTo": "zz"}]
    found = session.read()
    assert (found.context, notice_names(found)) == ((), ["gemini_rewound_unknown"])


def test_bug_09_unknown_rows_and_types_are_counted() -> None:
    """A new row type does not stop the reading."""
    session = gemini_log()
    session.rows.insert(3, {"$patch": 1})
    session.rows.insert(3, gemini_message("m9", "telepathy", "x"))
    found = session.read()
    assert len(found.rounds) == 1
    assert [(f.line, f.found) for f in found.notices if f.code.name == "transcript_unknown_rows"] == [
        (4, "telepathy: 1"),
        (5, "$patch: 1"),
    ]


def test_bug_22_two_hundred_rounds_stay_linear_in_number() -> None:
    """Each replacement gives one round and the items do not repeat."""
    session = gemini_log()
    for number in range(211):
        session.rows.append(gemini_message(f"x{number}", "user", f"more{number}: x"))
        session.rows.append({"$set": {"messages": gemini_compacted()}})
    found = session.read()
    assert [r.index for r in found.rounds] == list(range(1, 213))
    assert len(found.items) < 230

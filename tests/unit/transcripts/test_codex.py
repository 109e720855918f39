"""Rounds of Codex sessions."""

from __future__ import annotations

from engine.transcripts.item import Flag, Kind
from engine.transcripts.rounds import Reason, RoundKind, SideState, round_difference
from tests.support.sessions import CodexSession, codex_message, counts, notice_names, texts

LOCAL = "Another language model started to solve this problem and produced a summary.\nKeep rule 7."


def test_a_remote_compaction_is_exact_before_and_opaque_after() -> None:
    """Kept prompts are equal although the snapshot adds metadata; the encrypted summary cannot be read."""
    session = CodexSession()
    session.user("one: x", internal_chat_message_metadata_passthrough={"turn_id": "t1"})
    session.says("answer one: x")
    session.event("event_msg", type="agent_message", message="answer one: x")
    history = [
        {**codex_message("user", "one: x"), "internal_chat_message_metadata_passthrough": {"turn_id": "t9"}},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"},
    ]
    session.event("compacted", message="", replacement_history=history, window_number=1)
    session.event("event_msg", type="context_compacted")
    session.user("two: x")
    found = session.read()
    (round_,) = found.rounds
    assert counts(found, round_) == (2, 2)
    assert round_.kind is RoundKind.HISTORY_REPLACEMENT
    assert (round_.pre.state, round_.post.state) == (SideState.EXACT, SideState.OPAQUE)
    assert round_.post.reasons == (Reason.SUMMARY_ENCRYPTED,)
    assert round_.summary_key is not None
    assert found.items[round_.summary_key].kind is Kind.OPAQUE
    difference = round_difference(found, round_)
    assert [i.text for i in difference.kept] == ["one: x"]
    assert [i.text for i in difference.dropped] == ["answer one: x"]
    assert texts(found, found.context)[-1] == "two"


def test_a_local_compaction_is_exact_on_both_sides() -> None:
    """The summary is the user message that carries the text of the record."""
    session = CodexSession()
    session.user("one: x")
    session.says("answer one: x")
    history = [codex_message("user", "one: x"), codex_message("user", LOCAL)]
    session.event("compacted", message=LOCAL, replacement_history=history)
    found = session.read()
    (round_,) = found.rounds
    assert (round_.pre.state, round_.post.state) == (SideState.EXACT, SideState.EXACT)
    assert round_.claimed.method == "local"
    assert found.items[str(round_.summary_key)].kind is Kind.SUMMARY
    assert round_.index == 1


def test_a_summary_without_the_usual_opening_is_found_by_its_text() -> None:
    """The record carries the text; the entry that holds it is the summary."""
    session = CodexSession()
    session.user("one: x")
    history = [codex_message("user", "my own words"), codex_message("user", "one: x")]
    session.event("compacted", message="my own words", replacement_history=history)
    found = session.read()
    assert found.items[str(found.rounds[0].summary_key)].text == "my own words"
    assert found.rounds[0].post.state is SideState.EXACT


def test_a_second_session_row_names_the_parent() -> None:
    """A fork repeats the parent's first row behind its own."""
    session = CodexSession()
    session.event("session_meta", id="c0", cli_version="0.1")
    session.event("session_meta", id="c1", cli_version="0.2")
    found = session.read()
    assert (found.session, found.parent_session, found.tool_version) == ("c1", "c0", "0.142.2")
    assert [(f.code.name, f.claimed) for f in found.notices] == [("transcript_copied_rows", "c0")]


def test_an_old_record_without_history_is_rebuilt_and_partial() -> None:
    """Newest prompts inside the budget, no session prefixes, the summary last."""
    session = CodexSession()
    session.user("<environment_context>cwd</environment_context>")
    session.user("old: " + "a" * 90_000)
    session.user("new: x")
    session.says("answer: x")
    session.event("compacted", message=LOCAL)
    found = session.read()
    (round_,) = found.rounds
    assert round_.post.state is SideState.PARTIAL
    assert Reason.LEGACY_REBUILD in round_.post.reasons
    assert texts(found, round_.post)[1:] == ["new", LOCAL]
    cut = found.items[round_.post.keys[0]]
    assert Flag.REPAIRED in cut.flags
    assert 79_000 < len(cut.text) < 81_000


def test_a_history_without_its_summary_says_so() -> None:
    """A sanitiser removed the summary item: old prompts alone are no exact post."""
    session = CodexSession()
    session.user("one: x")
    session.event("compacted", message="", replacement_history=[codex_message("user", "one: x")])
    found = session.read()
    assert found.rounds[0].post.reasons == (Reason.SUMMARY_MISSING,)


def test_a_rollback_drops_user_turns() -> None:
    """Rolled back turns leave the context and are flagged."""
    session = CodexSession()
    for name in ("one", "two", "three"):
        session.user(f"{name}: x")
        session.says(f"answer {name}: x")
    session.event("event_msg", type="thread_rolled_back", num_turns=2)
    session.user("four: x")
    found = session.read()
    assert texts(found, found.context) == ["one", "answer one", "four"]
    assert Flag.OFF_PATH in next(i for i in found.items.values() if i.text == "two: x").flags
    assert "codex_rolled_back" in notice_names(found)


def test_reasoning_is_opaque_and_calls_and_outputs_are_items() -> None:
    """Encrypted reasoning has a digest and no text; a call and its output have both."""
    session = CodexSession()
    session.user("one: x")
    session.item(type="reasoning", id="rs_1", summary=[], encrypted_content="gAAA")
    session.item(type="function_call", id="fc_1", name="exec", arguments='{"cmd":"ls"}', call_id="k1")
    session.item(type="function_call_output", call_id="k1", output="file: a")
    session.item(type="ghost_snapshot", ghost_commit={})
    found = session.read()
    kinds = [found.items[key].kind for key in found.context]
    assert kinds == [Kind.PROMPT, Kind.OPAQUE, Kind.TOOL_CALL, Kind.TOOL_RESULT]
    assert found.items["fc_1#0"].text == 'exec {"cmd":"ls"}'


def test_redacted_summaries_of_two_rounds_stay_apart() -> None:
    """Where the encrypted text was redacted, the id still tells two summaries apart."""
    session = CodexSession()
    session.user("one: x")
    for name in ("cmp_1", "cmp_2"):
        item = {"type": "compaction", "id": name, "encrypted_content": "REDACTED"}
        session.event("compacted", message="", replacement_history=[codex_message("user", "one: x"), item])
    found = session.read()
    assert len(round_difference(found, found.rounds[1]).introduced) == 1


def test_history_references_are_resolved_or_noted() -> None:
    """A history may name an item by id; an unknown id is a reason, not an invention."""
    session = CodexSession()
    session.user("one: x", id="msg_1")
    entries = [{"item_id": "msg_1"}, {"item_id": "gone"}, {"item": {"type": "compaction", "encrypted_content": "g"}}]
    session.event("compacted", message="", replacement_history_entries=entries)
    found = session.read()
    assert found.rounds[0].post.keys[0] == "msg_1#0"
    assert Reason.TAIL_UNRESOLVED in found.rounds[0].post.reasons


def test_tokens_before_and_after_are_claims_of_the_log() -> None:
    """The token counts around the record become claims."""
    session = CodexSession()
    session.user("one: " + "x" * 200)
    session.event("event_msg", type="token_count", info={"last_token_usage": {"total_tokens": 90}})
    session.event("compacted", message=LOCAL, replacement_history=[codex_message("user", LOCAL)])
    for tokens in (12, 99):
        session.event("event_msg", type="token_count", info={"last_token_usage": {"total_tokens": tokens}})
    claimed = session.read().rounds[0].claimed
    assert (claimed.tokens_before, claimed.tokens_after) == (90, 12)


def test_rows_of_the_oldest_files_are_items_themselves() -> None:
    """Files from before the envelope hold the items bare."""
    session = CodexSession()
    session.rows = [
        {"id": "c0", "timestamp": "2025-05-01T00:00:00Z", "instructions": None},
        {"record_type": "state"},
        codex_message("user", "one: x"),
        codex_message("assistant", "answer: x"),
    ]
    found = session.read()
    assert (found.format, found.session) == ("codex", "c0")
    assert texts(found, found.context) == ["one", "answer"]

"""Views of a side for receipts."""

from __future__ import annotations

from engine.digests import item_digest
from engine.transcripts.rounds import Side, SideState
from engine.transcripts.views import CANONICAL_ITEM, PLAIN_TEXT, RAW_MESSAGE, side_views
from tests.support.sessions import ClaudeSession, CodexSession, codex_message


def test_canonical_items_digest_to_the_items_own_digests() -> None:
    """A receipt over this view names exactly the digests of the items, surrogates included."""
    session = ClaudeSession()
    session.user("u1", "one \ud83d")
    session.calls("c1", "t1")
    found = session.read()
    view = side_views(found, Side(found.context, SideState.EXACT))[CANONICAL_ITEM]
    assert [item_digest(entry).digest for entry in view] == [found.items[key].digest for key in found.context]


def test_raw_messages_are_the_objects_of_the_file() -> None:
    """One object for one message, as the tool wrote it; a message of two blocks is one."""
    session = ClaudeSession()
    session.chat("1")
    session.says("a2", "text: x", {"type": "tool_use", "id": "t", "name": "Read", "input": {}})
    session.boundary("b1")
    session.summary("s1")
    found = session.read()
    views = side_views(found, found.rounds[0].pre)
    assert views[RAW_MESSAGE] == [row["message"] for row in session.rows[:3]]
    assert len(views[PLAIN_TEXT]) == 4


def test_a_cleared_result_stands_in_its_message() -> None:
    """After a micro-compaction the raw view holds the message with the placeholder."""
    session = ClaudeSession()
    session.calls("c1", "t1")
    session.answers("r1", "t1", "out: x")
    session.row("system", "m1", subtype="microcompact_boundary", microcompactMetadata={"compactedToolIds": ["t1"]})
    found = session.read()
    raw = side_views(found, found.rounds[0].post)[RAW_MESSAGE]
    assert raw[1]["content"][0]["content"] == "[Old tool result content cleared]"
    assert raw[1]["content"][0]["tool_use_id"] == "t1"


def test_a_part_of_a_message_has_no_raw_view() -> None:
    """A side that holds one block of two must not pass for the whole message."""
    session = ClaudeSession()
    session.says("a1", "one: x", "two: x")
    found = session.read()
    assert RAW_MESSAGE not in side_views(found, Side(found.context[:1], SideState.EXACT))
    assert RAW_MESSAGE in side_views(found, Side(found.context, SideState.EXACT))


def test_items_without_text_are_left_out_of_the_plain_view() -> None:
    """Encrypted content has no text to digest."""
    session = CodexSession()
    session.user("one: x")
    history = [codex_message("user", "one: x"), {"type": "compaction", "encrypted_content": "g"}]
    session.event("compacted", message="", replacement_history=history)
    found = session.read()
    views = side_views(found, found.rounds[0].post)
    assert views[PLAIN_TEXT] == ["one: x"]
    assert views[RAW_MESSAGE] == history

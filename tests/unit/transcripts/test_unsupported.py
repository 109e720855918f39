"""Formats that are known and not read are refused by name."""

from __future__ import annotations

import json

import pytest

from engine.errors import UsageError
from engine.lines.source import MemorySource
from engine.transcripts.reader import read_transcript
from engine.transcripts.unsupported import unsupported_format


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'{"role": "user", "message": {"content": []}}\n', "Cursor chat"),
        (b'{"type": "session_start", "id": "d1", "title": "x"}\n', "Droid session"),
        (b'{"type": "metadata", "protocol_version": "1.4"}\n', "Kimi wire log"),
        (b"\n# aider chat started at 2026-01-02 03:04:05\n", "aider chat history"),
        (b'{"requesterUsername": "x", "requests": []}', "VS Code chat session"),
        (b'{"agent_type": "memgpt", "in_context_message_ids": []}', "agent file"),
        (b'[{"conversations": [{"from": "human", "value": "x"}]}]', "shared conversation"),
        (b"SQLite format 3\x00\x10\x00", "SQLite database"),
        (b"PK\x03\x04\x14\x00", "zip archive"),
    ],
)
def test_each_is_named_with_a_sentence_and_a_way_out(head: bytes, name: str) -> None:
    """The refusal says what the file is, why it is not read, and what to do."""
    with pytest.raises(UsageError) as caught:
        read_transcript(MemorySource("s", head))
    assert caught.value.code == "format_not_supported"
    assert f"found a {name}: " in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("head", [b"", b"\xff", b"[" * 9000, b'{"role": []}', b'{"role": "user"}', b"plain text"])
def test_anything_else_is_only_not_recognised(head: bytes) -> None:
    """No name is guessed."""
    assert unsupported_format(head) is None
    with pytest.raises(UsageError) as caught:
        read_transcript(MemorySource("s", head))
    assert caught.value.code == "format_not_recognised"


def test_a_message_list_may_stand_behind_other_fields() -> None:
    """Session facts before the list, nested ones too; a row with an unknown role and no content is counted only."""
    value = {
        "session_id": "h",
        "tags": ["a"],
        "messages": [{"role": "user", "content": "hi"}, {"role": "session_meta"}],
    }
    found = read_transcript(MemorySource("s.json", json.dumps(value, indent=2).encode()))
    assert (found.format, len(found.context)) == ("messages", 1)
    assert [(f.code.name, f.found) for f in found.notices] == [("transcript_unknown_rows", "session_meta: 1")]

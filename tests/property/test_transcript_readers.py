"""Any bytes give a transcript or a named refusal."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.transcripts.reader import READERS
from tests.support.documents import cline_conversation, cline_sidecar, gemini_document, gemini_log, qwen_log, trajectory
from tests.support.hostile import changed, read_or_refuse
from tests.support.opencode_sessions import opencode_document
from tests.support.sessions import (
    ClaudeSession,
    CodexSession,
    PiSession,
    codex_message,
    copilot,
    openhands_new,
    openhands_old,
)


def samples() -> list[bytes]:
    """Write one small session of each format."""
    claude = ClaudeSession()
    claude.chat("1")
    claude.calls("c1", "t1")
    claude.answers("r1", "t1", "out")
    meta = {"preTokens": 9, "tokensSaved": 3, "compactedToolIds": ["t1"], "clearedAttachmentUUIDs": []}
    claude.row("system", "m1", subtype="microcompact_boundary", microcompactMetadata=meta)
    claude.row("attachment", "t9", attachment={"type": "file", "content": {"text": "body"}})
    kept = {"uuids": ["u-1"], "allUuids": ["u-1"]}
    segment = {"headUuid": "u-1", "tailUuid": "a-1"}
    claude.boundary("b1", preTokens=9, postTokens=3, preservedMessages=kept, preservedSegment=segment)
    claude.summary("s1")
    claude.chat("2")
    codex = CodexSession()
    codex.event("turn_context", model="m")
    codex.user("one", id="msg_1")
    codex.item(type="reasoning", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="g")
    codex.item(type="function_call", name="x", arguments="{}", call_id="k")
    codex.item(type="function_call_output", call_id="k", output=[{"type": "input_text", "text": "out"}])
    codex.event("event_msg", type="token_count", info={"last_token_usage": {"total_tokens": 5}})
    codex.event("compacted", message="sum", replacement_history=[codex_message("user", "sum"), {"item_id": "msg_1"}])
    codex.event("event_msg", type="thread_rolled_back", num_turns=1)
    codex.event("compacted", message="again")
    pi = PiSession()
    pi.user("u1", "one")
    pi.says("a1", "two")
    pi.entry("compaction", "k1", summary="sum", firstKeptEntryId="a1", tokensBefore=5)
    pi.entry("message", "b1", message={"role": "bashExecution", "command": "ls", "output": "x"})
    return [
        claude.data(),
        codex.data(),
        pi.data(),
        openhands_old().data(),
        openhands_new().data(),
        copilot().data(),
        gemini_log().data(),
        qwen_log().data(),
    ]


SAMPLES = samples()


def mutated(data: bytes, choose: random.Random) -> bytes:
    """Damage a sample in its values, in its row order or in its bytes."""
    rows = [json.loads(line) for line in data.splitlines()]
    for _ in range(choose.randint(1, 4)):
        match choose.randint(0, 3):
            case 0:
                rows.insert(choose.randrange(len(rows)), choose.choice(rows))
            case 1:
                rows.pop(choose.randrange(len(rows)))
            case _:
                index = choose.randrange(len(rows))
                rows[index] = changed(rows[index], choose)
        rows = rows or [{}]
    damaged = bytearray("".join(json.dumps(row) + "\n" for row in rows).encode())
    if choose.random() < 0.5:
        for _ in range(choose.randint(1, 6)):
            at = choose.randrange(len(damaged))
            damaged[at : at + choose.randint(0, 3)] = choose.choice(
                [
                    b"",
                    b"\0",
                    b"\n",
                    b'"',
                    b"{",
                    b"}",
                    b"\xff",
                    b"\xed\xa0\x80",
                    b"\\ud800",
                    b"<truncated>",
                    b"\xe2\x80\xa8",
                ]
            )
    return bytes(damaged)


@pytest.mark.parametrize("reader", [reader.name for reader in READERS])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.binary(max_size=300))
def test_arbitrary_bytes_are_read_or_refused(reader: str, data: bytes) -> None:
    """No bytes raise anything but a named refusal, whichever reader is asked."""
    read_or_refuse(data, reader)
    read_or_refuse(data)


def json_values() -> st.SearchStrategy[Any]:
    """Generate JSON values with lone surrogates, big numbers and odd keys."""
    words = st.text(st.characters(exclude_categories=[]), max_size=6) | st.sampled_from(
        ["type", "message", "content", "role", "user", "uuid", "parentUuid", "payload", "compacted", "session", "id"]
    )
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | words
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4))


@pytest.mark.parametrize("reader", [reader.name for reader in READERS])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows=st.lists(json_values(), max_size=6))
def test_arbitrary_json_rows_are_read_or_refused(reader: str, rows: list[Any]) -> None:
    """Rows of any shape are read or refused."""
    read_or_refuse("".join(json.dumps(row) + "\n" for row in rows).encode(), reader)


@pytest.mark.parametrize("reader", [reader.name for reader in READERS])
def test_damaged_sessions_are_read_or_refused(reader: str, sweep: Callable[[int], int]) -> None:
    """Sessions of every format, damaged at random, are read or refused by every reader."""
    choose = random.Random(f"transcripts {reader}")
    for _ in range(sweep(300)):
        read_or_refuse(mutated(choose.choice(SAMPLES), choose), reader)


DOCUMENTS: tuple[Any, ...] = (
    trajectory(),
    gemini_document(),
    opencode_document(),
    cline_conversation(),
    cline_sidecar(source_message_count=4),
)


@pytest.mark.parametrize("reader", [reader.name for reader in READERS])
def test_damaged_documents_are_read_or_refused(reader: str, sweep: Callable[[int], int]) -> None:
    """Documents with hostile values inside, or cut off, are read or refused by every reader."""
    choose = random.Random(f"documents {reader}")
    for _ in range(sweep(200)):
        value = choose.choice(DOCUMENTS)
        for _ in range(choose.randint(1, 4)):
            value = changed(value, choose)
        data = json.dumps(value).encode()
        read_or_refuse(data, reader)
        read_or_refuse(data)
        read_or_refuse(data[: choose.randrange(len(data))], reader)

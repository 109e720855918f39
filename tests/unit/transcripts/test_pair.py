"""Chat lists and pairs: nothing is invented, and the user's word is named as such."""

from __future__ import annotations

import json

import pytest

from engine.digests import item_digest, whole_digest
from engine.lines.source import MemorySource
from engine.transcripts.content import Content
from engine.transcripts.item import Kind
from engine.transcripts.pair import pair_transcript
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import Reason, round_difference
from engine.transcripts.views import RAW_MESSAGE, side_views

MESSAGES = [
    {"role": "system", "content": "Rule: never deploy without approval."},
    {"role": "user", "content": [{"type": "text", "text": "ship it"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "run", "arguments": "{}"}}]},
    {"role": "tool", "content": "done"},
]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(MESSAGES),
        json.dumps({"messages": MESSAGES}),
        "\n".join(json.dumps(m) for m in MESSAGES),
    ],
    ids=["array", "document", "lines"],
)
def test_a_chat_list_has_messages_and_no_round(data: str) -> None:
    """The three spellings give the same items, and no compaction is made up."""
    found = read_transcript(MemorySource("chat.json", data.encode()))
    assert (found.format, found.rounds) == ("messages", ())
    kinds = [found.items[key].kind for key in found.context]
    assert kinds == [Kind.PROMPT, Kind.PROMPT, Kind.TOOL_CALL, Kind.TOOL_RESULT]


def test_a_pair_is_one_round_by_the_users_word() -> None:
    """Dropped, kept and introduced come out, and the raw view digests as the receipt would."""
    before = Content("b", "array", ("a", "a", {"x": 1}, b"\xff"))
    after = Content("a", "array", ("a", "summary"))
    pair = pair_transcript(before, after)
    (only,) = pair.rounds
    found = round_difference(pair, only)
    assert (len(found.kept), len(found.dropped), len(found.introduced)) == (1, 3, 1)
    assert only.pre.reasons == (Reason.USER_SUPPLIED,)
    raw = side_views(pair, only.post)[RAW_MESSAGE]
    assert whole_digest(item_digest(i).digest for i in raw) == whole_digest(item_digest(i).digest for i in after.items)

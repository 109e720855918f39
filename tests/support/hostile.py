"""What any reader must bear: hostile values inside a session, and what the engine does with a transcript."""

from __future__ import annotations

import json
import random
from typing import Any

from engine.errors import WinnowError
from engine.lines.source import MemorySource
from engine.transcripts.options import ReadOptions, TranscriptLimits
from engine.transcripts.reader import choose_reader, reader_named
from engine.transcripts.rounds import Transcript, round_difference, side_message_keys
from engine.transcripts.views import side_views

LIMITS = TranscriptLimits(line_bytes=20_000, nesting=40)
HOSTILE: tuple[Any, ...] = (None, 0, -1, 1e308, 2**70, True, "", "x", [], {}, [[]], [{}], {"type": []}, [None, 1, "a"])


def use(transcript: Transcript) -> None:
    """Do with a transcript what the rest of the engine does."""
    for compaction in transcript.rounds:
        round_difference(transcript, compaction)
        transcript.post_text(compaction).encode("utf-8")
        for side in (compaction.pre, compaction.post):
            side_message_keys(transcript, side)
            side_views(transcript, side)
    for key in transcript.context:
        assert transcript.items[key].message in transcript.messages
    json.dumps([finding.as_json() for finding in transcript.notices], ensure_ascii=False).encode("utf-8")


def read_or_refuse(data: bytes, name: str | None = None) -> None:
    """Read bytes with one reader, or with the one they ask for; anything but a named refusal is a failure."""
    try:
        source = MemorySource("s.jsonl", data)
        reader = choose_reader(source) if name is None else reader_named(name)
        transcript = reader.read(source, ReadOptions(LIMITS))  # not through the net of `read_transcript`
    except WinnowError:
        return
    use(transcript)


def changed(value: Any, choose: random.Random) -> Any:
    """Replace one random place inside a JSON value by a hostile one, drop it or double it."""
    if isinstance(value, dict) and value and choose.random() < 0.85:
        key = choose.choice(sorted(value))
        if choose.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: changed(value[key], choose)}
    if isinstance(value, list) and value and choose.random() < 0.85:
        index = choose.randrange(len(value))
        return [*value[:index], changed(value[index], choose), *value[index + choose.randint(0, 1) :]]
    return choose.choice(HOSTILE)

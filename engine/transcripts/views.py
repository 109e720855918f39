"""In which forms could the content of a side have been digested by whoever sealed a receipt for it?

Three views of one side, each a list of items for the receipt functions. A receipt that matches one view binds that
view; that the others hold the same content is this engine's reading, not the receipt's claim.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from engine.digests import canonical_json
from engine.transcripts.rounds import Side, Transcript, side_message_keys

RAW_MESSAGE = "raw-message"
CANONICAL_ITEM = "canonical-item"
PLAIN_TEXT = "plain-text"


def side_views(transcript: Transcript, side: Side) -> dict[str, list[Any]]:
    """Return the views of a side by name: `raw-message`, `canonical-item`, `plain-text`.

    `canonical-item` objects digest to the items' own digests. `raw-message` is left out when the side holds parts of
    messages (cleared results) or a value that no receipt can digest (a lone surrogate). `plain-text` leaves items
    without readable text out, so a match over it says nothing about them.
    """
    items = transcript.side_items(side)
    views: dict[str, list[Any]] = {
        CANONICAL_ITEM: [json.loads(item.canonical) for item in items],
        PLAIN_TEXT: [item.text for item in items if item.text],
    }
    raw = _raw_messages(transcript, side)
    if raw is not None:
        views[RAW_MESSAGE] = raw
    return views


def _raw_messages(transcript: Transcript, side: Side) -> list[Any] | None:
    keys = side_message_keys(transcript, side)
    blocks = Counter(item.message for item in transcript.items.values())
    here = Counter(item.message for item in transcript.side_items(side))
    times = Counter(keys)
    if any(here[key] != blocks[key] * times[key] for key in times):
        return None
    messages = [transcript.messages[key] for key in keys]
    try:
        for message in messages:
            canonical_json(message)
    except (ValueError, TypeError):  # UnicodeEncodeError is a ValueError
        return None
    return messages

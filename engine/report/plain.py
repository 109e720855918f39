"""How is foreign text written so that nothing in it can act or hide?

Control, format (bidi, zero-width), private-use, unassigned and surrogate characters become marks such as `⟨U+202E⟩`.
For reading, never for digesting.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any


def plain(text: object, limit: int = 4000, *, lines: bool = False) -> str:
    """Return text with hidden characters marked, cut to a length; `lines` keeps line breaks and tabs."""
    whole = str(text)
    kept = "\n\t" if lines else ""
    shown = "".join(c if c in kept or _is_plain(c) else f"⟨U+{ord(c):04X}⟩" for c in whole[:limit])
    return shown + ("…" if len(whole) > limit else "")


def content_text(item: Any) -> str:
    """Return an item of content as a person reads it: its text, or its JSON."""
    if isinstance(item, str):
        return item
    if isinstance(item, bytes | bytearray | memoryview):
        return bytes(item).decode("utf-8", "replace")
    return json.dumps(item, ensure_ascii=False, indent=1)


def _is_plain(character: str) -> bool:
    return character == " " or unicodedata.category(character)[0] not in "CZ"

"""How does foreign text look when nothing in it may hide?

Pure. Control, format (bidi, zero-width), private-use, unassigned and lone surrogate characters, line and paragraph
separators and the letters that draw nothing become marks such as `⟨U+202E⟩`; newline and tab stay. The result is
for reading, never for digesting. Look-alike letters of other scripts are not marked.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NewType

Label = NewType("Label", str)
"""Text that is safe inside a Markdown-drawing label: an id or a number, nothing else."""

ID_SHAPE = re.compile(r"[A-Za-z0-9_.:-]{1,64}", re.ASCII)

# Characters that count as printable and draw nothing: combining grapheme joiner, Hangul and Khmer fillers, Mongolian
# and general variation selectors, the empty braille cell.
_DRAWS_NOTHING = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_KEPT = frozenset("\n\t")
ELLIPSIS = "…"


def mark(character: str) -> str:
    """Write one character as its visible mark."""
    return f"⟨U+{ord(character):04X}⟩"


def is_hidden(character: str) -> bool:
    """Tell whether a character would act or stand without being seen."""
    if character in _DRAWS_NOTHING:
        return True
    if character.isprintable() or character in _KEPT:
        return False
    return unicodedata.category(character) != "Zs"


def visible(text: str) -> str:
    """Return the text with every hidden character written as a mark."""
    if text.isprintable() and _DRAWS_NOTHING.isdisjoint(text):
        return text
    return "".join(mark(c) if is_hidden(c) else c for c in text)


def pieces(text: str) -> list[tuple[bool, str]]:
    """Split the text into runs of (is a mark, shown text), so that a screen can set marks apart."""
    runs: list[tuple[bool, list[str]]] = []
    for character in text:
        hidden = is_hidden(character)
        if not runs or runs[-1][0] != hidden:
            runs.append((hidden, []))
        runs[-1][1].append(mark(character) if hidden else character)
    return [(hidden, "".join(parts)) for hidden, parts in runs]


def one_line(text: str, limit: int = 160) -> str:
    """Return a single visible line of at most `limit` characters, for a table cell."""
    cut = text[: limit + 1]
    flat = " ".join(visible(cut).split())
    return flat if len(text) <= limit and len(flat) <= limit else flat[: limit - 1] + ELLIPSIS


def label(value: str) -> Label:
    """Let an id into a label; anything else becomes a neutral word, since labels are drawn as Markdown."""
    return Label(value) if ID_SHAPE.fullmatch(value) else Label("item")


def count(number: int) -> Label:
    """Write a count with thousands separators."""
    return Label(f"{number:,}")


def plural(number: int, one: str, many: str = "") -> str:
    """Write a count with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int) -> str:
    """Write a number of bytes with a unit of 1024."""
    amount = float(number)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:  # noqa: PLR2004 - binary units
            return f"{number:,} B" if unit == "B" else f"{amount:,.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} GiB"


def short_digest(digest: str, digits: int = 12) -> str:
    """Cut the hex of a digest for a table, keeping its recipe when it names one."""
    head, _, hexed = digest.rpartition(":")
    cut = hexed if len(hexed) <= digits else hexed[:digits] + ELLIPSIS
    return f"{head.removeprefix('sha256:')}:{cut}" if head else cut

"""What speaks beside a verdict: the nearest passage, what changed in it, and where the span was found?

Evidence never changes a verdict. A flag is a hint for a reader, made from words alone; that no flag fired does not
prove that the meaning is whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Flag(StrEnum):
    """One hint beside a verdict."""

    SCATTERED = "SCATTERED"
    CONTEXT_SUSPECT = "CONTEXT_SUSPECT"
    NEGATION_LOST = "NEGATION_LOST"
    NEGATION_ADDED = "NEGATION_ADDED"
    NUMBER_MISSING = "NUMBER_MISSING"
    NUMBER_CHANGED = "NUMBER_CHANGED"
    SYMBOL_CHANGED = "SYMBOL_CHANGED"
    IDENTIFIER_RESPELLED = "IDENTIFIER_RESPELLED"
    FORCE_WEAKENED = "FORCE_WEAKENED"
    ALL_TOKENS_PRESENT = "ALL_TOKENS_PRESENT"
    ORDER_SCRAMBLED = "ORDER_SCRAMBLED"
    SUBSTRING_ONLY_MATCH = "SUBSTRING_ONLY_MATCH"
    INVISIBLE_CHARS_IN_SPAN = "INVISIBLE_CHARS_IN_SPAN"
    INVISIBLE_CHARS_IN_POST = "INVISIBLE_CHARS_IN_POST"
    MIXED_SCRIPT_TOKEN = "MIXED_SCRIPT_TOKEN"  # noqa: S105 - a kind of word, no secret


GRAVITY: tuple[Flag, ...] = (
    Flag.NEGATION_LOST,
    Flag.NEGATION_ADDED,
    Flag.CONTEXT_SUSPECT,
    Flag.NUMBER_CHANGED,
    Flag.FORCE_WEAKENED,
    Flag.SYMBOL_CHANGED,
    Flag.NUMBER_MISSING,
    Flag.SCATTERED,
    Flag.ORDER_SCRAMBLED,
    Flag.IDENTIFIER_RESPELLED,
    Flag.MIXED_SCRIPT_TOKEN,
    Flag.INVISIBLE_CHARS_IN_POST,
    Flag.INVISIBLE_CHARS_IN_SPAN,
    Flag.SUBSTRING_ONLY_MATCH,
    Flag.ALL_TOKENS_PRESENT,
)
"""The flags from what can turn a rule round to what only explains a mismatch."""


class FoundIn(StrEnum):
    """Where in the audited text a span stands."""

    BODY = "body"
    CODE_FENCE = "code_fence"
    KEPT_TAIL = "kept_tail"
    BLOCK = "block"


class Change(StrEnum):
    """What one stretch of a word difference is."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Window:
    """The passage of the text that holds most of a span's features: counts, place in the original, its text."""

    found: int
    total: int
    start: int
    end: int
    text: str

    def holds_half(self) -> bool:
        """Tell whether at least half of the features stand in one place."""
        return 2 * self.found >= self.total


@dataclass(frozen=True, slots=True)
class Piece:
    """One stretch of the word difference of a span against its window, as it stands in the original text."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything beside one verdict; `window` is None only when the text holds no word."""

    window: Window | None = None
    flags: tuple[Flag, ...] = ()
    found_in: tuple[FoundIn, ...] = ()
    diff: tuple[Piece, ...] = ()
    diff_cut: bool = False
    """The span is longer than the words that are compared, so its end is left out of `diff`."""

    @property
    def gravity(self) -> int:
        """Return the rank of the gravest flag, 0 the gravest; without a flag the rank after all."""
        return min((GRAVITY.index(flag) for flag in self.flags), default=len(GRAVITY))

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        window = self.window
        return {
            "window_found": window.found if window else 0,
            "window_total": window.total if window else 0,
            "window_place": [window.start, window.end] if window else None,
            "flags": [flag.value for flag in self.flags],
            "found_in": [place.value for place in self.found_in],
        }

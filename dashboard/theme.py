"""Which word, glyph, colour, line and marker stands for which verdict?

One table. Colour is only ever a fill: the word stands beside it in the normal text colour, and the glyph says the
same a third time. Blue, not green, is good, since red and green are the pair most often confused. A tone proves
nothing; the verdict behind it comes from the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.findings import Result, Severity
from engine.spans.judge import Verdict as SpanVerdict


class Tone(StrEnum):
    """The four ways an answer can look; grey is never good."""

    GOOD = "good"
    BOUNDED = "bounded"
    BAD = "bad"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Look:
    """How one tone is drawn: glyph, fill, ink on the fill, line dash and chart marker."""

    glyph: str
    fill: str
    ink: str
    dash: str
    marker: str


# Fills stay apart under simulated protan, deutan and tritan vision (distance 28 or more).
LOOKS: Mapping[Tone, Look] = {
    Tone.GOOD: Look("✔", "#0072B2", "#FFFFFF", "solid", "circle"),
    Tone.BOUNDED: Look("◐", "#E69F00", "#000000", "dash", "square"),
    Tone.BAD: Look("✖", "#CC3311", "#FFFFFF", "dot", "x"),
    Tone.UNKNOWN: Look("○", "#8A8F98", "#000000", "dashdot", "circle-open"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word with its tone and its meaning in one sentence."""

    word: str
    tone: Tone
    meaning: str = ""

    @property
    def look(self) -> Look:
        """Return how it is drawn."""
        return LOOKS[self.tone]

    @property
    def text(self) -> str:
        """Return glyph and word, for a table cell."""
        return f"{self.look.glyph} {self.word}"


INTACT = Verdict("INTACT", Tone.GOOD, "every row chains to the one before it, as recomputed here")
BROKEN = Verdict("BROKEN", Tone.BAD, "at least one row does not chain to the one before it")
CANNOT_CHECK = Verdict("CANNOT CHECK", Tone.UNKNOWN, "the input could not be looked at; this is no accusation")
NOT_CHECKED = Verdict("NOT CHECKED", Tone.UNKNOWN, "nobody looked, or the content is not held")
HOLDS = Verdict("HOLDS", Tone.GOOD, "everything in the named scope was recomputed and agrees")
BOUNDED = Verdict("BOUNDED", Tone.BOUNDED, "true within the named scope, which is smaller than the question")
FAILS = Verdict("FAILS", Tone.BAD, "at least one recomputed value disagrees with the claim")

PRESERVED = Verdict("PRESERVED", Tone.GOOD, "its words stand in the text in order, case and punctuation aside")
DEGRADED = Verdict("DEGRADED", Tone.BOUNDED, "at least three of five of its words are there, not the sentence")
LOST = Verdict("LOST", Tone.BAD, "fewer than three of five of its words are there; word matching finds no paraphrase")
UNVERIFIABLE = Verdict("UNVERIFIABLE", Tone.UNKNOWN, "the text after the round cannot be read; neither kept nor lost")
HALT = Verdict("HALT", Tone.BAD, "a critical span is damaged; a run that may not put it back must stop")

SPAN_VERDICTS: Mapping[SpanVerdict | None, Verdict] = {
    SpanVerdict.PRESERVED: PRESERVED,
    SpanVerdict.DEGRADED: DEGRADED,
    SpanVerdict.LOST: LOST,
    None: UNVERIFIABLE,
}

RESULTS: Mapping[Result, Verdict] = {
    Result.HOLDS: HOLDS,
    Result.BOUNDED: BOUNDED,
    Result.FAILS: FAILS,
    Result.COULD_NOT_LOOK: CANNOT_CHECK,
}

SEVERITIES: Mapping[Severity, Tone] = {
    Severity.BREAK: Tone.BAD,
    Severity.LIMIT: Tone.UNKNOWN,
    Severity.NOTICE: Tone.BOUNDED,
}


def chain_verdict(result: Result, first_line: int | None = None) -> Verdict:
    """Return the chain's word for a result, naming the first broken line when there is one."""
    match result:
        case Result.HOLDS:
            return INTACT
        case Result.BOUNDED:
            return Verdict("INTACT IN PART", Tone.BOUNDED, "rows were skipped or excused; the rest chains")
        case Result.FAILS:
            word = BROKEN.word if first_line is None else f"BROKEN at line {first_line:,}"
            return Verdict(word, Tone.BAD, BROKEN.meaning)
        case Result.COULD_NOT_LOOK:
            return CANNOT_CHECK


def answer_verdict(result: Result, asked: int) -> Verdict:
    """Return the word for an answer: a question that nobody could ask is NOT CHECKED, not CANNOT CHECK."""
    return NOT_CHECKED if result is Result.COULD_NOT_LOOK and not asked else RESULTS[result]

"""How do audited spans become frames and markup?

Pure. Verdicts come from the engine; evidence and marks stand beside them and change none. What a reviewer marked is
shown as a person's word, not as a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from dashboard import html, visible
from dashboard.theme import SPAN_VERDICTS
from engine.spans.audit import Audit, SpanAudit, by_severity
from engine.spans.classify import SourceRole
from engine.spans.evidence import Change, Evidence, Flag, FoundIn
from engine.spans.judge import Exactness
from engine.spans.judge import Verdict as SpanVerdict
from engine.spans.marks import Mark, SpanPlace
from engine.spans.session import RoundAudit, SessionAudit
from engine.spans.snapshot import Pin

CONTEXT = 240
"""Characters of the audited text shown on both sides of a place."""

FLAG_WORDS: Mapping[Flag, str] = {
    Flag.SCATTERED: "its words stand far apart; a long text holds most words of any sentence",
    Flag.CONTEXT_SUSPECT: "in its sentence stands a negation or a word that cancels it",
    Flag.NEGATION_LOST: "a negation of the span is not near the passage",
    Flag.NEGATION_ADDED: "near the passage stands a negation that the span has not",
    Flag.NUMBER_MISSING: "a number of the span stands nowhere in the text",
    Flag.NUMBER_CHANGED: "near the passage stands another number",
    Flag.SYMBOL_CHANGED: "a currency or comparison sign is gone",
    Flag.IDENTIFIER_RESPELLED: "a path, host or name is spelt differently",
    Flag.FORCE_WEAKENED: "must, never or always is gone and a softer word stands there",
    Flag.ALL_TOKENS_PRESENT: "all its words are there, not as a sentence",
    Flag.ORDER_SCRAMBLED: "its words stand there in another order",
    Flag.SUBSTRING_ONLY_MATCH: "a plain search finds it, inside longer words",
    Flag.INVISIBLE_CHARS_IN_SPAN: "the span holds characters that draw nothing",
    Flag.INVISIBLE_CHARS_IN_POST: "the passage holds characters that draw nothing",
    Flag.MIXED_SCRIPT_TOKEN: "a word mixes scripts whose letters look alike",
}
FOUND_WORDS: Mapping[FoundIn, str] = {
    FoundIn.BODY: "what the compactor wrote",
    FoundIn.CODE_FENCE: "a code block",
    FoundIn.KEPT_TAIL: "the messages kept word for word",
    FoundIn.BLOCK: "the re-injected block",
}
EXACTNESS_WORDS: Mapping[Exactness, str] = {
    Exactness.EXACT: "character for character",
    Exactness.WHITESPACE_ONLY: "the same but for white space",
    Exactness.NORMALISED_MATCH: "the same words; case, punctuation or spelling of characters differ",
}
ROLE_WORDS: Mapping[SourceRole, str] = {
    SourceRole.OPERATOR: "pinned by hand",
    SourceRole.SYSTEM: "system message",
    SourceRole.DEVELOPER: "developer message",
    SourceRole.USER: "user message",
    SourceRole.ASSISTANT: "model",
    SourceRole.TOOL: "tool or harness",
    SourceRole.WEB: "web page",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """Which spans of a round are listed: by verdict word, class word, and text that must stand in them."""

    verdict: str = ""
    cls: str = ""
    words: str = ""

    def of(self, audited: Audit) -> tuple[SpanAudit, ...]:
        """Return the spans to list, the gravest first."""
        return tuple(each for each in by_severity(audited.spans) if self._holds(each))

    def _holds(self, each: SpanAudit) -> bool:
        classes = {each.pin.cls.value, "critical" if each.pin.critical else ""}
        return (
            (not self.verdict or self.verdict == each.verdict.value)
            and (not self.cls or self.cls in classes)
            and (not self.words or self.words.casefold() in each.pin.text.casefold())
        )


def critical_damage(audited: Audit | None) -> tuple[SpanAudit, ...]:
    """Return the critical spans that the model does not see whole."""
    spans = audited.spans if audited else ()
    return tuple(each for each in spans if each.pin.critical and each.verdict is not SpanVerdict.PRESERVED)


def verdict_of(each: SpanAudit) -> str:
    """Return glyph and word for a table cell; a span that only the block carries says so."""
    said = SPAN_VERDICTS[each.verdict].text
    return f"{said}, block only" if each.in_block and each.body is not SpanVerdict.PRESERVED else said


def sessions_frame(shown: Sequence[str], sessions: Sequence[SessionAudit]) -> pd.DataFrame:
    """Return one row a session: pins, rounds, and the worst of what became of them."""
    rows = []
    for name, session in zip(shown, sessions, strict=True):
        audits = [each.audit for each in session.rounds if each.audit]
        last = audits[-1] if audits else None
        rows.append(
            (
                visible.one_line(name, 80),
                len(session.rounds),
                len(session.snapshot.judged()),
                sum(len(critical_damage(each)) > 0 for each in audits),
                _count(last, SpanVerdict.PRESERVED),
                _count(last, SpanVerdict.DEGRADED),
                _count(last, SpanVerdict.LOST),
                sum(each.audit is None for each in session.rounds),
                len(session.snapshot.uncovered),
            )
        )
    columns = ["SESSION", "ROUNDS", "PINS", "HALT ROUNDS", "✔ LAST", "◐ LAST", "✖ LAST", "○ ROUNDS", "NOT COVERED"]
    return pd.DataFrame(rows, columns=columns)


def rounds_frame(session: SessionAudit) -> pd.DataFrame:
    """Return one row a round: the verdicts on all that the model saw, and what is critical."""
    rows = []
    for each in session.rounds:
        damage = critical_damage(each.audit)
        rows.append(
            (
                each.index,
                _state(each),
                _count(each.audit, SpanVerdict.PRESERVED),
                _count(each.audit, SpanVerdict.DEGRADED),
                _count(each.audit, SpanVerdict.LOST),
                len(session.pins_in(each.index)) if each.audit is None else 0,
                f"■ HALT {len(damage)}" if damage else "",
                each.words_before,
                each.words_after,
            )
        )
    columns = ["ROUND", "TEXT AFTER", "✔", "◐", "✖", "○", "CRITICAL", "WORDS BEFORE", "WORDS AFTER"]
    return pd.DataFrame(rows, columns=columns)


def _state(each: RoundAudit) -> str:
    if each.audit is None:
        return "○ cannot be read"
    return "◐ in part" if each.bounded else "✔ whole"


def _count(audited: Audit | None, verdict: SpanVerdict) -> int | None:
    return None if audited is None else audited.counts()[verdict]


def spans_frame(spans: Iterable[SpanAudit], marked: Mapping[str, Mark]) -> pd.DataFrame:
    """Return one row a span: verdict, class, words found, nearest passage, flags, text."""
    rows = []
    for each in spans:
        window = each.evidence.window
        rows.append(
            (
                verdict_of(each),
                f"{each.pin.cls.value}{' critical' if each.pin.critical else ''}",
                f"{each.judged.found} of {each.judged.total}",
                f"{window.found} of {window.total}" if window else "none",
                "kept in other words" if each.pin.id in marked else "",
                " ".join(flag.value for flag in each.evidence.flags),
                visible.one_line(each.pin.text, 200),
            )
        )
    columns = ["VERDICT", "CLASS", "WORDS", "IN ONE PLACE", "MARK", "FLAGS", "SPAN"]
    return pd.DataFrame(rows, columns=columns)


def evidence_facts(session: SessionAudit, each: SpanAudit) -> list[tuple[str, Markup | str]]:
    """Return what is known of one span beside its verdict."""
    place = session.places.get(each.pin.id)
    window = each.evidence.window
    found = [FOUND_WORDS[kind] for kind in each.evidence.found_in]
    return [
        ("Class", f"{each.pin.cls.value}{', critical' if each.pin.critical else ''}"),
        ("Written by", ROLE_WORDS[each.pin.role]),
        ("Written at", f"line {place.line:,}" if place else "not in this session"),
        ("Its words in the text", f"{each.judged.found} of {each.judged.total}"),
        ("Most in one place", f"{window.found} of {window.total}" if window else "none"),
        ("Stands in", "; ".join(found) or "nowhere as a sentence"),
        ("Match", EXACTNESS_WORDS[each.judged.exactness] if each.judged.exactness else "none"),
        ("Places", _places(each)),
    ]


def _places(each: SpanAudit) -> str:
    shown = len(each.judged.places)
    return f"{shown:,} or more" if each.judged.places_cut else f"{shown:,}"


def difference(evidence: Evidence) -> Markup:
    """Return the span against the nearest passage: removed struck, added underlined."""
    parts = []
    for piece in evidence.diff:
        inner = html.foreign(piece.text, len(piece.text))
        match piece.change:
            case Change.SAME:
                parts.append(inner)
            case Change.REMOVED:
                parts.append(Markup('<del class="wn-del">{}</del>').format(inner))
            case Change.ADDED:
                parts.append(Markup('<ins class="wn-ins">{}</ins>').format(inner))
    return Markup('<div class="wn-block wn-diff">{}</div>').format(Markup(" ").join(parts))


def passage(text: str, evidence: Evidence) -> Markup | None:
    """Return the nearest passage as it stands in the audited text, marked, with what is round it."""
    window = evidence.window
    if window is None or not window.found:
        return None
    before = text[max(0, window.start - CONTEXT) : window.start]
    after = text[window.end : window.end + CONTEXT]
    return Markup('<pre class="wn-block" tabindex="0">{}<mark class="wn-here">{}</mark>{}</pre>').format(
        html.foreign(before, CONTEXT), html.foreign(window.text, 4_000), html.foreign(after, CONTEXT)
    )


def place_of(session: SessionAudit, number: int, audited: Audit, pin: str) -> SpanPlace:
    """Return what a mark names: session, round, pin and text."""
    return SpanPlace(session.digest, number, pin, audited.post_sha256)


def marks_here(session: SessionAudit, number: int, audited: Audit, marks: Mapping[SpanPlace, Mark]) -> dict[str, Mark]:
    """Return the marks on the spans of one round by pin."""
    found = {each.pin.id: marks.get(place_of(session, number, audited, each.pin.id)) for each in audited.spans}
    return {pin: mark for pin, mark in found.items() if mark is not None}


def pins_frame(session: SessionAudit, pins: Iterable[Pin]) -> pd.DataFrame:
    """Return one row a pin: class, who wrote it, where, from which round on it is judged, text."""
    rows = [
        (
            f"{pin.cls.value}{' critical' if pin.critical else ''}",
            ROLE_WORDS[pin.role],
            session.places[pin.id].line if pin.id in session.places else None,
            session.entered.get(pin.id, 0) + 1,
            visible.one_line(pin.text, 200),
        )
        for pin in pins
    ]
    return pd.DataFrame(rows, columns=["CLASS", "WRITTEN BY", "LINE", "FROM ROUND", "SPAN"])

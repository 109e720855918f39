"""What kind of span is a text, and is it critical?

Markers first, else the shape of the head, else EPISODIC (FACT when pinned by hand). No model reads the text: a rule
without a marker and without the shape is not covered, which is why `looks_like_rule` exists. A class says nothing about
whether the rule is right, or in force.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from engine.spans.words import fold, read_words


class SpanClass(StrEnum):
    """How a span is treated: INVARIANT and FACT get a verdict, EPISODIC is recorded only."""

    INVARIANT = "INVARIANT"
    FACT = "FACT"
    EPISODIC = "EPISODIC"


class SourceRole(StrEnum):
    """Who wrote a span. Markers in what a tool or the model wrote are text, not instructions."""

    OPERATOR = "operator"
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"


class Profile(StrEnum):
    """Which labels make a span INVARIANT; the wider one is a choice of the operator and is named in the snapshot."""

    STANDARD = "standard"
    EXTENDED = "extended"
    """Also labels of several words: "acceptance criteria:", "safety rule:", "hard constraint:"."""


_TRUSTED = frozenset({SourceRole.OPERATOR, SourceRole.SYSTEM, SourceRole.DEVELOPER, SourceRole.USER})
_DECORATION = re.compile(r"(?:\s+|>+|[-*+•]\s+|#{1,6}\s+|\[[ xX]\]\s+|\d{1,4}[.)]\s+)+")
_MARKER_HEAD = re.compile(r"\[(invariant|fact|episodic|critical)\]\s*", re.IGNORECASE)
_MARKER_END = re.compile(r"\[(invariant|fact|episodic|critical)\]$", re.IGNORECASE)
_LONGEST_MARKER = len("[invariant]")
_BEFORE_SHAPE = re.compile(
    r"[\s*_`\"'\u201c\u201d\u2018\u2019«»]*(?:[\u2190-\u2bff\U0001f000-\U0001faff]\ufe0f?)?[\s*_`\"'\u201c\u201d\u2018\u2019«»]*"
)
_SHAPE = re.compile(
    r"(?:goal|objective|acceptance|safety|rule)[*_`]*\s*:|(?:must|never|always|shall)(?!\w)|do\s+not(?!\w)|don['\u2019]?t(?!\w)"
)
_EXTENDED_SHAPE = re.compile(
    r"(?:acceptance criteri(?:a|on)|safety rules?|rules|goals|objectives|(?:hard )?constraints?)[*_`]*\s*:"
)
_RULE_LABEL = re.compile(
    r"(?<!\w)(?:goal|objective|acceptance(?: criteria| criterion)?|safety(?: rules?)?|rules?"
    r"|(?:hard )?constraints?)[*_`]*\s*:"
)
_RULE_WORDS = frozenset({"must", "never", "always", "shall", "dont"})
_CRITICAL_WORDS = frozenset({"safety", "never"})


@dataclass(frozen=True, slots=True)
class Classified:
    """The class of a text, what of it must survive, and which markers stood on it."""

    cls: SpanClass
    critical: bool
    match_text: str
    markers: tuple[str, ...]
    conflict: bool
    """Markers disagree, or `[critical]` stands on a span that it cannot change."""
    ignored: tuple[str, ...] = ()
    """Markers that were read as text, since a tool, a page or the model wrote them."""


def is_trusted(role: SourceRole) -> bool:
    """Tell whether the operator's side wrote a text, so that its markers count."""
    return role in _TRUSTED


def _undecorated(text: str) -> str:
    match = _DECORATION.match(text)
    return text[match.end() :] if match else text


def _unmarked(text: str) -> tuple[str, tuple[str, ...]]:
    """Take markers and decoration off both ends; a marker in the middle stays text."""
    markers: list[str] = []
    rest = _undecorated(text)
    while match := _MARKER_HEAD.match(rest):
        markers.append(match[1].lower())
        rest = _undecorated(rest[match.end() :])
    rest = rest.rstrip()
    while match := _MARKER_END.search(rest, max(0, len(rest) - _LONGEST_MARKER)):
        markers.append(match[1].lower())
        rest = rest[: match.start()].rstrip()
    return rest, tuple(markers)


def _has_shape(text: str, profile: Profile) -> bool:
    head = _BEFORE_SHAPE.match(text)
    rest = fold((text[head.end() :] if head else text)[:200])
    if _SHAPE.match(rest):
        return True
    return profile is Profile.EXTENDED and _EXTENDED_SHAPE.match(rest) is not None


def _class_of(markers: frozenset[str], *, shaped: bool, by_hand: bool) -> SpanClass:
    for cls in SpanClass:
        if cls.value.lower() in markers:
            return cls
    if "critical" in markers or shaped:
        return SpanClass.INVARIANT
    return SpanClass.FACT if by_hand else SpanClass.EPISODIC


def classify(
    text: str,
    *,
    by_hand: bool = False,
    role: SourceRole = SourceRole.OPERATOR,
    profile: Profile = Profile.STANDARD,
) -> Classified:
    """Classify one span; `by_hand` says that a person pinned it when it was written."""
    bare, found = _unmarked(text)
    trusted = is_trusted(role)
    markers = frozenset(found) if trusted else frozenset()
    cls = _class_of(markers, shaped=_has_shape(bare, profile), by_hand=by_hand)
    match_text = bare if trusted else _undecorated(text)
    critical = cls is SpanClass.INVARIANT and (
        "critical" in markers or not _CRITICAL_WORDS.isdisjoint(read_words(match_text).texts)
    )
    classes = markers - {"critical"}
    conflict = len(classes) > 1 or ("critical" in markers and cls is not SpanClass.INVARIANT)
    return Classified(cls, critical, match_text, found if trusted else (), conflict, () if trusted else found)


def looks_like_rule(text: str) -> bool:
    """Tell whether a text holds a rule word or a rule label anywhere; a hint that covers English only."""
    words = read_words(text).texts
    if not _RULE_WORDS.isdisjoint(words) or ("do", "not") in pairwise(words):
        return True
    return _RULE_LABEL.search(fold(text)) is not None

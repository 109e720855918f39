"""Which lines of a session could be pinned, who wrote them, and when did they come in?

Lines of system, developer and user messages. A harness puts text of its own and of tools into user messages, framed by
tags: what stands in such a frame is proposed as tool text, so its markers are not honoured and it is never re-injected.
The frames known are those of the tools read here; text that a tool put in without a frame looks like the user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.findings import UNWATCHED, Watch
from engine.spans.classify import SourceRole, SpanClass, classify, looks_like_rule
from engine.spans.snapshot import BYTE_LIMIT, SPAN_LIMIT
from engine.transcripts.item import Kind, Role
from engine.transcripts.rounds import CompactionRound, Transcript

_ROLES = {Role.SYSTEM: SourceRole.SYSTEM, Role.DEVELOPER: SourceRole.DEVELOPER, Role.USER: SourceRole.USER}
_FRAMES = (
    "system-reminder",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "command-stdout",
    "command-stderr",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "user-prompt-submit-hook",
    "environment_context",
    "environment_details",
    "file_content",
    "tool_result",
    "function_results",
    "turn_aborted",
)
_OPENS = re.compile(rf"<({'|'.join(_FRAMES)})(?:\s[^>\n]*)?>")
WATCH_EVERY = 500


@dataclass(frozen=True, slots=True)
class Proposed:
    """One line that could be pinned; `item` and `line` say where it was written."""

    text: str
    role: SourceRole
    item: str
    line: int
    entered: int
    """Rounds that lay before it was written; it is counted from the next round on."""


def propose(transcript: Transcript) -> tuple[Proposed, ...]:
    """List the lines of operator text, and of what harnesses framed in it, in the order of the file."""
    return tuple(_proposed(transcript))


def _proposed(transcript: Transcript) -> Iterator[Proposed]:
    first_round: dict[str, int] = {}
    made: set[str] = set()
    for number, each in enumerate(transcript.rounds):
        for key in each.pre.keys:
            first_round.setdefault(key, number)
        made |= _introduced(transcript, each)
    for key, item in transcript.items.items():
        role = _ROLES.get(item.role)
        if role is None or item.kind is not Kind.PROMPT or key in made:
            continue
        entered = first_round.get(key, len(transcript.rounds))
        for text, framed in lines_of(item.text):
            yield Proposed(text, SourceRole.TOOL if framed else role, key, item.place.line, entered)


def _introduced(transcript: Transcript, each: CompactionRound) -> set[str]:
    """Return the items that a compaction brought in: what a compactor writes in the user's name is not the user's."""
    before = {transcript.items[key].digest for key in each.pre.keys}
    return {key for key in each.post.keys if transcript.items[key].digest not in before}


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines that are not blank, each with whether any of it stands in a frame of a harness.

    A frame that is opened and never closed reaches the end of the message: half a frame must not lend a tool's text the
    user's name.
    """
    frames = list(_frames(text))
    at = 0
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        shown = line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        if shown.strip():
            yield shown, any(start < end and at < stop for start, stop in frames)
        at = end


def _frames(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while opened := _OPENS.search(text, at):
        closed = text.find(f"</{opened[1]}>", opened.end())
        at = len(text) if closed < 0 else closed + len(opened[1]) + 3
        yield opened.start(), at


@dataclass(frozen=True, slots=True)
class Chosen:
    """The lines given to a snapshot, and how many distinct ones its limits left out: rules by look, and others."""

    lines: tuple[Proposed, ...]
    left_out_rules: int = 0
    left_out_others: int = 0


def choose(proposed: Iterable[Proposed], held: Iterable[str] = (), *, watch: Watch = UNWATCHED) -> Chosen:
    """Keep the first of equal lines, and within the limits those that get a verdict or look like a rule.

    A session can hold far more lines than a snapshot takes; nearly all of them are EPISODIC. The texts `held` by hand
    take their room first. Raises `CancelledError`.
    """
    distinct: dict[str, Proposed] = {}
    for each in proposed:
        known = distinct.get(each.text)
        # The operator's own line goes before the same text in a frame, so that its markers count.
        if known is None or (known.role is SourceRole.TOOL and each.role is not SourceRole.TOOL):
            distinct[each.text] = each
    texts = frozenset(held)
    lines = list(distinct.values())
    taken_up = sum(_bytes(text) for text in texts)
    more = [each for each in lines if each.text not in texts]
    if len(_first_that_fit(more, len(texts), taken_up)) == len(more):
        return Chosen(tuple(lines))
    rules, others = _split(more, watch)
    kept_rules = _first_that_fit(rules, len(texts), taken_up)
    size = taken_up + sum(_bytes(each.text) for each in kept_rules)
    kept_others = _first_that_fit(others, len(texts) + len(kept_rules), size)
    taken = {each.text for each in (*kept_rules, *kept_others)}
    kept = tuple(each for each in lines if each.text in taken or each.text in texts)
    return Chosen(kept, len(rules) - len(kept_rules), len(others) - len(kept_others))


def _split(lines: list[Proposed], watch: Watch) -> tuple[list[Proposed], list[Proposed]]:
    rules: list[Proposed] = []
    others: list[Proposed] = []
    for done, each in enumerate(lines):
        if done % WATCH_EVERY == 0:
            watch.step("classifying", done, len(lines), "lines")
        kind = classify(each.text, by_hand=False, role=each.role)
        rule = kind.cls is not SpanClass.EPISODIC or looks_like_rule(kind.match_text)
        (rules if rule else others).append(each)
    return rules, others


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _first_that_fit(lines: list[Proposed], count: int, size: int) -> list[Proposed]:
    kept: list[Proposed] = []
    for each in lines:
        count, size = count + 1, size + _bytes(each.text)
        if count > SPAN_LIMIT or size > BYTE_LIMIT:
            break
        kept.append(each)
    return kept

"""Which spans of a session are pinned, and what became of each in every round?

Spans are proposed line by line from what the operator wrote (system, developer and user messages); markers in what a
tool or the model wrote are text. A round whose post side cannot be read gets no verdicts. The list of pins is only as
complete as the heuristics: `uncovered` names what looks like a rule and has no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.errors import LimitError
from engine.findings import UNWATCHED, Watch
from engine.spans.audit import Audit, audit
from engine.spans.classify import SourceRole
from engine.spans.snapshot import Pin, Snapshot, snapshot
from engine.transcripts.item import ContextItem, Kind, Role
from engine.transcripts.rounds import CompactionRound, SideState, Transcript

_ROLES = {Role.SYSTEM: SourceRole.SYSTEM, Role.DEVELOPER: SourceRole.DEVELOPER, Role.USER: SourceRole.USER}
READABLE = frozenset({SideState.EXACT, SideState.PARTIAL})


@dataclass(frozen=True, slots=True)
class Proposed:
    """One line of operator text that could be pinned; `item` and `line` say where it was written."""

    text: str
    role: SourceRole
    item: str
    line: int
    entered: int
    """Rounds that lay before it was written; it is counted from the next round on."""


@dataclass(frozen=True, slots=True)
class RoundAudit:
    """One round: the verdicts on all the model saw afterwards, and on the summary alone where there is one.

    Without an audit the round is unverifiable, for the reason in `why_not`; it then counts as no loss.
    """

    index: int
    state: SideState
    audit: Audit | None
    summary: Audit | None
    why_not: str
    words_before: int
    words_after: int
    block_words: int = 0


@dataclass(frozen=True, slots=True)
class SessionAudit:
    """All rounds of one session against one set of pins."""

    session: str
    source: str
    compactor: str
    method: str
    model: str
    snapshot: Snapshot
    entered: Mapping[str, int]
    """By pin id, after how many rounds it was written."""
    places: Mapping[str, Proposed]
    """By pin id, where it was first written; a pin set by hand need not have one."""
    rounds: tuple[RoundAudit, ...]


def propose(transcript: Transcript) -> tuple[Proposed, ...]:
    """List the lines of operator text in the order of the file."""
    return tuple(_proposed(transcript))


def _proposed(transcript: Transcript) -> Iterator[Proposed]:
    first_round: dict[str, int] = {}
    for number, each in enumerate(transcript.rounds):
        for key in each.pre.keys:
            first_round.setdefault(key, number)
    for key, item in transcript.items.items():
        role = _ROLES.get(item.role)
        if role is None or item.kind is not Kind.PROMPT:
            continue
        for text in item.text.splitlines():
            if text.strip():
                yield Proposed(text, role, key, item.place.line, first_round.get(key, len(transcript.rounds)))


def audit_session(
    transcript: Transcript, *, held: Iterable[Pin] = (), unpinned: Iterable[str] = (), watch: Watch = UNWATCHED
) -> SessionAudit:
    """Pin what the session's operator wrote, with the pins held by hand, and audit every readable round.

    `unpinned` are ids of pins to leave out. Raises `LimitError` for more spans than a snapshot takes and
    `CancelledError`.
    """
    proposed = propose(transcript)
    places: dict[str, Proposed] = {}
    by_text: dict[str, Proposed] = {}
    for each in proposed:
        by_text.setdefault(each.text, each)
    taken = snapshot(transcript.session or "", [each.text for each in proposed], held)
    left_out = frozenset(unpinned)
    taken = Snapshot(
        taken.event_id, tuple(p for p in taken.pins if p.id not in left_out), taken.refused, taken.uncovered
    )
    for pin in taken.pins:
        if pin.text in by_text:
            places[pin.id] = by_text[pin.text]
    entered = {pin.id: places[pin.id].entered if pin.id in places else 0 for pin in taken.pins}
    rounds = tuple(_round(transcript, each, taken, watch) for each in transcript.rounds)
    claimed = transcript.rounds[0].claimed if transcript.rounds else None
    version = f" {transcript.tool_version}" if transcript.tool_version else ""
    return SessionAudit(
        transcript.session or transcript.sources[0].sha256[:16],
        transcript.sources[0].name,
        transcript.format + version,
        (claimed.method if claimed else None) or "not recorded",
        (claimed.model if claimed else None) or "not recorded",
        taken,
        entered,
        places,
        rounds,
    )


def _words(items: Iterable[ContextItem]) -> int:
    return sum(len(item.text.split()) for item in items)


def _round(transcript: Transcript, each: CompactionRound, taken: Snapshot, watch: Watch) -> RoundAudit:
    before, after = (_words(transcript.side_items(side)) for side in (each.pre, each.post))
    if each.post.state not in READABLE:
        why = "; ".join(reason.sentence for reason in each.post.reasons) or "this side is not in the file"
        return RoundAudit(each.index, each.post.state, None, None, why, before, after)
    try:
        made = audit(taken, transcript.post_text(each), watch=watch)
    except LimitError as error:
        return RoundAudit(each.index, each.post.state, None, None, str(error), before, after)
    summary = transcript.items.get(each.summary_key) if each.summary_key else None
    alone = audit(taken, summary.text, watch=watch) if summary and summary.text else None
    return RoundAudit(each.index, each.post.state, made, alone, "", before, after)

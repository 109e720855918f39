"""Which spans of a session are pinned, and what became of each in every round?

Pins are proposed line by line from what the operator wrote, and added by hand. A round whose post side cannot be read
gets no verdicts; one whose post side is partial is judged on what the file holds, and says so. The list of pins is only
as complete as the heuristics: `uncovered` names what looks like a rule and has no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from engine.errors import LimitError
from engine.findings import UNWATCHED, Watch
from engine.spans.audit import Audit, audit
from engine.spans.proposals import Proposed, choose, propose
from engine.spans.snapshot import Pin, Snapshot, Span, snapshot, uncovered_of
from engine.transcripts.item import ContextItem
from engine.transcripts.rounds import CompactionRound, Side, SideState, Transcript

READABLE = frozenset({SideState.EXACT, SideState.PARTIAL})
NOT_RECORDED = "not recorded"


@dataclass(frozen=True, slots=True)
class RoundAudit:
    """One round: the verdicts on all the model saw afterwards, and on the summary alone where there is one.

    Without an audit the round is unverifiable, for the reason in `why_not`; it then counts as no loss. `bounded` says
    why the text that was judged may not be all that the model saw.
    """

    index: int
    state: SideState
    audit: Audit | None
    summary: Audit | None
    why_not: str
    words_before: int
    words_after: int
    block_words: int = 0
    bounded: str = ""
    method: str = NOT_RECORDED
    model: str = NOT_RECORDED
    pre_bytes: int = 0


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
    digest: str = ""
    """SHA-256 of the session's first file: what marks and receipts name the session by."""
    size: int = 0
    """Bytes of that file."""
    left_out_rules: int = 0
    """Lines that get a verdict or look like a rule and were left out, since a snapshot takes no more."""
    left_out_others: int = 0

    def pins_in(self, number: int) -> tuple[Pin, ...]:
        """Return the pins that are judged in a round: those written before it."""
        return tuple(pin for pin in self.snapshot.judged() if self.entered.get(pin.id, 0) < number)

    def event_id(self, number: int) -> str:
        """Return the event id of one round, for its snapshot and receipt."""
        return f"{self.session}#{number}"


def audit_session(
    transcript: Transcript, *, held: Iterable[Pin] = (), unpinned: Iterable[str] = (), watch: Watch = UNWATCHED
) -> SessionAudit:
    """Pin what the session's operator wrote, with the pins held by hand, and audit every readable round.

    `unpinned` are ids of pins to leave out. A pin is judged from the first round after it was written. Raises
    `CancelledError`, and `LimitError` only for pins held by hand that are more than a snapshot takes.
    """
    pins = tuple(held)
    chosen = choose(propose(transcript), [each.text for each in pins], watch=watch)
    name = transcript.session or transcript.sources[0].sha256[:16]
    taken = without(snapshot(name, [Span(each.text, each.role) for each in chosen.lines], pins), unpinned)
    by_text = {each.text: each for each in chosen.lines}
    places = {pin.id: by_text[pin.text] for pin in taken.pins if pin.text in by_text}
    entered = {pin.id: places[pin.id].entered if pin.id in places else 0 for pin in taken.pins}
    made = SessionAudit(
        name,
        transcript.sources[0].name,
        transcript.format + (f" {transcript.tool_version}" if transcript.tool_version else ""),
        _label([_method(each) for each in transcript.rounds]),
        _label([_model(each) for each in transcript.rounds]),
        taken,
        entered,
        places,
        (),
        transcript.sources[0].sha256,
        transcript.sources[0].size,
        chosen.left_out_rules,
        chosen.left_out_others,
    )
    rounds: list[RoundAudit] = []
    for each in transcript.rounds:
        watch.step("auditing", each.index - 1, len(transcript.rounds), "rounds")
        rounds.append(_round(transcript, each, round_snapshot(made, each.index), watch))
    return replace(made, rounds=tuple(rounds))


def without(taken: Snapshot, unpinned: Iterable[str]) -> Snapshot:
    """Return a snapshot that leaves some pins out."""
    left_out = frozenset(unpinned)
    if not left_out:
        return taken
    kept = tuple(
        replace(pin, linked=tuple(each for each in pin.linked if each not in left_out))
        for pin in taken.pins
        if pin.id not in left_out
    )
    return replace(taken, pins=kept, uncovered=uncovered_of(kept))


def round_snapshot(session: SessionAudit, number: int) -> Snapshot:
    """Return the snapshot of one round: only the pins that were written before it; a receipt names it by its digest."""
    known = frozenset(pin.id for pin in session.snapshot.pins if session.entered.get(pin.id, 0) < number)
    gone = (pin.id for pin in session.snapshot.pins if pin.id not in known)
    return replace(without(session.snapshot, gone), event_id=session.event_id(number))


def _label(labels: list[str]) -> str:
    """Return the one label of all rounds, or the several in the order of their coming."""
    return ", ".join(dict.fromkeys(labels)) or NOT_RECORDED


def _method(each: CompactionRound) -> str:
    return each.claimed.method or each.kind.value


def _model(each: CompactionRound) -> str:
    return each.claimed.model or NOT_RECORDED


def _words(items: Iterable[ContextItem]) -> int:
    return sum(len(item.text.split()) for item in items)


def _round(transcript: Transcript, each: CompactionRound, taken: Snapshot, watch: Watch) -> RoundAudit:
    before, after = (_words(transcript.side_items(side)) for side in (each.pre, each.post))
    size = sum(len(item.text.encode("utf-8", "surrogatepass")) for item in transcript.side_items(each.pre))
    bare = RoundAudit(
        each.index,
        each.post.state,
        None,
        None,
        "",
        before,
        after,
        method=_method(each),
        model=_model(each),
        pre_bytes=size,
    )
    if each.post.state not in READABLE:
        return replace(bare, why_not=_reasons(each.post) or "this side is not in the file")
    text = transcript.post_text(each)
    try:
        made = audit(taken, text, tail_start=_tail_start(transcript, each), watch=watch)
        summary = transcript.items.get(each.summary_key) if each.summary_key else None
        alone = audit(taken, summary.text, watch=watch) if summary and summary.text and summary.text != text else None
    except LimitError as error:
        return replace(bare, why_not=error.message)
    bounded = _reasons(each.post) or "this side is partial" if each.post.state is SideState.PARTIAL else ""
    return replace(bare, audit=made, summary=alone, block_words=len(made.split.block.split()), bounded=bounded)


def _reasons(side: Side) -> str:
    return "; ".join(reason.sentence for reason in side.reasons)


def _tail_start(transcript: Transcript, each: CompactionRound) -> int | None:
    """Return where the messages kept word for word begin in the post text: those at its end that stood before too."""
    known = {item.digest for item in transcript.side_items(each.pre)}
    items = [item for item in transcript.side_items(each.post) if item.text]
    first = len(items)
    while first and items[first - 1].digest in known and items[first - 1].key != each.summary_key:
        first -= 1
    if first == len(items):
        return None
    return len("\n\n".join(item.text for item in items[:first])) + (2 if first else 0)

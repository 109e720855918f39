"""Which damaged spans did a reviewer judge to be kept in other words?

A mark is a person's word beside a verdict, never instead of it: counts, receipts and charts stay as the policy gave
them. It is one row of the workspace's record and nothing else, so it cannot be half made. It proves that somebody at
this workspace gave that name and reason, not that the meaning is whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.control.ledger import Act, ControlLedger
from engine.errors import RefusedError
from engine.spans.audit import SpanAudit
from engine.spans.judge import Verdict

NAME_LIMIT = 80
REASON_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class SpanPlace:
    """Which verdict is meant: the session by its digest, the round (1-based), the pin, and the audited text."""

    session: str
    round: int
    pin: str
    post_sha256: str

    def as_json(self) -> dict[str, Any]:
        """Return the machine form, as it stands on the record."""
        return {"session": self.session, "round": self.round, "pin": self.pin, "post_sha256": self.post_sha256}


@dataclass(frozen=True, slots=True)
class Mark:
    """Somebody's word that a span was kept in other words; `verdict` is the one it stands beside."""

    place: SpanPlace
    verdict: Verdict
    name: str
    reason: str
    at: str
    line: int


def mark(
    control: ControlLedger, place: SpanPlace, audited: SpanAudit, *, name: str, reason: str, now: datetime
) -> Mark:
    """Put a mark beside the verdict on the body, and return it.

    Raises `RefusedError`: MARK_NOT_NEEDED for a PRESERVED span, MARK_OTHER_SPAN when the verdict is of another pin,
    MARK_WITHOUT_NAME, MARK_WITHOUT_REASON, MARK_TOO_LONG; and as the record does. Nothing is written then.
    """
    if audited.pin.id != place.pin:
        raise RefusedError("MARK_OTHER_SPAN", "the verdict is of another span", where=place.pin)
    if audited.body is Verdict.PRESERVED:
        raise RefusedError(
            "MARK_NOT_NEEDED", "the span is kept word for word; there is nothing to mark", where=place.pin
        )
    who, why = _texts(name, reason)
    # A record that does not verify gets no mark: its rows are not relied on, so the mark would count nowhere.
    control.rows()
    subject = {**place.as_json(), "verdict": audited.body.value}
    stored = control.record(Act.SPAN_MARK, actor=who, subject=subject, reason=why, now=now)
    # The row just written, not the last word on the place: another reviewer may have spoken since.
    row = next(each for each in control.rows((Act.SPAN_MARK,)) if each.chain == stored.chain)
    return Mark(place, audited.body, row.actor, row.reason, row.ts, row.line)


def unmark(control: ControlLedger, place: SpanPlace, *, name: str, reason: str, now: datetime) -> None:
    """Take a mark back; the record keeps both rows. Raises `RefusedError` (MARK_UNKNOWN) when there is none."""
    if place not in marks_of(control):
        raise RefusedError("MARK_UNKNOWN", "this span bears no mark", where=place.pin)
    who, why = _texts(name, reason)
    control.record(Act.SPAN_UNMARK, actor=who, subject=place.as_json(), reason=why, now=now)


def marks_of(control: ControlLedger) -> Mapping[SpanPlace, Mark]:
    """Return the marks that stand now, the last word for each place; raises as the record when it does not verify."""
    marks: dict[SpanPlace, Mark] = {}
    for row in control.rows((Act.SPAN_MARK, Act.SPAN_UNMARK)):
        place = _place(row.object)
        if place is None:
            continue
        if row.act is Act.SPAN_UNMARK:
            marks.pop(place, None)
        elif row.object.get("verdict") in {Verdict.LOST.value, Verdict.DEGRADED.value}:
            marks[place] = Mark(place, Verdict(row.object["verdict"]), row.actor, row.reason, row.ts, row.line)
    return marks


def _place(subject: Mapping[str, Any]) -> SpanPlace | None:
    session, number, pin, sha = (subject.get(name) for name in ("session", "round", "pin", "post_sha256"))
    texts = isinstance(session, str) and isinstance(pin, str) and isinstance(sha, str)
    if not texts or not isinstance(number, int) or isinstance(number, bool):
        return None
    return SpanPlace(str(session), number, str(pin), str(sha))


def _texts(name: str, reason: str) -> tuple[str, str]:
    who, why = name.strip(), reason.strip()
    if not who:
        raise RefusedError("MARK_WITHOUT_NAME", "a mark needs the name of who made it", where="name")
    if not why:
        raise RefusedError("MARK_WITHOUT_REASON", "a mark needs a reason", where="reason")
    if len(who) > NAME_LIMIT or len(why) > REASON_LIMIT:
        raise RefusedError(
            "MARK_TOO_LONG", f"at most {NAME_LIMIT} characters of name and {REASON_LIMIT} of reason are taken"
        )
    return who, why

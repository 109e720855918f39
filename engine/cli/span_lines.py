"""How does an audit read on a terminal, and as JSON for a whole session?

Verdict words are the engine's; a glyph stands before each. Texts of spans are foreign and go through `safe`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from engine.cli.output import safe
from engine.spans.audit import Audit, SpanAudit, by_severity
from engine.spans.judge import Verdict
from engine.spans.session import RoundAudit, SessionAudit
from engine.spans.snapshot import Pin, Snapshot
from engine.spans.words import POLICY

VERDICT_GLYPHS = {Verdict.PRESERVED: "✔", Verdict.DEGRADED: "◐", Verdict.LOST: "✖"}
SPANS_SHOWN = 200
_TEXT = 100


def pin_line(pin: Pin) -> str:
    """Return one pin: id, class, text."""
    return f"{pin.id}  {pin.cls.value}{' critical' if pin.critical else ''}  {safe(pin.text, _TEXT)}"


def counted(taken: Snapshot) -> str:
    """Return what a snapshot took, refused and left without a verdict."""
    judged = len(taken.judged())
    return (
        f"{judged} pinned, {len(taken.pins) - judged} recorded without a verdict, {len(taken.refused)} refused, "
        f"{len(taken.uncovered)} look like a rule and are not covered"
    )


def audit_lines(made: Audit) -> Iterator[str]:
    """Yield the verdicts of one audit, the gravest first."""
    yield f"{_counts(made)}  (policy {POLICY})"
    if made.split.torn:
        yield "  what begins like a re-injected block is none: it was read as text"
    yield from _span_lines(made.spans)
    yield f"  {counted(made.snapshot)}"
    yield "  does not prove: that a rule kept is obeyed, that a rule not found by words is gone in meaning"


def _counts(made: Audit) -> str:
    return ", ".join(f"{number} {verdict.value}" for verdict, number in made.counts().items())


def _span_lines(spans: Sequence[SpanAudit]) -> Iterator[str]:
    ordered = by_severity(spans)
    for each in ordered[:SPANS_SHOWN]:
        block = " (in the re-injected block only)" if each.in_block and each.body is not Verdict.PRESERVED else ""
        critical = " critical" if each.pin.critical else ""
        words = f"{each.judged.found} of {each.judged.total} words"
        yield (
            f"  {VERDICT_GLYPHS[each.verdict]} {each.verdict.value}{block}  {each.pin.cls.value}{critical}  {words}"
            f"  {safe(each.pin.text, _TEXT)}"
        )
        if each.evidence.flags:
            yield f"      {' '.join(flag.value for flag in each.evidence.flags)}"
        if each.judged.dropped_text and each.body is Verdict.DEGRADED:
            yield f"      gone: {safe(' … '.join(each.judged.dropped_text), _TEXT)}"
    if len(ordered) > SPANS_SHOWN:
        yield f"  … and {len(ordered) - SPANS_SHOWN} more (--json lists all)"


def session_lines(session: SessionAudit) -> Iterator[str]:
    """Yield a session's pins and the verdicts of each round."""
    yield f"{safe(session.source, 200)}: session {safe(session.session)}, {safe(session.compactor)}"
    yield f"  {counted(session.snapshot)}"
    if session.left_out_rules or session.left_out_others:
        yield f"  over the limit and left out: {session.left_out_rules} rules, {session.left_out_others} other lines"
    for each in session.rounds:
        yield from _round_lines(session, each)


def _round_lines(session: SessionAudit, each: RoundAudit) -> Iterator[str]:
    if each.audit is None:
        pins = len(session.pins_in(each.index))
        yield f"  round {each.index}: ○ {pins} UNVERIFIABLE: {safe(each.why_not)}"
        return
    bounded = f"  partial: {safe(each.bounded)}" if each.bounded else ""
    yield f"  round {each.index}: {_counts(each.audit)}{bounded}"
    for line in _span_lines([span for span in each.audit.spans if span.verdict is not Verdict.PRESERVED]):
        yield f"  {line}"


def session_json(session: SessionAudit) -> dict[str, Any]:
    """Return the stable machine form of one audited session."""
    return {
        "session": session.session,
        "source": session.source,
        "sha256": session.digest,
        "compactor": session.compactor,
        "snapshot": session.snapshot.as_json(),
        "entered": dict(session.entered),
        "left_out": {"rules": session.left_out_rules, "others": session.left_out_others},
        "rounds": [_round_json(each) for each in session.rounds],
    }


def _round_json(each: RoundAudit) -> dict[str, Any]:
    return {
        "round": each.index,
        "state": each.state.value,
        "method": each.method,
        "model": each.model,
        "unverifiable": each.why_not,
        "bounded": each.bounded,
        "words_before": each.words_before,
        "words_after": each.words_after,
        "block_words": each.block_words,
        "audit": None if each.audit is None else each.audit.as_json(),
        "summary_counts": None
        if each.summary is None
        else {verdict.value: number for verdict, number in each.summary.counts().items()},
    }

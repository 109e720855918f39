"""May the payload of an event of this kind ever leave?

Every kind declares one class, exhaustively: a new kind without a class fails the type check, the import and a test. The
class is the product document's word on compaction; it says nothing about whether an event matters to anyone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never


class RetentionClass(StrEnum):
    """What compaction may do with an event; the strictest first."""

    NEVER = "never"
    SUMMARISE = "summarise"
    HUSK = "husk"


class EventKind(StrEnum):
    """Every kind of event that a store takes."""

    EVIDENCE = "evidence"
    MARKER = "marker"
    SEAL = "seal"
    RECEIPT = "receipt"
    PLAN = "plan"
    APPROVAL = "approval"
    POLICY = "policy"
    HOLD = "hold"
    UNSEAL = "unseal"
    WITNESS_PIN = "witness_pin"
    LIGHT_CALL = "light_call"
    AGENT_TURN = "agent_turn"
    TOOL_CALL = "tool_call"
    VERDICT = "verdict"
    USAGE_TICK = "usage_tick"
    HEARTBEAT = "heartbeat"
    PROGRESS = "progress"


def retention_class(kind: EventKind) -> RetentionClass:
    """Return the class of a kind."""
    match kind:
        case (
            EventKind.EVIDENCE
            | EventKind.MARKER
            | EventKind.SEAL
            | EventKind.RECEIPT
            | EventKind.PLAN
            | EventKind.APPROVAL
            | EventKind.POLICY
            | EventKind.HOLD
            | EventKind.UNSEAL
            | EventKind.WITNESS_PIN
        ):
            return RetentionClass.NEVER
        case EventKind.LIGHT_CALL | EventKind.AGENT_TURN | EventKind.TOOL_CALL | EventKind.VERDICT:
            return RetentionClass.HUSK
        case EventKind.USAGE_TICK | EventKind.HEARTBEAT | EventKind.PROGRESS:
            return RetentionClass.SUMMARISE
        case _:
            assert_never(kind)


CLASSES = {kind: retention_class(kind) for kind in EventKind}
"""The whole registry; made on import, so that a kind without a class stops the program before it can store anything."""

_STRICTEST_FIRST = tuple(RetentionClass)


def stricter(one: RetentionClass, other: RetentionClass) -> RetentionClass:
    """Return the stricter of two classes: an event keeps the class it came in under when today's is looser."""
    return min(one, other, key=_STRICTEST_FIRST.index)

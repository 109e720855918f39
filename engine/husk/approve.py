"""Who agreed to this plan, may they, and is that enough?

A decision is a signed statement over the digest of one plan, made with an approver's own key; the keyring says who may
approve. A veto ends a plan. With two or more approvers registered the one who asked for the plan may not approve it;
alone the answer says "single operator". A decision proves that a key signed it, not that its holder read the plan.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from engine.errors import RefusedError
from engine.findings import Code, Finding, Result, Severity
from engine.husk.plan import HuskPlan
from engine.signing.envelope import canonical, check, sign
from engine.signing.keyring import Keyring
from engine.signing.keys import PrivateKey
from engine.signing.purpose import Purpose

SCHEMA = "winnow-approval/1"
NONCE_BYTES = 16
REASON_LIMIT = 1_000

APPROVAL_SHAPE = Code("APPROVAL_SHAPE", Severity.BREAK, "The signed content is no decision on a plan.")
APPROVAL_OTHER_PLAN = Code("APPROVAL_OTHER_PLAN", Severity.BREAK, "The decision was signed over another plan.")
APPROVAL_OTHER_STORE = Code("APPROVAL_OTHER_STORE", Severity.BREAK, "The decision was signed for another store.")
APPROVAL_OTHER_TERMS = Code(
    "APPROVAL_OTHER_TERMS", Severity.BREAK, "The decision names another mode or other totals than the plan."
)
APPROVAL_REPLAYED = Code("APPROVAL_REPLAYED", Severity.BREAK, "A decision with this nonce was counted already.")
APPROVAL_BY_CREATOR = Code(
    "APPROVAL_BY_CREATOR",
    Severity.BREAK,
    "Who asked for the plan may not approve it.",
    "another registered approver must decide",
)
APPROVAL_SAME_PERSON = Code(
    "APPROVAL_SAME_PERSON", Severity.BREAK, "The same person or key has approved already and counts once."
)


class Decision(StrEnum):
    """What an approver says."""

    APPROVE = "approve"
    VETO = "veto"


class Standing(StrEnum):
    """Where a plan stands."""

    AWAITING = "awaiting"
    APPROVED = "approved"
    VETOED = "vetoed"
    EXPIRED = "expired"
    UNAPPROVABLE = "unapprovable"


@dataclass(frozen=True, slots=True)
class Approved:
    """One decision that counts: the approver's name and key, when it was issued, why, and its nonce."""

    name: str
    key_id: str
    decision: Decision
    issued_at: str
    reason: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Standings:
    """The answer on a plan: `counted` decisions, `refused` ones with their reasons, and how many are needed.

    `single_operator` says that at most one approver is registered, so that nobody else could have looked.
    """

    standing: Standing
    needed: int
    counted: tuple[Approved, ...]
    refused: tuple[Finding, ...]
    single_operator: bool

    @property
    def given(self) -> int:
        """Return how many approvals count."""
        return sum(each.decision is Decision.APPROVE for each in self.counted)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "standing": self.standing.value,
            "needed": self.needed,
            "given": self.given,
            "single_operator": self.single_operator,
            "counted": [
                {"name": each.name, "key_id": each.key_id, "decision": each.decision.value, "reason": each.reason}
                for each in self.counted
            ],
            "refused": [finding.as_json() for finding in self.refused],
        }


def decide(
    plan: HuskPlan, decision: Decision, key: PrivateKey, *, code: str, reason: str, now: datetime
) -> dict[str, Any]:
    """Sign a decision on a plan whose short code was typed in.

    Raises `RefusedError`: APPROVAL_CODE_WRONG, APPROVAL_WITHOUT_REASON, PLAN_HAS_ERRORS (to approve), PLAN_EXPIRED.
    """
    if code.strip().lower() != plan.short:
        raise RefusedError("APPROVAL_CODE_WRONG", "the short code is not this plan's", hint="type the code of the plan")
    why = reason.strip()
    if not 0 < len(why) <= REASON_LIMIT:
        raise RefusedError("APPROVAL_WITHOUT_REASON", f"a decision needs a reason of at most {REASON_LIMIT} characters")
    if decision is Decision.APPROVE and plan.errors():
        found = plan.errors()[0]
        raise RefusedError("PLAN_HAS_ERRORS", f"nobody may approve it: {found['sentence']}", hint="make another plan")
    left = _expires(plan) - now
    if left <= timedelta(0):
        raise RefusedError("PLAN_EXPIRED", "the plan may no longer be decided on", hint="make it again")
    body = {**_terms(plan), "decision": decision.value, "nonce": secrets.token_hex(NONCE_BYTES), "reason": why}
    return sign(body, Purpose.APPROVAL, key, now=now, valid_for=left)


def _terms(plan: HuskPlan) -> dict[str, Any]:
    """Return what an approver signs of a plan: its digest binds all else, the rest is what was seen."""
    totals = plan.body["totals"]
    return {
        "schema": SCHEMA,
        "plan": plan.id,
        "digest": plan.digest,
        "lineage": plan.body["binding"]["lineage"],
        "mode": plan.body["mode"],
        "moved_events": sum(count for act, count in totals["events"].items() if act != "keep"),
        "moved_bytes": totals["moved_raw_bytes"],
        "execute_within": plan.body["execute_within"],
    }


def _expires(plan: HuskPlan) -> datetime:
    return datetime.fromtimestamp(plan.body["expires_at"] / 1_000_000, UTC)


def standings(plan: HuskPlan, decisions: Iterable[Mapping[str, Any]], keyring: Keyring, *, now: datetime) -> Standings:
    """Judge the decisions on a plan, in the order given; one veto ends it, each person and key counts once."""
    registered = {entry.name for entry in keyring.approvers()}
    alone = len(registered) < 2  # noqa: PLR2004 - four eyes need two people
    counted: list[Approved] = []
    refused: list[Finding] = []
    for statement in decisions:
        found = _judge(plan, statement, keyring, counted, alone=alone, now=now)
        if isinstance(found, Approved):
            counted.append(found)
        else:
            refused.append(found)
    needed = int(plan.body["demands"]["approvals"])
    given = sum(each.decision is Decision.APPROVE for each in counted)
    if any(each.decision is Decision.VETO for each in counted):
        standing = Standing.VETOED
    elif plan.errors():
        standing = Standing.UNAPPROVABLE
    elif now >= _expires(plan):
        standing = Standing.EXPIRED
    else:
        standing = Standing.APPROVED if given >= needed else Standing.AWAITING
    return Standings(standing, needed, tuple(counted), tuple(refused), alone)


def _judge(
    plan: HuskPlan,
    statement: Mapping[str, Any],
    keyring: Keyring,
    counted: list[Approved],
    *,
    alone: bool,
    now: datetime,
) -> Approved | Finding:
    checked = check(statement, Purpose.APPROVAL, keyring, now=now)
    if checked.result is not Result.HOLDS or checked.body is None:
        return checked.findings[0]
    body = checked.body
    if code := _belongs(plan, body):
        return Finding(code, claimed=str(body.get("plan"))[:80], found=plan.id)
    entry = keyring.find(body["key_id"])
    if entry is None:
        return Finding(APPROVAL_SHAPE)
    made = Approved(
        entry.name, entry.key.id, Decision(body["decision"]), body["issued_at"], body["reason"], body["nonce"]
    )
    if any(each.nonce == made.nonce for each in counted):
        return Finding(APPROVAL_REPLAYED, found=entry.name)
    if made.decision is Decision.VETO:
        return made
    if not alone and entry.name == plan.body["creator"]:
        return Finding(APPROVAL_BY_CREATOR, found=entry.name)
    if any(made.name == each.name or made.key_id == each.key_id for each in counted):
        return Finding(APPROVAL_SAME_PERSON, found=entry.name)
    return made


def _belongs(plan: HuskPlan, body: Mapping[str, Any]) -> Code | None:
    texts = ("decision", "nonce", "reason", "plan", "digest")
    known = {decision.value for decision in Decision}
    if body.get("schema") != SCHEMA or any(not isinstance(body.get(name), str) for name in texts):
        return APPROVAL_SHAPE
    if body["decision"] not in known:
        return APPROVAL_SHAPE
    terms = _terms(plan)
    if body.get("lineage") != terms["lineage"]:
        return APPROVAL_OTHER_STORE
    if (body["plan"], body["digest"]) != (terms["plan"], terms["digest"]):
        return APPROVAL_OTHER_PLAN
    return None if all(body.get(name) == value for name, value in terms.items()) else APPROVAL_OTHER_TERMS


def statement_name(statement: Mapping[str, Any]) -> str:
    """Return the name a decision is kept under: the digest of its bytes, so that one is kept once."""
    return hashlib.sha256(canonical(statement)).hexdigest()[:32]

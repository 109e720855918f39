"""Decisions on a plan: who may, what counts, and what is refused by which name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.errors import RefusedError
from engine.husk.approve import Decision, Standing, Standings, decide, standings
from engine.husk.decisions import keep, kept
from engine.husk.plan import HuskPlan
from engine.husk.policy import Mode, Policy
from engine.husk.store import HuskStore
from engine.signing.custody import Custody
from engine.signing.envelope import sign
from engine.signing.keys import PrivateKey
from engine.signing.purpose import Purpose
from tests.support.stores import LATER, POLICY, saved_plan, store_in, usual_events

MIRA, NOOR, TESS = (PrivateKey(bytes([number]) * 32) for number in (1, 2, 3))
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> HuskStore:
    """Return a store with events of real shape."""
    return store_in(tmp_path / "husk", usual_events())


@pytest.fixture
def plan(store: HuskStore) -> HuskPlan:
    """Return a plan that tess asked for."""
    return saved_plan(store).plan


@pytest.fixture
def custody(tmp_path: Path) -> Custody:
    """Return a keyring in which mira, noor and tess may approve."""
    made = Custody(tmp_path / "w")
    made.init("workspace", START)
    for name, key in (("mira", MIRA), ("noor", NOOR), ("tess", TESS)):
        made.trust(key.public, name, [Purpose.APPROVAL], START)
    return made


def by(key: PrivateKey, plan: HuskPlan, decision: Decision = Decision.APPROVE, **more: Any) -> dict[str, Any]:
    """Decide."""
    return decide(plan, decision, key, **{"code": plan.short, "reason": "read it", "now": LATER, **more})


def stand(plan: HuskPlan, custody: Custody, *statements: dict[str, Any], now: datetime = LATER) -> Standings:
    """Judge decisions."""
    return standings(plan, statements, custody.keyring(), now=now)


def test_one_approval_is_enough_to_archive(plan: HuskPlan, custody: Custody) -> None:
    """Awaiting without it, approved with it; the name and reason stand in the answer."""
    assert (stand(plan, custody).standing, stand(plan, custody).needed) == (Standing.AWAITING, 1)
    made = stand(plan, custody, by(MIRA, plan))
    assert (made.standing, made.given, made.single_operator) == (Standing.APPROVED, 1, False)
    assert [(each.name, each.reason) for each in made.counted] == [("mira", "read it")]
    assert made.as_json()["given"] == 1


def test_who_asked_may_not_approve_when_others_could(plan: HuskPlan, custody: Custody) -> None:
    """Four eyes; a veto is everybody's right."""
    own = stand(plan, custody, by(TESS, plan))
    assert (own.standing, [f.code.name for f in own.refused]) == (Standing.AWAITING, ["APPROVAL_BY_CREATOR"])
    assert stand(plan, custody, by(TESS, plan, Decision.VETO)).standing is Standing.VETOED


def test_alone_the_operator_may_and_it_is_said(plan: HuskPlan, tmp_path: Path) -> None:
    """With one approver registered nobody else could have looked."""
    alone = Custody(tmp_path / "alone")
    alone.init("workspace", START)
    alone.trust(TESS.public, "tess", [Purpose.APPROVAL], START)
    made = stand(plan, alone, by(TESS, plan))
    assert (made.standing, made.single_operator) == (Standing.APPROVED, True)


def test_deleting_takes_two_people(store: HuskStore, custody: Custody) -> None:
    """The same person twice, or with a second key, counts once."""
    plan = saved_plan(store, mode=Mode.DELETE).plan
    second = PrivateKey(bytes([9]) * 32)
    custody.trust(second.public, "mira", [Purpose.APPROVAL], START)
    if plan.errors():
        assert stand(plan, custody).standing is Standing.UNAPPROVABLE
    wide = HuskPlan({**plan.body, "warnings": []}, plan.batches)
    twice = stand(wide, custody, by(MIRA, wide), by(MIRA, wide), by(second, wide))
    assert (twice.standing, twice.needed, twice.given) == (Standing.AWAITING, 2, 1)
    assert [f.code.name for f in twice.refused] == ["APPROVAL_SAME_PERSON", "APPROVAL_SAME_PERSON"]
    assert stand(wide, custody, by(MIRA, wide), by(NOOR, wide)).standing is Standing.APPROVED


def test_one_veto_ends_it(plan: HuskPlan, custody: Custody) -> None:
    """Whatever else was said, before or after."""
    for statements in (
        (by(MIRA, plan), by(NOOR, plan, Decision.VETO)),
        (by(NOOR, plan, Decision.VETO), by(MIRA, plan)),
    ):
        assert stand(plan, custody, *statements).standing is Standing.VETOED


def test_each_wrong_decision_has_its_code(plan: HuskPlan, store: HuskStore, custody: Custody) -> None:
    """Key, purpose, time, plan, store, terms, nonce, shape, content."""
    good = by(MIRA, plan)
    body = {k: v for k, v in good.items() if k not in {"purpose", "key_id", "issued_at", "valid_until", "signature"}}

    def signed(key: PrivateKey = MIRA, purpose: Purpose = Purpose.APPROVAL, **changed: Any) -> dict[str, Any]:
        return sign({**body, **changed}, purpose, key, now=LATER, valid_for=timedelta(days=1))

    other = saved_plan(store, creator="mira").plan
    wrong = {
        "KEY_UNKNOWN": signed(PrivateKey(bytes([7]) * 32)),
        "PURPOSE_WRONG": signed(purpose=Purpose.RECEIPT),
        "KEY_PURPOSE_WRONG": sign(body, Purpose.APPROVAL, custody.signer(), now=LATER, valid_for=timedelta(days=1)),
        "APPROVAL_OTHER_PLAN": by(MIRA, other),
        "APPROVAL_OTHER_STORE": signed(lineage="store-0"),
        "APPROVAL_OTHER_TERMS": signed(moved_events=1),
        "APPROVAL_SHAPE": signed(decision="maybe"),
        "SIGNATURE_WRONG": {**good, "reason": "another"},
        "NOT_A_STATEMENT": {},
    }
    for code, statement in wrong.items():
        made = stand(plan, custody, statement)
        assert ([f.code.name for f in made.refused], made.given) == ([code], 0), code
    replayed = stand(plan, custody, good, signed(NOOR))
    assert [f.code.name for f in replayed.refused] == ["APPROVAL_REPLAYED"]
    custody.revoke(MIRA.public.id, LATER)
    assert [f.code.name for f in stand(plan, custody, good).refused] == ["KEY_REVOKED"]


def test_a_decision_ends_with_its_plan(plan: HuskPlan, custody: Custody) -> None:
    """Valid until the plan expires, to the second; then neither counts."""
    good = by(MIRA, plan)
    end = LATER + timedelta(seconds=Policy().plan_expires)
    assert stand(plan, custody, good, now=end - timedelta(seconds=1)).standing is Standing.APPROVED
    late = stand(plan, custody, good, now=end)
    assert (late.standing, [f.code.name for f in late.refused]) == (Standing.EXPIRED, ["STATEMENT_EXPIRED"])


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"code": "0000-0000"}, "APPROVAL_CODE_WRONG"),
        ({"code": ""}, "APPROVAL_CODE_WRONG"),
        ({"reason": " \n"}, "APPROVAL_WITHOUT_REASON"),
        ({"reason": "x" * 1001}, "APPROVAL_WITHOUT_REASON"),
        ({"now": LATER + timedelta(days=8)}, "PLAN_EXPIRED"),
    ],
)
def test_a_decision_that_says_nothing_is_not_signed(plan: HuskPlan, changed: dict[str, Any], code: str) -> None:
    """The code is typed, the reason given, the plan still open."""
    with pytest.raises(RefusedError) as seen:
        by(MIRA, plan, **changed)
    assert seen.value.code == code


def test_a_plan_with_errors_is_approved_by_nobody(tmp_path: Path, custody: Custody) -> None:
    """Nothing eligible is an error; a veto may still be given."""
    young = store_in(tmp_path / "young", usual_events(), policy=Policy(horizons=POLICY.horizons, grace=10**8))
    plan = saved_plan(young).plan
    assert plan.errors()
    with pytest.raises(RefusedError) as seen:
        by(MIRA, plan)
    assert seen.value.code == "PLAN_HAS_ERRORS"
    assert stand(plan, custody).standing is Standing.UNAPPROVABLE
    assert stand(plan, custody, by(MIRA, plan, Decision.VETO)).standing is Standing.VETOED


def test_decisions_are_kept_once_and_judged_when_read(store: HuskStore, plan: HuskPlan, custody: Custody) -> None:
    """The same one twice is one file; a file that is no statement is refused by name and hides no other."""
    first, second = by(MIRA, plan), by(NOOR, plan)
    path = keep(store.folder, plan.id, first)
    assert keep(store.folder, plan.id, first) == path
    keep(store.folder, plan.id, second)
    (path.parent / "x.json").write_text("no json")
    found = kept(store.folder, plan.id)
    assert len(found) == 3
    made = stand(plan, custody, *found)
    assert (made.given, [f.code.name for f in made.refused]) == (2, ["NOT_A_STATEMENT"])
    assert kept(store.folder, "plan_none") == ()

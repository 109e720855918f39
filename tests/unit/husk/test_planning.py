"""Plans: dry by construction, the same from the same state, and each event with its reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from engine.errors import CannotLookError, RefusedError
from engine.husk.facts import extractor_of
from engine.husk.fidelity import CONSUMERS, Consumer, Fidelity
from engine.husk.holds import HoldReason, Target, lift_hold, place_hold
from engine.husk.kinds import EventKind
from engine.husk.plan import Act, Action, Asked, HuskPlan, Outside, Reason, Scope
from engine.husk.planning import make_plan
from engine.husk.plans import SavedPlan, body_path, drafting, list_plans, load_plan, sidecar_path
from engine.husk.policy import DAY, Mode, Policy
from engine.husk.rehearsal import Readers
from engine.husk.store import HuskStore
from tests.support.events import event
from tests.support.hostile_extractors import write
from tests.support.stores import INGESTED, LATER, POLICY, admitted, saved_plan, store_in, usual_events


@pytest.fixture
def store(tmp_path: Path) -> HuskStore:
    """Return a store with the usual events and policy."""
    return store_in(tmp_path / "husk", usual_events())


def reasons(saved: SavedPlan) -> dict[str, Reason]:
    """Return the reason by event id."""
    return {action.id: action.reason for action in saved.actions()}


def warned(plan: HuskPlan) -> list[str]:
    """Return the codes of the warnings in order."""
    return [each["code"] for each in plan.warnings()]


def test_every_event_in_scope_has_an_action_and_a_reason(store: HuskStore) -> None:
    """Calls are archived, the marker and the heartbeat stay with the reason of their class."""
    saved = saved_plan(store)
    found = {action.id: (action.act, action.reason) for action in saved.actions()}
    assert found.pop("m-1") == (Act.KEEP, Reason.CLASS_NEVER)
    assert found.pop("h-1") == (Act.KEEP, Reason.CLASS_SUMMARISE)
    assert set(found.values()) == {(Act.ARCHIVE, Reason.OLD_ENOUGH)}
    assert saved.plan.body["totals"]["events"] == {"archive": 8, "keep": 2}
    assert saved.plan.errors() == ()


def test_planning_changes_nothing(store: HuskStore) -> None:
    """Every file of the store has the same bytes before and after planning; the folder of plans is outside of it."""
    before = {path.name: path.read_bytes() for path in store.folder.iterdir() if path.name != "store.db-shm"}
    saved_plan(store)
    after = {path.name: path.read_bytes() for path in store.folder.iterdir() if path.is_file()}
    assert {name: data for name, data in after.items() if data and name != "store.db-shm"} == before


def test_the_same_state_gives_the_same_bytes_anywhere(store: HuskStore) -> None:
    """Planned twice, and in another process with another hash seed: one plan."""
    once = saved_plan(store)
    assert saved_plan(store).plan.data() == once.plan.data()
    assert list_plans(store.folder) == (once.id,)
    script = (
        "import sys; from pathlib import Path; from engine.husk.store import HuskStore\n"
        "from tests.support.stores import saved_plan\n"
        "print(saved_plan(HuskStore.open(Path(sys.argv[1]))).id)"
    )
    for seed in ("0", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(store.folder)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.stdout.strip() == once.id


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"as_of": INGESTED + timedelta(hours=20)}, Reason.TOO_YOUNG),
        ({"as_of": INGESTED + timedelta(seconds=DAY + 10), "grace": 2 * DAY}, Reason.SESSION_OPEN),
    ],
)
def test_age_and_open_sessions_keep_an_event(tmp_path: Path, change: dict[str, object], wanted: Reason) -> None:
    """The later of claimed and ingest time counts, and a session must have been quiet."""
    policy = replace(POLICY, grace=int(str(change.pop("grace", POLICY.grace))))
    store = store_in(tmp_path / "husk", usual_events(), policy=policy)
    assert reasons(saved_plan(store, **change))["e-0"] is wanted  # type: ignore[arg-type]


def test_activity_outside_the_scope_keeps_a_session_open(store: HuskStore) -> None:
    """A heartbeat of today keeps yesterday's calls of its session whole, also when only calls are asked about."""
    store.ingest([admitted(event("h-2", "heartbeat", session="run-0"))], now=LATER - timedelta(minutes=5))
    saved = saved_plan(store, Scope(kinds=(EventKind.LIGHT_CALL,)))
    assert reasons(saved)["e-0"] is Reason.SESSION_OPEN
    assert reasons(saved)["e-1"] is Reason.OLD_ENOUGH


@pytest.mark.parametrize(
    ("target", "value"), [(Target.EVENT, "e-0"), (Target.SESSION, "run-0"), (Target.KIND, "light_call")]
)
def test_a_hold_keeps_an_event_and_is_named(store: HuskStore, target: Target, value: str) -> None:
    """A hold by event, session or kind is the reason, with its id; lifted, it is none."""
    hold = place_hold(store, target, value, HoldReason.LEGAL, reason="case 12", by="ann", now=INGESTED)
    action = next(each for each in saved_plan(store).actions() if each.id == "e-0")
    assert (action.reason, action.detail) == (Reason.HELD, f"legal {hold.id}")
    lift_hold(store, hold.id)
    assert reasons(saved_plan(store))["e-0"] is Reason.OLD_ENOUGH


def test_no_policy_and_nothing_to_do_cannot_be_approved(tmp_path: Path) -> None:
    """Unset means that nothing is eligible, and a plan that would do nothing is an error."""
    bare = store_in(tmp_path / "bare", usual_events(), policy=None)
    assert warned(saved_plan(bare).plan) == ["NO_POLICY"]
    assert set(reasons(saved_plan(bare)).values()) <= {Reason.NO_HORIZON, Reason.CLASS_NEVER, Reason.CLASS_SUMMARISE}
    empty = store_in(tmp_path / "empty", [])
    assert [each["code"] for each in saved_plan(empty).plan.errors()] == ["NOTHING_TO_DO"]


def test_small_and_strange_events_stay_whole(tmp_path: Path) -> None:
    """No gain and an unknown shape are reasons; the shape's place is told."""
    small = {"id": "s-1", "kind": "light_call", "occurredAt": "2026-01-01T00:00:00Z", "light": {"rawRequest": "x"}}
    store = store_in(tmp_path / "husk", [small, event("e-1", error="broken"), event("e-2")])
    found = {action.id: (action.reason, action.detail) for action in saved_plan(store).actions()}
    assert found["s-1"] == (Reason.NO_GAIN, "")
    assert found["e-1"] == (Reason.UNPROJECTABLE, "/error")
    assert "SHAPE_UNPROJECTABLE" in warned(saved_plan(store).plan)


def test_a_time_in_the_future_is_warned(tmp_path: Path) -> None:
    """An event that claims 2099 is not eligible and is named."""
    store = store_in(tmp_path / "husk", [event("e-1", occurredAt="2099-01-01T00:00:00Z"), event("e-2", session="b")])
    saved = saved_plan(store)
    assert reasons(saved)["e-1"] is Reason.TOO_YOUNG
    assert "FUTURE_TIME" in warned(saved.plan)


def test_an_unknown_kind_in_the_store_refuses_the_plan(store: HuskStore) -> None:
    """A store of a newer build is not planned over."""
    with store.writing() as connection:
        connection.exec_driver_sql(
            "INSERT INTO events SELECT 99,'x','dream',session,0,0,'husk','whole',1,salt,"
            "commit_digest,link,'',1,NULL,NULL,NULL,NULL FROM events WHERE seq=1"
        )
    with pytest.raises(RefusedError, match="dream"):
        saved_plan(store)


def test_a_reader_that_lies_makes_the_plan_unapprovable(store: HuskStore) -> None:
    """A reader that declares exact and reads the response is found out and named."""
    liar = Consumer(
        "answer_length", Fidelity.EXACT, "length", lambda value: len(str(value["light"].get("rawResponse")))
    )
    saved = saved_plan(store, readers=Readers(consumers=(*CONSUMERS, liar)))
    (error,) = saved.plan.errors()
    assert error["code"] == "DECLARATION_FALSE"
    assert "answer_length" in error["sentence"]
    assert error["count"] == 8


def test_honest_readers_are_counted(store: HuskStore) -> None:
    """Every declared exact or facts reading matched on every event, and those that lose are warned of."""
    plan = saved_plan(store).plan
    table = {each["name"]: each for each in plan.body["consumers"]}
    assert all(each["checked"] == 8 and each["untested"] == 0 for each in table.values())
    assert all(each["matched"] == 8 for each in table.values() if each["fidelity"] in {"exact", "facts"})
    assert table["free_text_search"]["boundaries"] == 8
    assert warned(plan) == ["READER_LOSES", "READER_LOSES"]


def test_an_extractor_that_fails_blocks_its_event(store: HuskStore, tmp_path: Path) -> None:
    """An event without facts is never planned to leave, and the plan has an error."""
    bad = extractor_of(write(tmp_path, "raises"))
    saved = saved_plan(store, readers=Readers(extractors=(bad,), consumers=()))
    sys.path.remove(str(tmp_path))
    assert reasons(saved)["e-0"] is Reason.FACTS_FAILED
    assert [each["code"] for each in saved.plan.errors()] == ["FACTS_FAILED", "NOTHING_TO_DO"]


def test_deleting_needs_an_archive_that_has_cooled_off(store: HuskStore) -> None:
    """A whole event is not deleted."""
    assert reasons(saved_plan(store, mode=Mode.DELETE))["e-0"] is Reason.NOT_ARCHIVED


def test_events_after_planning_do_not_change_the_plan_of_before(store: HuskStore) -> None:
    """The scope root is over what was there."""
    before = saved_plan(store)
    store.ingest([admitted(event("late", session="other"))], now=LATER)
    after = saved_plan(store)
    assert before.plan.body["binding"]["scope_root"] != after.plan.body["binding"]["scope_root"]
    assert before.plan.body["binding"]["watermark"] == 10


def test_no_edited_byte_of_a_plan_passes(store: HuskStore) -> None:
    """Body and actions, each byte changed: refused with the code of an edited plan."""
    saved = saved_plan(store)
    for path in (body_path(store.folder, saved.id), sidecar_path(store.folder, saved.id)):
        data = bytearray(path.read_bytes())
        for at in range(len(data)):
            data[at] ^= 1
            path.write_bytes(data)
            with pytest.raises(RefusedError) as refused:
                list(load_plan(store.folder, saved.id).actions())
            assert refused.value.code == "PLAN_EDITED"
            data[at] ^= 1
        path.write_bytes(data)
    assert len(list(load_plan(store.folder, saved.id).actions())) == 10


def test_reordered_and_missing_actions_are_refused(store: HuskStore) -> None:
    """The order of the actions is bound, and so is their number."""
    saved = saved_plan(store)
    path = sidecar_path(store.folder, saved.id)
    lines = path.read_bytes().splitlines(keepends=True)
    for edited in ([lines[1], lines[0], *lines[2:]], lines[:-1], [*lines, lines[0]], []):
        path.write_bytes(b"".join(edited))
        with pytest.raises(RefusedError):
            list(load_plan(store.folder, saved.id).actions())
    with pytest.raises(CannotLookError):
        load_plan(store.folder, "plan_none")


def test_a_draft_that_fails_leaves_no_file(store: HuskStore) -> None:
    """Nothing of a plan that could not be made stays behind."""
    with store.snapshot() as taken, pytest.raises(ZeroDivisionError), drafting(store.folder):
        make_plan(taken, Asked(Scope(), Mode.ARCHIVE, LATER), Outside("tess"), lambda _line: 1 // 0)
    assert list((store.folder / "plans").iterdir()) == []


def test_an_action_reads_back(store: HuskStore) -> None:
    """A line of the sidecar is the action."""
    for action in saved_plan(store).actions():
        assert Action.from_json(json.loads(json.dumps(action.as_json()))) == action


def test_policies_bind() -> None:
    """Another version is another digest, though nothing else changed."""
    assert Policy(version=1).digest() != Policy(version=2).digest()

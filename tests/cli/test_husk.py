"""`winnow husk` as it is typed."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.control.ledger import Act, ControlLedger
from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, EXIT_USAGE
from engine.findings import Result
from engine.husk.kinds import EventKind
from engine.husk.policy import Policy, save_policy
from engine.husk.store import HuskStore
from tests.support.commands import Typed, typed
from tests.support.events import event, raw
from tests.support.sessions import ClaudeSession


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Return a file of events."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(raw(event(f"e-{number}")) for number in range(6)) + b"\n")
    return path


def husk(folder: Path, *words: object) -> Typed:
    """Type a command on a workspace."""
    return typed("husk", *words, "--workspace", folder / "w")


def test_from_file_to_plan(tmp_path: Path, events: Path) -> None:
    """Ingest, policy, plan, status: what leaves and why; every act on the record."""
    assert husk(tmp_path, "ingest", events).code == EXIT_HOLDS
    nothing = husk(tmp_path, "plan", "--json").json
    assert nothing["body"]["totals"]["by_reason"] == {"no_horizon": 6}
    saved = husk(tmp_path, "policy", "light_call=1d", "--json").json
    assert (saved["version"], saved["policy"]["horizons"]) == (1, {"light_call": 86400})
    made = husk(tmp_path, "plan", "--session", "run-1", "--by", "tess")
    # Ingested just now: the age counts from the later of the two times, so nothing is old enough yet.
    assert (made.code, "too_young: 6" in made.out, "NOTHING" in made.out) == (EXIT_FAILS, True, True)
    assert husk(tmp_path, "policy", "light_call=0s").code == EXIT_HOLDS
    plan = husk(tmp_path, "plan", "--json").json
    assert plan["body"]["totals"]["by_reason"] == {"session_open": 6}
    assert plan["plan"] == f"plan_{plan['plan'][5:]}"
    status = husk(tmp_path, "status", "--json").json
    assert (status["events"], status["kinds"], len(status["plans"])) == (6, {"light_call": 6}, 3)
    control = ControlLedger(tmp_path / "w")
    assert [row.act for row in control.rows()] == [
        Act.STORE_CREATE,
        Act.INGEST,
        Act.PLAN,
        Act.POLICY,
        Act.PLAN,
        Act.POLICY,
        Act.PLAN,
    ]
    assert control.verify().result is Result.HOLDS


def test_a_plan_writes_nothing_into_the_store(tmp_path: Path, events: Path) -> None:
    """The store's file is the same before and after, byte for byte."""
    husk(tmp_path, "ingest", events)
    husk(tmp_path, "policy", "light_call=0s")
    husk(tmp_path, "status")
    store = tmp_path / "w" / "husk" / "store.db"
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    assert husk(tmp_path, "plan").code == EXIT_FAILS
    assert len(husk(tmp_path, "status", "--json").json["plans"]) == 1
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before


def planned(folder: Path, events: Path) -> tuple[str, str]:
    """Return name and short code of a plan that can be approved; its age counts from a policy without waiting."""
    husk(folder, "ingest", events)
    store = HuskStore.open(folder / "w" / "husk")
    now = datetime.now(UTC)
    save_policy(store, Policy(horizons={EventKind.LIGHT_CALL: 0}, grace=0), by="tess", now=now)
    made = husk(folder, "plan", "--by", "tess", "--json").json
    assert made["body"]["totals"]["events"] == {"archive": 6}
    return made["plan"], made["short"]


def test_a_plan_is_approved_once_by_another_person(tmp_path: Path, events: Path) -> None:
    """Own key, typed code, reason; the creator may not; the record names who; an envelope from elsewhere counts too."""
    plan, code = planned(tmp_path, events)
    where = ("--workspace", tmp_path / "w")
    assert typed("keys", "init", *where).code == EXIT_HOLDS
    for name in ("tess", "mira", "noor"):
        assert typed("keys", "approver", tmp_path / f"{name}.key", "--name", name, *where).code == EXIT_HOLDS
    said = ("--code", code, "--reason", "read it")
    own = husk(tmp_path, "approve", plan, *said, "--key", tmp_path / "tess.key", "--json")
    assert (own.json["code"], own.code) == ("APPROVAL_BY_CREATOR", EXIT_FAILS)
    wrong = husk(
        tmp_path, "approve", plan, "--code", "0000-0000", "--reason", "x", "--key", tmp_path / "mira.key", "--json"
    )
    assert wrong.json["code"] == "APPROVAL_CODE_WRONG"
    made = husk(tmp_path, "approve", plan, *said, "--key", tmp_path / "mira.key", "--json").json
    assert (made["standing"], made["given"], made["single_operator"]) == ("approved", 1, False)
    again = husk(tmp_path, "approve", plan, *said, "--key", tmp_path / "mira.key", "--json")
    assert again.json["code"] == "APPROVAL_SAME_PERSON"
    (kept,) = (tmp_path / "w" / "husk" / "approvals" / plan).iterdir()
    copied = tmp_path / "copy.json"
    copied.write_bytes(kept.read_bytes())
    assert husk(tmp_path, "approve", plan, "--envelope", copied, "--json").json["code"] == "APPROVAL_REPLAYED"
    assert husk(tmp_path, "approve", plan, "--envelope", events).code == EXIT_CANNOT_LOOK
    assert husk(tmp_path, "approve", plan).code == EXIT_USAGE
    assert "approved, 1 of 1 approvals" in husk(tmp_path, "status").out
    veto = husk(tmp_path, "reject", plan, *said, "--key", tmp_path / "noor.key", "--json").json
    assert veto["standing"] == "vetoed"
    rows = ControlLedger(tmp_path / "w").rows([Act.APPROVE, Act.REJECT])
    assert [(row.act, row.actor, row.reason) for row in rows] == [
        (Act.APPROVE, "mira", "read it"),
        (Act.REJECT, "noor", "read it"),
    ]


def test_alone_the_record_says_so(tmp_path: Path, events: Path) -> None:
    """One registered approver may approve an own plan, and the row says single operator."""
    plan, code = planned(tmp_path, events)
    where = ("--workspace", tmp_path / "w")
    typed("keys", "init", *where)
    typed("keys", "approver", tmp_path / "tess.key", "--name", "tess", *where)
    made = husk(tmp_path, "approve", plan, "--code", code, "--reason", "mine", "--key", tmp_path / "tess.key")
    assert (made.code, "single operator" in made.out) == (EXIT_HOLDS, True)
    (row,) = ControlLedger(tmp_path / "w").rows([Act.APPROVE])
    assert row.result == "single operator"


def test_a_session_is_taken_in(tmp_path: Path) -> None:
    """Messages become events; reading the file again stores none."""
    made = ClaudeSession()
    made.user("u1", "please look")
    made.says("a1", "yes")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.data())
    assert husk(tmp_path, "ingest", path, "--json").json["files"][0]["stored"] == 2
    assert husk(tmp_path, "ingest", path, "--json").json["files"][0]["same"] == 2


def test_refused_lines_and_conflicts_have_their_exit_codes(tmp_path: Path, events: Path) -> None:
    """Named with their line; nothing else is lost."""
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"no json\n" + raw(event("e-9")) + b"\n")
    answer = husk(tmp_path, "ingest", bad)
    assert (answer.code, "1 stored" in answer.out, "line 1" in answer.out) == (EXIT_CANNOT_LOOK, True, True)
    husk(tmp_path, "ingest", events)
    bad.write_bytes(raw(event("e-0", text=1)) + b"\n")
    assert husk(tmp_path, "ingest", bad).code == EXIT_FAILS


def test_bad_use_is_refused(tmp_path: Path, events: Path) -> None:
    """No store, no such file, an age that cannot be read, a kind that never leaves."""
    for word in ("plan", "status", "policy"):
        answer = husk(tmp_path, word)
        assert (answer.code, "ingest events first" in answer.err) == (EXIT_CANNOT_LOOK, True)
    assert husk(tmp_path, "ingest", tmp_path / "none").code == EXIT_CANNOT_LOOK
    husk(tmp_path, "ingest", events)
    for age in ("light_call", "light_call=soon", "light_call=1y"):
        assert husk(tmp_path, "policy", age).code == EXIT_USAGE
    for age in ("dream=1d", "marker=1d"):
        assert husk(tmp_path, "policy", age).code == EXIT_FAILS
    assert "version 0" in husk(tmp_path, "policy").out

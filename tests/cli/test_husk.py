"""`winnow husk` as it is typed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from engine.control.ledger import Act, ControlLedger
from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, EXIT_USAGE
from engine.findings import Result
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

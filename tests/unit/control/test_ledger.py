"""The workspace's own record of acts."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.control.ledger import OBJECT_LIMIT, TEXT_LIMIT, Act, ControlLedger
from engine.errors import CannotLookError, RefusedError
from engine.findings import Result
from engine.ledger.append import append
from engine.storage.failpoints import listening
from engine.storage.outcome import OutcomeUnknownError
from tests.support.faults import FailAt

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def record(control: ControlLedger, number: int = 1) -> None:
    """Record one act."""
    control.record(Act.PIN, actor="tess", subject={"n": number}, now=NOW, reason="since it matters")


def test_an_act_is_a_row_that_reads_back(tmp_path: Path) -> None:
    """Everything said stands in the row, and the ledger verifies."""
    control = ControlLedger(tmp_path / "new")
    assert (control.rows(), control.verify().result) == ((), Result.COULD_NOT_LOOK)
    record(control)
    control.record(Act.UNPIN, actor="mira", subject={}, now=NOW, result="refused")
    first, second = control.rows()
    assert (first.act, first.actor, first.object, first.reason, first.ts) == (
        Act.PIN,
        "tess",
        {"n": 1},
        "since it matters",
        "2026-06-01T12:00:00Z",
    )
    assert (second.line, second.result) == (2, "refused")
    assert control.rows([Act.UNPIN]) == (second,)
    assert control.verify().result is Result.HOLDS


def test_a_record_that_was_altered_is_not_relied_on(tmp_path: Path) -> None:
    """An edited row, a cut-out row: the rows are refused, with the place."""
    control = ControlLedger(tmp_path)
    for number in range(3):
        record(control, number)
    lines = control.path.read_bytes().splitlines(keepends=True)
    for data in (lines[0].replace(b"tess", b"mira") + lines[1] + lines[2], lines[0] + lines[2], b"x\n" + lines[0]):
        control.path.write_bytes(data)
        with pytest.raises(RefusedError) as seen:
            control.rows()
        assert seen.value.code == "CONTROL_BROKEN"
        assert seen.value.where.startswith("line ")


def test_rows_of_others_are_no_acts(tmp_path: Path) -> None:
    """A well-chained row that this program did not write decides nothing."""
    control = ControlLedger(tmp_path)
    record(control)
    before = control.rows()
    for row in (
        {"act": "pin"},
        {"schema": "winnow-control/1"},
        {"schema": "winnow-control/1", "act": "fly", "object": {}},
    ):
        append(control.path, row)
    assert control.rows() == before
    assert control.verify().result is Result.HOLDS


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        ({"actor": "x" * (TEXT_LIMIT + 1)}, "CONTROL_TEXT_TOO_LONG"),
        ({"reason": "x" * (TEXT_LIMIT + 1)}, "CONTROL_TEXT_TOO_LONG"),
        ({"reason": "\ud800"}, "CONTROL_TEXT_NOT_UTF8"),
        ({"subject": {str(number): 1 for number in range(65)}}, "CONTROL_TOO_MUCH"),
        ({"subject": {"text": "x" * OBJECT_LIMIT}}, "CONTROL_TOO_MUCH"),
        ({"subject": {"a": [["x" * 40_000], ["y" * 40_000]]}}, "CONTROL_TOO_MUCH"),
        ({"subject": {"a": object()}}, "CONTROL_NOT_JSON"),
        ({"subject": {"a": "\ud800"}}, "record_lone_surrogate"),
        ({"subject": {"a": float("nan")}}, "record_not_finite"),
    ],
)
def test_hostile_texts_are_refused_and_nothing_is_written(tmp_path: Path, texts: dict[str, Any], code: str) -> None:
    """Length and encoding are checked before the file is touched."""
    control = ControlLedger(tmp_path)
    with pytest.raises(RefusedError) as seen:
        control.record(Act.PIN, **{"actor": "tess", "subject": {}, "now": NOW, **texts})
    assert (seen.value.code, control.path.exists()) == (code, False)


def test_writers_at_once_lose_no_row(tmp_path: Path) -> None:
    """Eight threads, ten acts each: eighty rows, one chain."""
    control = ControlLedger(tmp_path)

    def write(start: int) -> None:
        for number in range(10):
            record(control, start + number)

    threads = [threading.Thread(target=write, args=(10 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row.object["n"] for row in control.rows()) == list(range(80))


def test_an_own_torn_end_is_cut_back_and_recorded(tmp_path: Path) -> None:
    """A write that could not be taken back leaves a torn line; the next act removes it and says so in a row."""
    control = ControlLedger(tmp_path)
    record(control)
    whole = control.path.read_bytes()
    torn = FailAt("append.write", room=20)
    sync = FailAt("append.take_back", 5, forever=True)
    fails = FailAt("append.write", 5, nth=2)

    def both(step: str) -> int | None:
        sync(step)
        fails(step)
        return torn(step)

    with listening(both), pytest.raises(OutcomeUnknownError):
        record(control, 2)
    assert (torn.fired, sync.fired > 0, fails.fired) == (1, True, 1)
    assert control.path.read_bytes() == whole + control.path.read_bytes()[len(whole) :]
    assert len(control.path.read_bytes()) == len(whole) + 20
    assert [row.object["n"] for row in control.rows()] == [1]
    record(control, 3)
    rows = control.rows()
    assert [row.act for row in rows] == [Act.PIN, Act.PIN, Act.TORN_END_CUT]
    assert rows[2].object["bytes"] == 20
    assert control.verify().result is Result.HOLDS


def test_a_torn_first_act_is_no_act(tmp_path: Path) -> None:
    """When nothing but a torn own write stands there, nothing was done yet, and the next act is the first."""
    control = ControlLedger(tmp_path)
    torn, stuck = FailAt("append.write", room=20), FailAt("append.take_back", 5, forever=True)
    fails = FailAt("append.write", 5, nth=2)

    def all_three(step: str) -> int | None:
        stuck(step)
        fails(step)
        return torn(step)

    with listening(all_three), pytest.raises(OutcomeUnknownError):
        record(control)
    assert (torn.fired, fails.fired, control.path.stat().st_size) == (1, True, 20)
    assert control.rows() == ()
    record(control, 2)
    assert [row.act for row in control.rows()] == [Act.PIN, Act.TORN_END_CUT]
    (tmp_path / "foreign").mkdir()
    foreign = ControlLedger(tmp_path / "foreign")
    foreign.path.write_bytes(b'{"schema":')
    with pytest.raises(CannotLookError):
        foreign.rows()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file stands where the workspace should be."""
    (tmp_path / "taken").write_text("x")
    with pytest.raises(CannotLookError) as seen:
        record(ControlLedger(tmp_path / "taken"))
    assert seen.value.code == "CONTROL_FOLDER"


def test_a_folder_in_place_of_the_record_is_refused(tmp_path: Path) -> None:
    """What cannot be read is not an empty record."""
    (tmp_path / "control.jsonl").mkdir()
    with pytest.raises(CannotLookError):
        ControlLedger(tmp_path).rows()


def test_every_flipped_byte_is_seen_or_means_the_same(tmp_path: Path) -> None:
    """No byte of the record can be changed so that other acts are believed."""
    control = ControlLedger(tmp_path)
    for number in range(3):
        record(control, number)
    data = control.path.read_bytes()
    said = [row.as_json() for row in control.rows()]
    refused = 0
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << (at % 7)
        control.path.write_bytes(changed)
        try:
            rows = control.rows()
        except (RefusedError, CannotLookError):
            refused += 1
            continue
        assert [row.as_json() for row in rows] == said, at
        assert [json.loads(line) for line in bytes(changed).splitlines()] == [
            json.loads(line) for line in data.splitlines()
        ]
    assert refused > len(data) * 0.9

"""Verifying again gives the answer of a full walk, whatever happened to the file in between."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.findings import Progress
from engine.ledger import state as module
from engine.ledger.state import VerifyState, verify_again
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from tests.support.damage import ledger


@pytest.fixture(autouse=True)
def small_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make stretches small enough for small files to have many."""
    monkeypatch.setattr(module, "STRETCH_BYTES", 200)
    monkeypatch.setattr(module, "SMALL_STRETCH", 20)


def _kept(state: VerifyState) -> VerifyState | None:
    return VerifyState.from_json(json.loads(json.dumps(state.as_json())))


def test_again_equals_anew(tmp_path: Path, sweep: Callable[[int], int]) -> None:
    """Append, edit, cut, insert and declare: the report equals the one of a full walk, in both modes."""
    path = tmp_path / "ledger.jsonl"
    source = FileSource(path)
    for seed in range(sweep(150)):
        rng = random.Random(seed)
        data = ledger(seed) + ledger(seed + 1)
        known: dict[bool, VerifyState | None] = {False: None, True: None}
        for _ in range(4):
            path.write_bytes(data)
            for strict in (False, True):
                report, state = verify_again(source, known[strict], strict=strict)
                full = verify_chain(source, strict=strict)
                assert report.reference == full.reference, f"seed {seed}"
                assert (report.result, report.scope, report.tail, report.head) == (
                    full.result,
                    full.scope,
                    full.tail,
                    full.head,
                )
                assert report.bytes_as_written == full.bytes_as_written
                known[strict] = _kept(state)
            data = _changed(rng, data, seed)


def _changed(rng: random.Random, data: bytes, seed: int) -> bytes:
    at = rng.randrange(len(data) + 1)
    return rng.choice(
        [
            data + ledger(seed + 7),
            data[:at],
            data[:at] + b"x" + data[at + 1 :],
            data[:at] + b"\n" + data[at:],
            data + ledger(seed + 9)[:30],
        ]
    )


def test_only_new_rows_are_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an append, the remembered stretches are digested but not walked."""
    path = tmp_path / "ledger.jsonl"
    first = b"".join(ledger(seed) for seed in range(40)).replace(b"\r", b"")
    path.write_bytes(first + b"\n")
    _, state = verify_again(FileSource(path), None)
    walked: list[int] = []
    original = module.walk_stretch

    def counted(source: object, stretch: module.Stretch, *args: object, **kwargs: object) -> object:
        walked.append(stretch.start)
        return original(source, stretch, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "walk_stretch", counted)
    path.write_bytes(first + b'\n{"new": 1}\n')
    seen: list[Progress] = []
    verify_again(FileSource(path), state, on_progress=seen.append)
    assert len(state.stretches) > 5
    assert [start for start in walked if start < len(first) - 400] == []
    assert sum(1 for p in seen if p.step == "reading") >= len(state.stretches)


@pytest.mark.parametrize("damage", [{}, {"version": 99}, [], None, {"version": 1, "stretches": [[1]]}])
def test_a_damaged_state_is_no_state(damage: object) -> None:
    """A state that cannot be read is dropped, never half used."""
    assert VerifyState.from_json(damage) is None

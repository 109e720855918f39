"""Walked alone, side by side or from what is remembered, a ledger gets one answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.ledger import verify as module
from tests.support.bench import small_rows, write_ledger


def _verify(ledger: Path, *options: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", "from engine.cli.main import run; run()", "verify", str(ledger), "--json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, object] = json.loads(done.stdout)["ledgers"][0]
    return found


@pytest.mark.parametrize("broken", [False, True])
def test_three_ways_give_one_answer(tmp_path: Path, broken: bool) -> None:
    """An honest and a broken ledger of several chunks, also after an append."""
    ledger = tmp_path / "ledger.jsonl"
    write_ledger(ledger, small_rows(10**9), until=2 * module.CHUNK_BYTES + 1000)
    if broken:
        data = bytearray(ledger.read_bytes())
        at = data.index(b'"limit": 10', len(data) // 2)
        data[at + 9 : at + 11] = b"11"
        ledger.write_bytes(bytes(data))
    alone = _verify(ledger)
    assert (alone["result"] == "FAILS") is broken
    assert _verify(ledger, "--jobs", "2") == alone
    remember = tmp_path / "kept"
    for _ in range(2):
        again = _verify(ledger, "--remember", str(remember))
        assert {**again, "sha256": alone["sha256"]} == alone
    (kept,) = remember.iterdir()
    kept.write_bytes(b"{damaged")
    assert {**_verify(ledger, "--remember", str(remember)), "sha256": alone["sha256"]} == alone
    assert json.loads(kept.read_bytes())["stretches"]

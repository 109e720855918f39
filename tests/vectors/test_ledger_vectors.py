"""Every frozen ledger gives the frozen answer, in both modes, whole and in the file's smallest pieces."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from engine.ledger.backend import reference_verify
from engine.ledger.verify import verify_chain
from engine.lines import reader
from engine.lines.canonical import chain_body, chain_value
from engine.lines.source import MemorySource

VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("ledgers.json").read_text(encoding="utf-8"))
LEDGERS: list[dict[str, Any]] = VECTORS["ledgers"]


def test_the_vectors_are_all_there() -> None:
    """None of the frozen cases was lost."""
    assert (len(LEDGERS), len(VECTORS["chains"])) == (28, 6)


@pytest.mark.parametrize("vector", VECTORS["chains"], ids=lambda v: v["row_json"][:30])
def test_a_chain_value_is_the_frozen_one(vector: dict[str, str]) -> None:
    """The recipe over the parsed row gives the frozen 32 digits."""
    assert chain_value(vector["prev"], chain_body(json.loads(vector["row_json"]))) == vector["chain"]


@pytest.mark.parametrize("block", [7, reader.BLOCK_BYTES])
@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("case", LEDGERS, ids=lambda c: c["name"])
def test_a_frozen_ledger_gives_the_frozen_answer(
    case: dict[str, Any], mode: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reference's fields are its own, and result, findings and head are the ones we promise."""
    monkeypatch.setattr(reader, "BLOCK_BYTES", block)
    report = verify_chain(MemorySource("m", base64.b64decode(case["bytes"])), strict=mode == "strict")
    assert report.reference.as_json() == case["reference"][mode]
    assert case["ours"][mode] == {
        "result": report.result.value,
        "findings": [f"{f.code.name} {f.line}" for f in report.findings],
        "head": report.head,
        "first_line_not_as_written": report.bytes_as_written.first_line,
    }


@pytest.mark.parametrize("case", LEDGERS, ids=lambda c: c["name"])
def test_the_installed_reference_still_gives_its_answer(case: dict[str, Any], tmp_path: Path) -> None:
    """A new release of the reference that answers otherwise is noticed here first."""
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(base64.b64decode(case["bytes"]))
    assert reference_verify(path) == case["reference"]["default"]
    assert reference_verify(path, strict=True) == case["reference"]["strict"]

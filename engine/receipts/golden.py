"""May this installation be believed?

The self-test that anybody runs on their own machine: the frozen vectors, and the planted lie told for real in a
temporary folder and caught. The lie alone must pass as self-consistent: only content exposes it, and the test says so.
Green does not prove that the checked files are honest, nor that the engine's own files were not replaced as a whole.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.digests import json_digest
from engine.errors import RefusedError
from engine.findings import Result, worst
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource, MemorySource
from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.consistency import core_body
from engine.receipts.schema import SCHEMA_V1
from engine.receipts.seal import CompactionReceipt
from engine.receipts.vectors import Check, check_vectors, vector_bytes
from engine.receipts.verify import DROP_NOT_CLAIMED, ReceiptReport, verify_receipt

_PRE: list[Any] = ["a line that stays", {"role": "user", "text": "a line that goes"}, b"\x00bytes"]
_POST: list[Any] = ["a line that stays", "a summary"]


@dataclass(frozen=True, slots=True)
class SelftestReport:
    """Every check of the self-test in order."""

    checks: tuple[Check, ...]

    @property
    def result(self) -> Result:
        """Return HOLDS only when every check holds."""
        return worst(check.result for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Return the checks that do not hold."""
        return tuple(check for check in self.checks if check.result is not Result.HOLDS)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {"result": self.result.value, "checks": [check.as_json() for check in self.checks]}


def selftest(vectors: bytes | None = None) -> SelftestReport:
    """Recompute the frozen vectors and run the planted lie in a temporary folder.

    Raises `WinnowError` when the temporary folder cannot be written to.
    """
    checks = check_vectors(vector_bytes() if vectors is None else vectors)
    with tempfile.TemporaryDirectory() as folder:
        return SelftestReport((*checks, *_planted_lie(Path(folder) / "receipts.jsonl")))


def _planted_lie(ledger: Path) -> Iterator[Check]:
    # 1. An honest receipt holds with its content.
    honest = CompactionReceipt.open(_PRE).record_kept(_POST).seal(ledger, compactor="honest", method="selftest")
    yield _expect("honest receipt with content", Result.HOLDS, verify_receipt(honest, _PRE, _POST))
    # 2. The lie: "nothing was dropped", while the shipped survivor lacks an item.
    lie = CompactionReceipt.open(_PRE).record_kept(_PRE).seal(ledger, compactor="liar", method="selftest")
    yield _expect("planted lie without content (only content exposes it)", Result.BOUNDED, verify_receipt(lie))
    caught = verify_receipt(lie, _PRE, _PRE[:2])
    yield _expect("planted lie with the shipped content", Result.FAILS, caught)
    named = [finding.found for finding in caught.findings if finding.code is DROP_NOT_CLAIMED]
    missing = CompactionReceipt.open(_PRE).record_kept(_PRE[:2]).row(compactor="x", method="x")["dropped"]["items"]
    yield Check("planted lie names the missing item", json.dumps(missing), json.dumps(named))
    # 3. Sealing a claim that disagrees with the content is refused.
    yield Check("claim of other drops", "refused", _sealing_a_false_claim(ledger))
    # 4. Both rows are linked; one changed byte is found.
    yield Check("chain of both receipts", Result.HOLDS.value, verify_chain(FileSource(ledger)).result.value)
    edited = ledger.read_bytes().replace(b'"liar"', b'"lair"', 1)
    yield Check("chain with one edit", Result.FAILS.value, verify_chain(MemorySource("edited", edited)).result.value)
    # 5. Understating the dropped bytes breaks the v2 equation alone, and the v1 row only with content.
    yield _expect("v2 understatement without content", Result.FAILS, verify_receipt(_understated(honest)))
    old = _understated({**honest, "schema": SCHEMA_V1, "introduced": {"count": honest["introduced"]["count"]}})
    yield _expect("v1 understatement without content (lower bound only)", Result.BOUNDED, verify_receipt(old))
    yield _expect("v1 understatement with content", Result.FAILS, verify_receipt(old, _PRE, _POST))
    # 6. A key given twice is refused, although its last reading holds.
    twice = json.dumps(honest).replace("{", '{"method": "another", ', 1)
    yield _expect("key given twice", Result.FAILS, verify_receipt_line(twice, _PRE, _POST))


def _expect(name: str, expected: Result, report: ReceiptReport) -> Check:
    return Check(name, expected.value, report.result.value)


def _understated(row: dict[str, Any]) -> dict[str, Any]:
    """Claim one byte dropped, let a v1 row swell to match, and seal the lie anew."""
    changed = {**row, "dropped": {**row["dropped"], "bytes": 1}}
    if row["schema"] == SCHEMA_V1:
        changed["post"] = {**row["post"], "bytes": row["pre"]["bytes"]}
    return {**changed, "receipt_digest": json_digest(core_body(changed))}


def _sealing_a_false_claim(ledger: Path) -> str:
    receipt = CompactionReceipt.open(_PRE).record_kept(_POST).record_dropped(_PRE[:1])
    try:
        receipt.seal(ledger, compactor="liar", method="selftest")
    except RefusedError as exc:
        return "refused" if exc.code == "receipt_claim_disagrees" else exc.code
    return "sealed"

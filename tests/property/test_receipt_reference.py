"""The receipt check against the reference verifier, over generated and mutated receipts."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable
from typing import Any

from arcaeon.prove.compact import verify_receipt as reference_verify

from engine.findings import Result
from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.verify import verify_receipt
from tests.support.receipts import as_line, random_case

CASES_IN_A_NORMAL_RUN = 1500


def disagreements(seed: int, count: int) -> tuple[list[str], int, int]:
    """Return the differences to the reference, how many receipts it passed, and on how many it raised."""
    rng = random.Random(seed)
    different: list[str] = []
    passed = raised = 0
    for number in range(count):
        row, pre, post = random_case(rng)
        ours = verify_receipt(copy.deepcopy(row), pre, post)
        again = verify_receipt_line(as_line(row), pre, post)
        if again.result is not ours.result:
            different.append(f"{number}: as a value {ours.result}, as a line {again.result}: {row!r}")
        try:
            theirs: dict[str, Any] = reference_verify(row, pre, post)
        except (ValueError, TypeError):
            raised += 1
            continue
        theirs.pop("notes")
        passed += theirs["ok"]
        if theirs != ours.reference:
            different.append(f"{number}: {theirs} != {ours.reference}: {row!r} {pre!r} {post!r}")
        if ours.result in {Result.HOLDS, Result.BOUNDED} and not theirs["ok"]:
            different.append(f"{number}: we pass what the reference refuses: {row!r}")
    return different, passed, raised


def test_every_field_equals_the_reference_on_generated_receipts(sweep: Callable[[int], int]) -> None:
    """Every reference field is equal over generated receipts, good ones and bad ones both among them."""
    count = sweep(CASES_IN_A_NORMAL_RUN)
    different, passed, raised = disagreements(20261201, count)
    assert different == []
    assert count * 0.05 < passed < count * 0.9
    assert raised > 0


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    found, good, failed = disagreements(int(sys.argv[2]) if len(sys.argv) > 2 else 1, wanted)
    print(f"{wanted} receipts, {good} passed by the reference, {failed} on which it raised, {len(found)} differences")
    for text in found[:20]:
        print(text)
    sys.exit(1 if found else 0)

"""Receipts with one property each: our answer, the reference's, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from arcaeon.prove.compact import verify_receipt as reference_verify

from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.verify import verify_receipt
from tests.support.receipts import as_line

CASES = json.loads(Path(__file__).with_name("receipt_cases.json").read_text(encoding="utf-8"))


def content(items: list[Any] | None) -> list[Any] | None:
    """Turn written items into content; bytes are written as hex."""
    if items is None:
        return None
    return [bytes.fromhex(item["$hex"]) if isinstance(item, dict) and "$hex" in item else item for item in items]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "-"))
def test_each_case_has_its_answer(case: dict[str, Any]) -> None:
    """Result, findings and reference fields are the written ones, from a value and from a line."""
    pre, post = content(case["pre"]), content(case["post"])
    report = verify_receipt(case["row"], pre, post)
    assert report.result.value == case["result"], case["why"]
    assert [finding.code.name for finding in report.findings] == case["codes"]
    again = verify_receipt_line(as_line(case["row"]), pre, post)
    assert (again.result, again.findings, again.reference) == (report.result, report.findings, report.reference)
    if case["reference"] is None:
        with pytest.raises(ValueError, match="surrogates"):
            reference_verify(case["row"], pre, post)
        return
    theirs = reference_verify(case["row"], pre, post)
    theirs.pop("notes")
    assert theirs == report.reference == case["reference"]


def test_the_cases_cover_every_result() -> None:
    """Good, bounded, failing and unknown receipts are all among the cases, and so are all that the reference passes."""
    assert {case["result"] for case in CASES} == {"HOLDS", "BOUNDED", "FAILS", "COULD_NOT_LOOK"}
    assert len({case["name"] for case in CASES}) == len(CASES) > 30

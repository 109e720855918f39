"""Receipts held against themselves and against content."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.findings import CancelledError, Progress, Result, Watch
from engine.receipts.content import ContentError
from engine.receipts.verify import ReceiptReport, verify_receipt
from tests.support.receipts import POST, PRE, as_v1, receipt_row, reseal


def codes(report: ReceiptReport) -> list[str]:
    """Return the finding names with their fields."""
    return [f"{finding.code.name}:{finding.field}" for finding in report.findings]


def changed(row: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a resealed copy of a row with one value changed."""
    copied = copy.deepcopy(row)
    *sections, last = path.split(".")
    body = copied
    for section in sections:
        body = body[section]
    body[last] = value
    return reseal(copied)


def test_an_honest_receipt_with_both_contents_holds() -> None:
    """Only both contents recomputed and equal give HOLDS, for v1 as for v2."""
    row = receipt_row(PRE, POST)
    for honest in (row, as_v1(row)):
        report = verify_receipt(honest, PRE, POST)
        assert (report.result, report.scope, report.findings) == (Result.HOLDS, "full", ())
        assert report.reference["content"] == "match"


@pytest.mark.parametrize(
    ("pre", "post", "scope", "code"),
    [
        (None, None, "bounded_no_content", "receipt_no_content"),
        (PRE, None, "bounded_pre_only", "receipt_one_side_only"),
        (None, POST, "bounded_post_only", "receipt_one_side_only"),
    ],
)
def test_less_than_both_contents_is_bounded(pre: Any, post: Any, scope: str, code: str) -> None:
    """An honest receipt without full content is BOUNDED and says what was not looked at."""
    report = verify_receipt(receipt_row(PRE, POST), pre, post)
    assert (report.result, report.scope, codes(report)) == (Result.BOUNDED, scope, [f"{code}:"])


def test_the_planted_lie_passes_alone_and_fails_with_content() -> None:
    """A receipt that claims no drop agrees with itself; the shipped survivor names the missing item."""
    lie = receipt_row(PRE, PRE, compactor="liar")
    assert verify_receipt(lie).result is Result.BOUNDED
    report = verify_receipt(lie, PRE, PRE[:2])
    assert report.result is Result.FAILS
    unclaimed = [finding for finding in report.findings if finding.code.name == "receipt_drop_not_claimed"]
    assert [finding.found for finding in unclaimed] == [
        "sha256:raw-bytes:v1:f8c1ccc7df7243da4740c5b7875f88b70e3f935d99c7b37a5f7239d152d994e6"
    ]
    assert report.comparison is not None
    assert [held.item for held in report.comparison.dropped_items()] == [b"\x00\x01binary"]


def test_a_v1_understatement_is_only_bounded_alone_and_named_with_content() -> None:
    """A v1 row may hide bytes behind its introduction; content names both numbers."""
    row = as_v1(receipt_row(PRE, POST))
    lie = changed(changed(row, "dropped.bytes", 1), "post.bytes", 500)
    alone = verify_receipt(lie)
    assert alone.result is Result.BOUNDED
    assert alone.scope == "bounded_no_content+v1_lower_bound"
    assert "receipt_v1_lower_bound:dropped.bytes" in codes(alone)
    held = verify_receipt(lie, PRE, POST)
    assert held.result is Result.FAILS
    assert codes(held) == ["receipt_content_differs:post.bytes", "receipt_content_differs:dropped.bytes"]


def test_a_v2_understatement_breaks_the_byte_equation_without_content() -> None:
    """Changing only the dropped bytes of a v2 row and resealing it is caught alone, with both numbers."""
    report = verify_receipt(changed(receipt_row(PRE, POST), "dropped.bytes", 1))
    assert report.result is Result.FAILS
    finding = report.findings[0]
    assert (finding.code.name, finding.field, finding.claimed, finding.found) == (
        "receipt_bytes_do_not_add_up",
        "post.bytes",
        "43",
        "80",
    )


def test_a_v1_truncation_pins_the_bytes_exactly() -> None:
    """With nothing introduced a v1 row is held to the equation, and below the kept bytes it always fails."""
    row = as_v1(receipt_row(PRE, PRE[:1]))
    assert verify_receipt(row).result is Result.BOUNDED
    assert "receipt_bytes_do_not_add_up:post.bytes" in codes(verify_receipt(changed(row, "dropped.bytes", 1)))
    introduced = as_v1(receipt_row(PRE, POST))
    assert "receipt_bytes_below_kept:post.bytes" in codes(verify_receipt(changed(introduced, "post.bytes", 3)))


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("dropped.count", 3, "receipt_manifest_length:dropped.items"),
        ("pre.count", 1, "receipt_counts_exceed:dropped.count"),
        ("post.count", 7, "receipt_counts_do_not_add_up:post.count"),
        ("dropped.bytes", 10**9, "receipt_bytes_exceed:dropped.bytes"),
        ("pre.digest", "sha256:json-c14n:v1:XY", "receipt_digest_shape:pre.digest"),
    ],
)
def test_each_equation_names_its_field(path: str, value: Any, code: str) -> None:
    """A single changed number or digest breaks its own check even after resealing."""
    report = verify_receipt(changed(receipt_row(PRE, POST), path, value))
    assert report.result is Result.FAILS
    assert code in codes(report)
    assert report.reference["self_consistent"] is False


def test_dropped_bytes_without_dropped_items_fail() -> None:
    """Nothing dropped cannot weigh anything."""
    report = verify_receipt(changed(receipt_row(PRE, PRE), "dropped.bytes", 3))
    assert codes(report)[0] == "receipt_bytes_without_items:dropped.bytes"


def test_an_edited_row_no_longer_has_its_own_digest() -> None:
    """An edit to the core is caught when the row is copied out of its ledger; times are outside the core."""
    row = {**receipt_row(PRE, POST), "compactor": "someone else"}
    assert codes(verify_receipt(row))[0] == "receipt_core_altered:receipt_digest"
    assert verify_receipt({**receipt_row(PRE, POST), "opened_at": "1999", "kind": "x"}).result is Result.BOUNDED


@pytest.mark.parametrize(
    ("path", "value", "code", "result"),
    [
        ("pre.digest", "sha256:json-c14n:v1:" + "a" * 63, "receipt_digest_length", Result.FAILS),
        ("pre.digest", "sha256:raw-bytes:v1:" + "a" * 64, "receipt_wrong_recipe", Result.FAILS),
        ("pre.digest", "sha512:json-c14n:v1:" + "a" * 128, "receipt_unknown_recipe", Result.COULD_NOT_LOOK),
        (
            "pre.digest",
            "sha256:json-c14n:v1:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
            "receipt_digest_of_nothing",
            Result.FAILS,
        ),
    ],
)
def test_where_we_are_stricter_than_the_reference_the_report_says_so(
    path: str, value: Any, code: str, result: Result
) -> None:
    """What the reference lets pass keeps its reference answer, fails or is refused by us, and is named as stricter."""
    report = verify_receipt(changed(receipt_row(PRE, POST), path, value))
    assert report.reference["ok"] is True
    assert report.result is result
    assert code in report.stricter


def test_bytes_of_nothing_are_stricter_findings() -> None:
    """Introduced bytes without an introduced item satisfy the reference's equation and still cannot be."""
    row = receipt_row(PRE, PRE[:1])
    row = changed(changed(row, "introduced.bytes", 5), "post.bytes", row["post"]["bytes"] + 5)
    report = verify_receipt(row)
    assert report.reference["ok"] is True
    assert report.result is Result.FAILS
    assert report.stricter == ("receipt_bytes_without_items",)


@pytest.mark.parametrize(
    "row", [None, [1], 3, "x", True, {}, {"schema": None}, {"schema": "arcaeon-compact:receipt:v3"}]
)
def test_no_row_raises(row: object) -> None:
    """A row that is no receipt gets a verdict that is not a pass."""
    report = verify_receipt(row, PRE, POST)
    assert report.result in {Result.FAILS, Result.COULD_NOT_LOOK}
    assert (report.scope, report.claim, report.reference["ok"]) == ("none", None, False)


@pytest.mark.parametrize("path", ["pre", "dropped", "pre.count", "post.bytes", "dropped.items", "introduced.bytes"])
@pytest.mark.parametrize("value", [None, True, -1, "3", 2.0, [{}], {"count": "3"}])
def test_a_malformed_field_is_named(path: str, value: object) -> None:
    """A count, section or manifest of the wrong type is named as the field at fault."""
    report = verify_receipt(changed(receipt_row(PRE, POST), path, value))
    assert report.result is Result.FAILS
    assert report.findings[0].code.name == "receipt_malformed"
    assert report.findings[0].field.startswith(path)


@pytest.mark.parametrize(
    "value", ["\ud800", float("nan"), {"deep": [float("inf")]}, 10**5000, {1: 2, "b": 3}, {1, 2}], ids=type
)
def test_what_the_recipe_refuses_is_a_verdict(value: object) -> None:
    """Surrogates, NaN, endless integers and values JSON cannot hold are findings, never exceptions."""
    row = {**receipt_row(PRE, POST), "compactor": value}
    report = verify_receipt(row, PRE, POST)
    assert report.result is Result.FAILS
    assert any(finding.code.name == "receipt_core_unhashable" for finding in report.findings)
    for finding in report.findings:
        finding.claimed.encode()
        finding.note.encode()


def test_endless_numbers_are_described_not_printed() -> None:
    """A count of five thousand digits is compared and shown by its length."""
    row = {**receipt_row(PRE, POST)}
    row["pre"] = {**row["pre"], "bytes": 10**5000}
    report = verify_receipt(row, PRE, POST)
    assert report.result is Result.FAILS
    assert any("bits" in finding.claimed + finding.found for finding in report.findings)


def test_a_row_nested_too_deep_could_not_be_looked_at() -> None:
    """Depth beyond the interpreter is a limit, not tampering."""
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    report = verify_receipt({**receipt_row(PRE, POST), "compactor": nested})
    assert report.result is Result.COULD_NOT_LOOK
    assert "receipt_core_too_deep:receipt_digest" in codes(report)


def test_content_that_cannot_be_digested_is_a_limit_with_the_item_named() -> None:
    """A lone surrogate or NaN in held content says which item could not be compared."""
    report = verify_receipt(receipt_row(PRE, POST), ["ok", "\ud800"], POST)
    assert report.result is Result.COULD_NOT_LOOK
    assert report.findings[0].field == "item 2"


@pytest.mark.parametrize("content", ["text", b"bytes", {"a": 1}, 7])
def test_a_single_item_as_content_is_refused(content: Any) -> None:
    """Content must be a list: a text is not taken as a list of its characters."""
    with pytest.raises(ContentError, match="expected a list"):
        verify_receipt(receipt_row(PRE, POST), content, POST)


def test_reordering_changes_only_the_digest_over_the_side() -> None:
    """The drop set does not see order; the digest over the ordered list does."""
    report = verify_receipt(receipt_row(PRE, POST), PRE, list(reversed(POST)))
    assert codes(report) == ["receipt_content_differs:post.digest"]


def test_manifest_entries_are_held_against_pre_alone() -> None:
    """With content before only, a manifest digest that it never held is named."""
    row = receipt_row(PRE, POST)
    row["dropped"]["items"][0] = "sha256:raw-bytes:v1:" + "0" * 64
    report = verify_receipt(reseal(row), PRE, None)
    assert [finding.claimed for finding in report.findings if finding.code.name == "receipt_drop_not_in_content"] == [
        "sha256:raw-bytes:v1:" + "0" * 64
    ]


def test_a_line_is_named_in_every_finding() -> None:
    """Findings carry the ledger line they were asked about."""
    assert {finding.line for finding in verify_receipt({"schema": "x"}, line=41).findings} == {41}
    assert {finding.line for finding in verify_receipt(receipt_row(PRE, POST), line=7).findings} == {7}


def test_recomputing_reports_progress_and_can_be_cancelled() -> None:
    """Long content reports its progress in items and stops when cancelled."""
    content = [f"item {number}" for number in range(5000)]
    seen: list[Progress] = []
    verify_receipt(receipt_row(content, []), content, [], watch=Watch(seen.append))
    assert (seen[-2].step, seen[-2].unit) == ("digesting content", "items")
    assert max(report.done for report in seen) == 5000
    with pytest.raises(CancelledError):
        verify_receipt(receipt_row(content, []), content, [], watch=Watch(is_cancelled=lambda: len(seen) > 0))

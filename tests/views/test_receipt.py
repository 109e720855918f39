"""Does the Receipt page tell what a receipt claims, what was recomputed, and what nobody could look at?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.receipts.ambiguity import verify_receipt_line
from tests.support.ledgers import chained
from tests.support.samples import link_to, sample
from tests.support.screen import open_page, settle, shown

WRONG = "sha256:json-c14n:v1:" + "0" * 64


def test_unknown_ledger_and_line_are_said(workspace: Path, tmp_path: Path) -> None:
    """An address of a ledger that is not open, or of a line without a row, says so and leads back."""
    folder = sample(tmp_path, "honest_holds")
    page = open_page("receipt", workspace, [folder], l="ffffffffffffffff", line="1")
    assert not page.exception
    assert "This ledger is not open here" in shown(page)
    link = link_to(folder / "receipts.jsonl")
    for line in ("7", "0", "x", "99999999999999999999"):
        page = open_page("receipt", workspace, [folder], l=link, line=line)
        assert not page.exception
        assert "of this ledger holds no row" in shown(page)


def test_held_content_is_recomputed(workspace: Path, tmp_path: Path) -> None:
    """With content of both sides each number is claimed, recomputed and agrees; the drops are readable."""
    folder = sample(tmp_path, "honest_holds")
    page = open_page("receipt", workspace, [folder], l=link_to(folder / "receipts.jsonl"), line="1")
    assert not page.exception
    words = shown(page)
    for said in ("Claimed and recomputed", "verified against content", "agrees", "DROPPED", "--pre", "--post"):
        assert said in words
    assert "differs" not in words
    assert "NOT HELD" not in words.upper()


def test_without_content_the_word_verified_is_not_there(workspace: Path, tmp_path: Path) -> None:
    """A receipt whose content nobody gave is NOT CHECKED on that question; its manifest shows digests only."""
    folder = sample(tmp_path, "honest_holds")
    page = open_page("receipt", workspace, [folder], l=link_to(folder / "receipts.jsonl"), line="2")
    words = shown(page)
    assert "verified" not in words.lower().replace("verified_scope", "")
    assert "NOT CHECKED" in words
    assert "The content is not held here, so only the digests of the manifest can be shown." in words
    assert "nothing was recomputed, and a careful lie agrees with itself too" in words


def test_planted_lie_shows_the_dropped_rule(workspace: Path, tmp_path: Path) -> None:
    """The lie agrees with itself and fails against content; the text of what was dropped stands on the page."""
    folder = sample(tmp_path, "planted_lie_fails")
    page = open_page("receipt", workspace, [folder], l=link_to(folder / "receipts.jsonl"), line="1")
    words = shown(page)
    assert "content mismatch" in words
    assert "differs" in words
    assert "NOT IN THE MANIFEST" in words
    assert "Safety: never deploy without approval from the release owner." in words


def test_understated_v1_shows_both_numbers(workspace: Path, tmp_path: Path) -> None:
    """A v1 receipt has a lower bound only; content shows claimed and recomputed bytes side by side."""
    folder = sample(tmp_path, "v1_understated_fails")
    page = open_page("receipt", workspace, [folder], l=link_to(folder / "receipts.jsonl"), line="1")
    words = shown(page)
    assert "≤" in words
    assert "not recorded" in words
    assert "differs" in words


def test_edited_receipt_on_a_broken_ledger(workspace: Path, tmp_path: Path) -> None:
    """The banner of the ledger stands above; the row is broken, and its own digest does not recompute."""
    folder = sample(tmp_path, "edited_row_fails")
    page = open_page("receipt", workspace, [folder], l=link_to(folder / "receipts.jsonl"), line="4")
    words = shown(page)
    assert "BROKEN at line 4" in words
    assert "not vouched for" in words
    assert "altered after it was sealed" in words


def test_link_with_another_digest_warns(workspace: Path, tmp_path: Path) -> None:
    """A link made for another receipt says so, and shows both digests; the right digest does not."""
    folder = sample(tmp_path, "honest_holds")
    link = link_to(folder / "receipts.jsonl")
    words = shown(open_page("receipt", workspace, [folder], l=link, line="1", d=WRONG))
    assert "This link named another receipt" in words
    assert WRONG in words
    own = json.loads((folder / "receipts.jsonl").read_bytes().splitlines()[0])["receipt_digest"]
    words = shown(open_page("receipt", workspace, [folder], l=link, line="1", d=own))
    assert "This link named another receipt" not in words


def test_duplicate_key_is_ambiguous(workspace: Path, tmp_path: Path) -> None:
    """A receipt that two readers read differently is refused, by name, and still shown as it stands."""
    folder = sample(tmp_path, "duplicate_key_fails")
    page = open_page("receipt", workspace, [folder], l=link_to(folder / "receipts.jsonl"), line="2")
    assert not page.exception
    words = shown(page)
    assert "FAILS" in words
    assert "nothing: this row says two different things to two readers" in words
    assert '"dropped": {"count": 0, "count": 3' in words


@pytest.mark.parametrize("field", ["pre", "post", "dropped", "receipt_digest"])
@pytest.mark.parametrize("value", [None, [], "x", {"count": -1}, 2**70, {"count": 10**400}])
def test_malformed_receipt_is_a_result(workspace: Path, tmp_path: Path, field: str, value: object) -> None:
    """Whatever stands in a field, the page says that the row does not hold and shows it; nothing is raised."""
    first = json.loads((sample(tmp_path, "honest_holds") / "receipts.jsonl").read_bytes().splitlines()[0])
    del first["chain"]
    (line,) = chained([{**first, field: value}])
    ledger = tmp_path / "malformed.jsonl"
    ledger.write_bytes(line)
    assert verify_receipt_line(line).result != "HOLDS"
    page = open_page("receipt", workspace, [ledger], l=link_to(ledger), line="1")
    assert not page.exception
    words = shown(page)
    assert "FAILS" in words or "CANNOT CHECK" in words
    assert "error id" not in words


def test_row_that_is_no_receipt(workspace: Path, tmp_path: Path) -> None:
    """Another row of the ledger is shown as it stands, without a verdict of its own."""
    ledger = tmp_path / "mixed.jsonl"
    ledger.write_bytes(b"".join(chained([{"tool": "search", "query": "![x](http://evil.example/p)"}])))
    page = open_page("receipt", workspace, [ledger], l=link_to(ledger), line="1")
    words = shown(page)
    assert "This row is no compaction receipt" in words
    assert "![x](http://evil.example/p)" in words


def test_next_receipt_is_a_button_away(workspace: Path, tmp_path: Path) -> None:
    """Next goes to the following receipt and forgets the digest of the link; at the end it is disabled."""
    folder = sample(tmp_path, "honest_holds")
    page = open_page("receipt", workspace, [folder], l=link_to(folder / "receipts.jsonl"), line="5", d=WRONG)
    page.button(key="next").click()
    settle(page)
    assert page.query_params["line"] in ("6", ["6"])
    assert "d" not in page.query_params
    assert page.button(key="next").disabled
    assert not page.button(key="previous").disabled


def test_large_row_is_cut_and_said(workspace: Path, tmp_path: Path) -> None:
    """A row of more than a mebibyte is shown in part, with its size and a way to all of it."""
    ledger = tmp_path / "large.jsonl"
    ledger.write_bytes(b"".join(chained([{"note": "a" * (2 * 1024 * 1024)}])))
    page = open_page("receipt", workspace, [ledger], l=link_to(ledger), line="1")
    assert not page.exception
    assert "Too large to show whole" in shown(page)


def test_file_gone_while_open(workspace: Path, tmp_path: Path) -> None:
    """When the ledger is removed the page says which path is gone; nothing is called broken."""
    folder = sample(tmp_path, "honest_holds")
    file = folder / "receipts.jsonl"
    link = link_to(file)
    page = open_page("receipt", workspace, [file], l=link, line="1")
    assert "Line 1" in shown(page)
    file.unlink()
    settle(page)
    assert not page.exception
    words = shown(page)
    assert "CANNOT CHECK: an opened path is not there any more" in words
    assert "BROKEN" not in words

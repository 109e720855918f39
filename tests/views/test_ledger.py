"""Does the Ledger page say how a ledger stands, break by break and row by row?"""

from __future__ import annotations

from pathlib import Path

from tests.support.samples import link_to, sample
from tests.support.screen import open_page, settle, shown


def test_unknown_ledger_is_said(workspace: Path, tmp_path: Path) -> None:
    """An address that names no open ledger says which ones are open."""
    page = open_page("ledger", workspace, [sample(tmp_path, "honest_holds")], l="ffffffffffffffff")
    assert not page.exception
    assert "This ledger is not open here" in shown(page)


def test_intact_ledger_shows_five_questions(workspace: Path, tmp_path: Path) -> None:
    """The trust badges stand side by side, grey where nobody looked, with what that proves and does not."""
    folder = sample(tmp_path, "honest_holds")
    page = open_page("ledger", workspace, [folder], l=link_to(folder / "receipts.jsonl"))
    assert not page.exception
    words = shown(page)
    for question in ("Self-consistent", "Chain", "Head pin", "Signature", "Content"):
        assert question in words
    assert "INTACT" in words
    assert "NOT CHECKED" in words
    assert "that no rows were cut off the end" in words
    assert "winnow verify" in words
    assert "BROKEN" not in words
    (grid,) = page.dataframe
    assert len(grid.value) == 6


def test_broken_ledger_warns_and_shows_the_rows_around(workspace: Path, tmp_path: Path) -> None:
    """The banner names the line; the break stands with claimed and recomputed value and its neighbours."""
    folder = sample(tmp_path, "edited_row_fails")
    page = open_page("ledger", workspace, [folder], l=link_to(folder / "receipts.jsonl"))
    words = shown(page)
    assert "BROKEN at line 4" in words
    assert "Rows after the first break are shown but not vouched for" in words
    assert "CLAIMED" in words
    assert "RECOMPUTED" in words
    for line in ("line 3", "line 4 (this finding)", "line 5"):
        assert line in words
    (grid,) = page.dataframe
    assert list(grid.value["CHAIN"]) == [*["linked"] * 3, "broken", *["linked, after a break"] * 2]


def test_filter_from_the_address_is_applied(workspace: Path, tmp_path: Path) -> None:
    """A link with a facet shows only its rows; taking the facet away shows all."""
    folder = sample(tmp_path, "edited_row_fails")
    page = open_page("ledger", workspace, [folder], l=link_to(folder / "receipts.jsonl"), status="broken")
    (grid,) = page.dataframe
    assert list(grid.value["LINE"]) == [4]
    page.selectbox(key="status").set_value("")
    settle(page)
    assert len(page.dataframe[0].value) == 6


def test_search_says_what_it_recognised(workspace: Path, tmp_path: Path) -> None:
    """A number is a line, and text is searched in the rows; the box says which."""
    folder = sample(tmp_path, "edited_row_fails")
    link = link_to(folder / "receipts.jsonl")
    page = open_page("ledger", workspace, [folder], l=link, q="5")
    assert 'recognised: "5" = ' in shown(page)
    assert list(page.dataframe[0].value["LINE"]) == [5]
    page = open_page("ledger", workspace, [folder], l=link, q="summarizer-v3")
    assert 'recognised: "summarizer-v3"' in shown(page)
    assert list(page.dataframe[0].value["LINE"]) == [4]


def test_chosen_row_opens_its_receipt(workspace: Path, tmp_path: Path) -> None:
    """Choosing a row leads to the page of that line, by line and not by place in the grid."""
    folder = sample(tmp_path, "edited_row_fails")
    page = open_page("ledger", workspace, [folder], l=link_to(folder / "receipts.jsonl"), status="broken")
    key = next(name for name in page.session_state.to_dict() if str(name).startswith("rows:"))
    page.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    settle(page)
    assert page.query_params["line"] in ("4", ["4"])
    assert "Line 4" in shown(page)


def test_could_not_look_is_not_broken(workspace: Path, tmp_path: Path) -> None:
    """An unfinished last line is bounded, not tampering."""
    folder = sample(tmp_path, "unfinished_tail_bounded")
    page = open_page("ledger", workspace, [folder], l=link_to(folder / "receipts.jsonl"))
    words = shown(page)
    assert "INTACT IN PART" in words
    assert "BROKEN at" not in words
    assert "unfinished" in words


def test_changed_file_is_checked_again(workspace: Path, tmp_path: Path) -> None:
    """When the file changes on disk, the next drawing is about the new bytes; the old link says that it is gone."""
    folder = sample(tmp_path, "honest_holds")
    file = folder / "receipts.jsonl"
    page = open_page("ledger", workspace, [folder], l=link_to(file))
    assert "BROKEN" not in shown(page)
    file.write_bytes(file.read_bytes().replace(b"summarizer-v2", b"summarizer-v9", 1))
    settle(page)
    assert "This ledger is not open here" in shown(page)
    page = open_page("ledger", workspace, [folder], l=link_to(file))
    assert "BROKEN at line 1" in shown(page)


def test_partly_held_content_is_counted(workspace: Path, tmp_path: Path) -> None:
    """When content is held for some receipts only, the page says for how many; the others were not recomputed."""
    folder = sample(tmp_path, "honest_holds")
    page = open_page("ledger", workspace, [folder], l=link_to(folder / "receipts.jsonl"))
    words = shown(page)
    assert "1 of 6 receipts have their content held here" in words
    assert "nothing was recomputed for them" in words

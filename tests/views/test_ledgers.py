"""Does the Ledgers page list every ledger and every file that was not looked at?"""

from __future__ import annotations

from pathlib import Path

from tests.support.samples import sample, samples
from tests.support.screen import open_page, settle, shown


def test_no_ledger_says_so(workspace: Path, tmp_path: Path) -> None:
    """Files without a ledger lead to the empty state, and what was not looked at is listed with the reason."""
    (tmp_path / "notes.bin").write_bytes(b"\x00\x01 nothing known")
    page = open_page("ledgers", workspace, [tmp_path / "notes.bin"])
    assert not page.exception
    words = shown(page)
    assert "No ledger among the opened files" in words
    assert "Not looked at" in words
    assert "notes.bin" in words


def test_every_ledger_has_its_answers_side_by_side(workspace: Path, tmp_path: Path) -> None:
    """Each ledger stands with four answers that are not added up."""
    page = open_page("ledgers", workspace, [samples(tmp_path)])
    (grid,) = page.dataframe
    frame = grid.value.set_index("LEDGER")
    lie = frame.loc["planted_lie_fails/receipts.jsonl"]
    assert lie["CHAIN"] == "✔ INTACT"
    assert lie["SELF-CONSISTENT"] == "✔ HOLDS"
    assert lie["CONTENT"] == "✖ FAILS"
    cut = frame.loc["truncated_against_pin_fails/receipts.jsonl"]
    assert (cut["CHAIN"], cut["HEAD PIN"]) == ("✔ INTACT", "✖ FAILS")


def test_upload_is_kept_checked_and_listed(workspace: Path, tmp_path: Path) -> None:
    """An uploaded ledger is kept in the workspace under a plain name, checked and listed, its bytes unchanged."""
    data = (sample(tmp_path, "edited_row_fails") / "receipts.jsonl").read_bytes()
    page = open_page("ledgers", workspace, [])
    page.file_uploader[0].upload("../../evil name.jsonl", data, "application/json")
    page.run()
    next(button for button in page.button if button.label == "Add and check").click()
    settle(page)
    kept = [path for path in (workspace / "uploads").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in kept] == [data]
    assert kept[0].is_relative_to(workspace / "uploads")
    (grid,) = page.dataframe
    assert list(grid.value["CHAIN"]) == ["✖ BROKEN at line 4"]

"""Does the Overview show problems first, in each of its states?"""

from __future__ import annotations

from pathlib import Path

from tests.support.samples import sample, samples
from tests.support.screen import open_page, shown


def test_empty_overview_says_what_to_do(workspace: Path) -> None:
    """Without any input the page says what would be here, gives one command and offers an upload."""
    page = open_page("", workspace, [])
    assert not page.exception
    words = shown(page)
    assert "Nothing is open yet" in words
    assert "winnow demo" in words
    assert len(page.file_uploader) == 1


def test_problems_come_first_and_worst_first(workspace: Path, tmp_path: Path) -> None:
    """Over all samples the failing ones stand before the bounded ones, each with its word and its place."""
    page = open_page("", workspace, [samples(tmp_path)])
    assert not page.exception
    words = shown(page)
    assert words.index("Needs a look") < words.index("edited_row_fails/receipts.jsonl")
    assert words.index("edited_row_fails/receipts.jsonl") < words.index("declared_break_bounded/receipts.jsonl")
    assert "BROKEN at line 4" in words
    assert "INTACT IN PART" in words
    assert "disagree with the content" in words
    (grid,) = page.dataframe
    assert len(grid.value) == 12
    assert set(grid.value["CHAIN"]) >= {"✔ INTACT", "✖ BROKEN at line 4", "◐ INTACT IN PART"}
    assert "○ NOT CHECKED" in set(grid.value["HEAD PIN"])


def test_nothing_wrong_is_said_without_praise(workspace: Path, tmp_path: Path) -> None:
    """A session whose receipts all hold leaves no problem, and the page does not call it safe."""
    page = open_page("", workspace, [sample(tmp_path, "decaying_rule_holds")])
    words = shown(page)
    assert "Nothing stands out" in words
    assert "It does not mean that dropping was wise" in words
    assert "FAILS" not in words


def test_missing_path_is_named(workspace: Path, tmp_path: Path) -> None:
    """A path that is gone is CANNOT CHECK with its name, and the rest is still shown."""
    page = open_page("", workspace, [tmp_path / "gone.jsonl", sample(tmp_path, "honest_holds")])
    assert not page.exception
    words = shown(page)
    assert "CANNOT CHECK: an opened path is not there any more" in words
    assert "gone.jsonl" in words
    assert "honest_holds" in words or "receipts.jsonl" in words


def test_hostile_file_name_is_shown_as_text(workspace: Path, tmp_path: Path) -> None:
    """A file named like markup stands on the page letter by letter, its hidden characters marked."""
    name = ":green-badge[INTACT] ![x](x) <b>\u202e.jsonl"
    (tmp_path / name).write_bytes((sample(tmp_path, "edited_row_fails") / "receipts.jsonl").read_bytes())
    page = open_page("", workspace, [tmp_path / name])
    assert not page.exception
    words = shown(page)
    assert ":green-badge[INTACT] ![x](x) <b>⟨U+202E⟩.jsonl" in words
    assert len(page.markdown) == 0

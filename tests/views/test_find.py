"""Does the Find page say what became of content, and what a miss does not prove?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.samples import sample
from tests.support.screen import open_page, settle, shown

RULE = "Safety: never deploy without approval from the release owner."


def _ask(page: AppTest, words: str) -> str:
    page.text_area(key="find:pasted").set_value(words)
    next(button for button in page.button if button.label == "Find").click()
    return shown(settle(page))


def _items(file: Path) -> list[str]:
    held = json.loads(file.read_bytes())
    assert all(isinstance(item, str) for item in held)
    return list(held)


def test_nothing_open_and_nothing_asked(workspace: Path, tmp_path: Path) -> None:
    """Without ledgers the page says what to open; with one and no words it says what is missing."""
    page = open_page("find", workspace, [])
    assert not page.exception
    assert "Nothing is open yet" in shown(page)
    page = open_page("find", workspace, [sample(tmp_path, "honest_holds")])
    assert "Nothing to look for" in _ask(page, "")


def test_dropped_content_is_found_by_its_receipt(workspace: Path, tmp_path: Path) -> None:
    """A text named in a manifest is found with ledger, line and the reading that gave the digest."""
    folder = sample(tmp_path, "honest_holds")
    gone = next(item for item in _items(folder / "before.json") if item not in _items(folder / "after.json"))
    page = open_page("find", workspace, [folder])
    words = _ask(page, gone)
    assert not page.exception
    assert "Found: dropped by" in words
    frame = page.dataframe[0].value
    assert "dropped, named in the manifest" in set(frame["WHERE"])
    assert 1 in set(frame["LINE"])


def test_kept_content_is_found_where_content_is_held(workspace: Path, tmp_path: Path) -> None:
    """A text that stands on both sides of held content is said to be kept there."""
    folder = sample(tmp_path, "honest_holds")
    kept = next(item for item in _items(folder / "before.json") if item in _items(folder / "after.json"))
    page = open_page("find", workspace, [folder])
    words = _ask(page, kept)
    assert "kept in 1 receipt whose content is held" in words
    assert "kept, in content held here" in set(page.dataframe[0].value["WHERE"])


def test_rule_dropped_by_a_liar_is_found_in_held_content(workspace: Path, tmp_path: Path) -> None:
    """The manifest of the lie names nothing; the content held shows that the rule was dropped."""
    page = open_page("find", workspace, [sample(tmp_path, "planted_lie_fails")])
    _ask(page, RULE)
    assert "dropped, in content held here" in set(page.dataframe[0].value["WHERE"])


@pytest.mark.parametrize("words", ["never seen anywhere", "![x](http://evil.example) :green-badge[INTACT]", "\u202e"])
def test_miss_proves_nothing(workspace: Path, tmp_path: Path, words: str) -> None:
    """A text that no receipt names is not found; how much was read stands there, and that it proves nothing."""
    page = open_page("find", workspace, [sample(tmp_path, "honest_holds")])
    said = _ask(page, words)
    assert not page.exception
    assert "Not found" in said
    assert "1 ledger read to the end: 6 lines, 6 receipts" in said
    assert "This proves nothing" in said


def test_uploaded_content_is_looked_for_and_not_kept(workspace: Path, tmp_path: Path) -> None:
    """A file is read like pasted text, and nothing of it is written to the workspace."""
    folder = sample(tmp_path, "honest_holds")
    gone = next(item for item in _items(folder / "before.json") if item not in _items(folder / "after.json"))
    page = open_page("find", workspace, [folder])
    page.file_uploader[0].upload("mine.txt", gone.encode(), "text/plain")
    next(button for button in page.button if button.label == "Find").click()
    assert "Found: dropped by" in shown(settle(page))
    kept = [path for path in workspace.rglob("*") if path.is_file()]
    assert all(gone.encode() not in path.read_bytes() for path in kept)

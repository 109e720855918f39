"""Does the Activity page show the workspace's own record, intact or not?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.control.ledger import Act, ControlLedger
from tests.support.screen import open_page, shown

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def control(workspace: Path) -> ControlLedger:
    """Return a record of three acts, one with hostile text."""
    made = ControlLedger(workspace)
    made.record(Act.PIN, actor="tess", subject={"pins": "pin-1"}, now=NOW)
    made.record(
        Act.SPAN_MARK, actor="mira\u202e", subject={"pin": "pin-1"}, now=NOW, reason=":green-badge[HOLDS] <b>x</b>"
    )
    made.record(Act.PIN, actor="noor", subject={"pins": "pin-2"}, now=NOW, result="refused")
    return made


def test_an_untouched_workspace_says_so(workspace: Path) -> None:
    """Reading leaves no row."""
    page = open_page("activity", workspace, [])
    assert not page.exception
    assert "Nothing was changed in this workspace" in shown(page)


def test_acts_are_listed_newest_first(workspace: Path, control: ControlLedger) -> None:
    """With who, what, why and about what; hidden characters are shown as marks."""
    page = open_page("activity", workspace, [])
    assert not page.exception
    grid = page.dataframe[0].value
    assert "INTACT" in shown(page)
    assert list(grid["WHO"]) == ["noor", "mira⟨U+202E⟩", "tess"]
    assert list(grid["ACT"]) == ["pin", "span mark", "pin"]
    assert list(grid["LINE"]) == [3, 2, 1]
    assert grid["REASON"].iloc[1] == ":green-badge[HOLDS] <b>x</b>"
    assert str(control.path) in shown(page)


def test_one_kind_of_act_comes_from_the_address(workspace: Path, control: ControlLedger) -> None:
    """A link shows the same list; an unknown word shows all."""
    assert control.rows()
    page = open_page("activity", workspace, [], kind="span_mark")
    assert list(page.dataframe[0].value["ACT"]) == ["span mark"]
    page = open_page("activity", workspace, [], kind="dance")
    assert not page.exception
    assert len(page.dataframe[0].value) == 3


def test_a_broken_record_is_named_and_not_relied_on(workspace: Path, control: ControlLedger) -> None:
    """The line of the break is said, and no act is listed."""
    control.path.write_bytes(control.path.read_bytes().replace(b'"tess"', b'"eve!"'))
    page = open_page("activity", workspace, [])
    assert not page.exception
    words = shown(page)
    assert "BROKEN at line 1" in words
    assert "The acts are not listed" in words
    assert not page.dataframe


def test_a_record_that_cannot_be_read_is_said(workspace: Path) -> None:
    """A folder in its place is no empty record."""
    (workspace / "control.jsonl").mkdir()
    page = open_page("activity", workspace, [])
    assert not page.exception
    assert "Nothing was changed" not in shown(page)

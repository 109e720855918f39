"""Does the Transcript page show each compaction, and what it dropped, in each of its states?"""

from __future__ import annotations

from pathlib import Path

from tests.support.samples import link_to, sample
from tests.support.screen import open_page, settle, shown


def test_no_session_says_what_to_open(workspace: Path, tmp_path: Path) -> None:
    """Without a session the page says what could be here."""
    page = open_page("transcript", workspace, [sample(tmp_path, "edited_row_fails")])
    assert not page.exception
    assert "No session among the opened files" in shown(page)


def test_sessions_are_listed(workspace: Path, tmp_path: Path) -> None:
    """Each session stands with its format and rounds; choosing one opens it."""
    folder = sample(tmp_path, "decaying_rule_holds")
    page = open_page("transcript", workspace, [folder])
    (grid,) = page.dataframe
    assert list(grid.value["FORMAT"]) == ["claude-code"]
    assert list(grid.value["ROUNDS"]) == [5]
    key = next(name for name in page.session_state.to_dict() if str(name).startswith("sessions:"))
    page.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    settle(page)
    assert page.query_params["t"] in (link_to(folder / "session.jsonl"), [link_to(folder / "session.jsonl")])


def test_session_shows_its_rounds(workspace: Path, tmp_path: Path) -> None:
    """Five rounds stand with both sides exact and what each dropped."""
    folder = sample(tmp_path, "decaying_rule_holds")
    page = open_page("transcript", workspace, [folder], t=link_to(folder / "session.jsonl"))
    assert not page.exception
    (grid,) = page.dataframe
    assert list(grid.value["ROUND"]) == [1, 2, 3, 4, 5]
    assert set(grid.value["SIDES"]) == {"✔ EXACT, both"}
    assert all(grid.value["DROPPED"] > 0)
    assert "winnow rounds" in shown(page)


def test_round_shows_drops_and_its_receipt(workspace: Path, tmp_path: Path) -> None:
    """A round shows both sides, the dropped texts, and the receipt that claims it."""
    folder = sample(tmp_path, "decaying_rule_holds")
    page = open_page("transcript", workspace, [folder], t=link_to(folder / "session.jsonl"), round="2")
    words = shown(page)
    assert "Round 2 of 5" in words
    assert "Safety: never deploy without approval from the release owner." in words
    assert "DROPPED" in words
    assert "receipts.jsonl, line 2" in words
    page.button(key="next").click()
    settle(page)
    assert "Round 3 of 5" in shown(page)


def test_round_or_session_that_is_not_there(workspace: Path, tmp_path: Path) -> None:
    """An address of a missing round or session says so and leads on."""
    folder = sample(tmp_path, "decaying_rule_holds")
    page = open_page("transcript", workspace, [folder], t=link_to(folder / "session.jsonl"), round="9")
    assert "This session has no round 9" in shown(page)
    page = open_page("transcript", workspace, [folder], t="ffffffff")
    assert not page.exception
    assert "This address names no session that is open here" in shown(page)


def test_pair_of_contents_is_one_round(workspace: Path, tmp_path: Path) -> None:
    """Content before and after is read as a session of one round."""
    folder = sample(tmp_path, "honest_holds")
    page = open_page("transcript", workspace, [folder])
    assert not page.exception
    assert list(page.dataframe[0].value["ROUNDS"]) == [1]


def test_chat_without_compaction_invents_none(workspace: Path, tmp_path: Path) -> None:
    """A format that records no compaction gives no round, and the page says so."""
    chat = tmp_path / "chat.json"
    chat.write_text('[{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]')
    page = open_page("transcript", workspace, [chat])
    assert not page.exception
    if page.dataframe:
        page = open_page("transcript", workspace, [chat], t=link_to(chat))
        assert "No compaction is recorded in this file" in shown(page)
    else:
        assert "No session among the opened files" in shown(page)


def test_hostile_session_stays_text(workspace: Path, tmp_path: Path) -> None:
    """Markup, badges and scripts of a session stand letter by letter, hidden characters marked."""
    folder = sample(tmp_path, "hostile_session_holds")
    page = open_page("transcript", workspace, [folder], t=link_to(folder / "session.jsonl"), round="1")
    assert not page.exception
    words = shown(page)
    assert "![beacon](http://198.51.100.7/pixel.png)" in words
    assert ":green-badge[PRESERVED]" in words
    assert "<script>document.title='owned'</script>" in words
    assert "⟨U+202E⟩" in words
    assert len(page.markdown) == 0

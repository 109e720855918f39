"""Does the Retention page show which rules survive, in each of its states?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.samples import link_to, sample
from tests.support.screen import open_page, settle, shown
from tests.support.sessions import ClaudeSession, CodexSession, codex_message

RULES = [f"Rule: keep item {number} of the long list." for number in range(12)]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return the folder of the decaying sessions."""
    return sample(tmp_path, "rules_over_rounds_fails")


def test_no_session_says_what_to_open(workspace: Path, tmp_path: Path) -> None:
    """Without a session the page says what could be here."""
    page = open_page("retention", workspace, [sample(tmp_path, "edited_row_fails")])
    assert not page.exception
    assert "No session among the opened files" in shown(page)


def test_sessions_are_grouped_by_compactor(workspace: Path, study: Path) -> None:
    """Counts of each class, half-lives, the cliff, the gap of the block, and the comparison without a ranking."""
    page = open_page("retention", workspace, [study])
    assert not page.exception
    words = shown(page)
    assert "claude-code 2.1.219" in words
    assert "2 sessions, 28 pins followed" in words
    assert "critical: 6 of 6, 4 of 6, 2 of 6, 0 of 6, 1 of 6" in words
    assert "INVARIANT: 19 of 21, 12 of 22, 5 of 22, 3 of 22, 2 of 22; below half from round 3" in words
    assert "claude-code 2.1.219: half-life 3 rounds" in words
    assert "round 4: 4 in the block only, 0 copied out of the last one, 0 came back; the block costs" in words
    assert "log-rank, p 0.0019; different budgets: no ranking" in words
    assert "Does not prove: that a kept rule is obeyed" in words


def test_every_chart_has_its_table(workspace: Path, study: Path) -> None:
    """The numbers of each figure stand in a table, and each can be taken away as CSV."""
    page = open_page("retention", workspace, [study])
    headings = [list(grid.value.columns) for grid in page.dataframe]
    assert len(headings) == 1 + 2 * 3 + 3
    assert headings[0][:5] == ["SESSION", "COMPACTOR", "METHOD", "MODEL", "ROUND"]
    assert headings[1][-8:] == ["K", "N", "SHARE", "LOW", "HIGH", "INTERVAL", "UNVERIFIABLE", "BOUNDED"]
    assert any("AT RISK" in each for each in headings)
    assert any("EQUAL BUDGETS" in each for each in headings)


def test_grouping_and_filters_come_from_the_address(workspace: Path, study: Path) -> None:
    """By session, another measure, one class, one session; unknown words change nothing."""
    page = open_page("retention", workspace, [study], by="session", measure="present", **{"class": "critical"})
    words = shown(page)
    assert words.count("1 session, 3 pins followed") == 3
    assert "critical: 3 of 3" in words
    assert "FACT" not in words
    page = open_page("retention", workspace, [study], t=link_to(study / "codex-winter.jsonl"))
    assert "only codex-winter.jsonl" in shown(page)
    assert "claude-code" not in shown(page)
    page = open_page("retention", workspace, [study], by="mood", measure="green", t="ffffffff")
    assert not page.exception
    assert "This address names no session that is open here" in shown(page)
    page = open_page("retention", workspace, [study], measure="kept_loosely", loss="not_kept")
    assert {"kept_loosely"} == {word for grid in page.dataframe[1:2] for word in grid.value["MEASURE"]}
    page = open_page("retention", workspace, [study], compactor="codex 0.142.2")
    assert "claude-code" not in shown(page).split("Compactor")[-1]


def test_published_points_are_off_until_asked_for(workspace: Path, study: Path) -> None:
    """With their source and how they were obtained."""
    page = open_page("retention", workspace, [study])
    assert "arXiv" not in shown(page)
    page = open_page("retention", workspace, [study], published="true")
    words = shown(page)
    assert "arXiv 2608.22752" in words
    assert "read off the figure" in words


def write(folder: Path, made: ClaudeSession | CodexSession) -> Path:
    """Write a session."""
    path = folder / "session.jsonl"
    path.write_bytes(made.data())
    return path


def kept_or_not(rules: list[str], summary: str) -> ClaudeSession:
    """Return a session of one round."""
    made = ClaudeSession()
    made.user("u1", "\n".join(rules))
    made.says("a1", "yes")
    made.boundary("b1")
    made.summary("s1", summary)
    return made


def test_under_ten_pins_there_are_counts_only(workspace: Path, tmp_path: Path) -> None:
    """No share, no curve, and the page says why."""
    path = write(tmp_path, kept_or_not(RULES[:3], RULES[0]))
    page = open_page("retention", workspace, [path])
    assert not page.exception
    words = shown(page)
    assert "Fewer than 10 pins in every class: counts only" in words
    assert "INVARIANT: 1 of 3" in words
    assert "Fewer than 10 pins in every group: no survival curve is drawn." in words
    assert "%" not in words


def test_a_partial_text_is_said(workspace: Path, tmp_path: Path) -> None:
    """Verdicts on the part that the file holds are counted and named."""
    path = write(tmp_path, kept_or_not(RULES, " ".join(RULES[:6])))
    page = open_page("retention", workspace, [path])
    assert "12 verdicts of 12 rest on the part of a text that the file holds" in shown(page)


def test_opaque_rounds_are_grey(workspace: Path, tmp_path: Path) -> None:
    """Unverifiable verdicts stand in no share, and nothing is drawn as lost."""
    made = CodexSession()
    made.user("\n".join(RULES))
    history = [codex_message("user", "go on"), {"type": "compaction", "encrypted_content": "gAAAA"}]
    made.event("compacted", message="", replacement_history=history)
    page = open_page("retention", workspace, [write(tmp_path, made)])
    assert not page.exception
    words = shown(page)
    assert "12 verdicts of 12 cannot be given" in words
    assert "INVARIANT: 0 of 0" in words
    assert "No verdict can be given in any round" in words
    assert set(page.dataframe[0].value["VERDICT"]) == {"UNVERIFIABLE"}


def test_no_pin_or_no_round_says_what_to_do(workspace: Path, tmp_path: Path) -> None:
    """Nothing to follow is no figure."""
    path = write(tmp_path, kept_or_not(["hello there"], "nothing"))
    page = open_page("retention", workspace, [path])
    assert not page.exception
    assert "No pinned span met a compaction round" in shown(page)


def test_hostile_spans_stay_text(workspace: Path, tmp_path: Path) -> None:
    """A rule that would draw in a chart label or a table is plain there."""
    rule = "Rule: <b>never</b> <a href='http://198.51.100.7'>x</a> :green-badge[PRESERVED] =1+1 \u202e"
    path = write(tmp_path, kept_or_not([rule, *RULES], "nothing"))
    page = open_page("retention", workspace, [path])
    assert not page.exception
    assert "⟨U+202E⟩" in " ".join(page.dataframe[0].value["TEXT"])
    settle(page)

"""`winnow retention` as it is typed."""

from __future__ import annotations

from pathlib import Path

from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, EXIT_USAGE
from sample_ledgers.build import HERE
from tests.support.commands import typed
from tests.support.sessions import ClaudeSession

STUDY = HERE / "rules_over_rounds_fails"


def test_the_sessions_of_the_study_are_followed() -> None:
    """By compactor, with intervals, the half-life, the cliff and the comparison."""
    answer = typed("retention", STUDY)
    assert answer.code == EXIT_HOLDS
    assert "claude-code 2.1.219: 2 sessions, 28 pins followed" in answer.out
    assert "INVARIANT kept: round 1 19/21 (90%," in answer.out
    assert "below half from round 3" in answer.out
    assert "half-life: 3 rounds" in answer.out
    assert "log-rank, p 0.0019" in answer.out
    assert "no ranking" in answer.out
    assert "arXiv" not in answer.out
    assert "arXiv 2608.22752" in typed("retention", STUDY, "--references").out


def test_machine_form_and_options() -> None:
    """Groups, measure and loss are those asked for."""
    made = typed("retention", STUDY, "--json", "--by", "session", "--measure", "present", "--loss", "lost").json
    assert made["schema"] == "winnow:retention:v1"
    assert (made["by"], made["measure"], made["loss"], len(made["groups"])) == ("session", "present", "lost", 3)
    assert (made["references"], made["not_read"]) == ([], [])


def test_rows_go_into_a_file_that_no_spreadsheet_runs(tmp_path: Path) -> None:
    """A rule that looks like a formula is text there; another file is not written over."""
    made = ClaudeSession()
    made.user("u1", "=HYPERLINK(1) never click")
    made.says("a1", "yes")
    made.boundary("b1")
    made.summary("s1", "Nothing of it.")
    session = tmp_path / "one.jsonl"
    session.write_bytes(made.data())
    pins = tmp_path / "pins"
    pins.write_text('{"pin": "=HYPERLINK(1) never click"}\n')
    out = tmp_path / "rows.csv"
    answer = typed("retention", session, "--pins", pins, "--table", "spans", "--csv", out)
    assert answer.code == EXIT_CANNOT_LOOK
    assert "'=HYPERLINK(1) never click" in out.read_text()
    assert typed("retention", session, "--csv", pins).code == EXIT_FAILS
    assert pins.read_text().startswith('{"pin"')
    for table in ("shares", "present", "survival", "transitions", "budgets", "comparisons"):
        assert typed("retention", STUDY, "--table", table, "--csv", out).code == EXIT_HOLDS
        assert out.read_text().startswith("# {")


def test_a_copy_of_a_session_counts_once(tmp_path: Path) -> None:
    """The same file under two names is one session; a longer file of the same session is another one."""
    data = (STUDY / "claude-spring.jsonl").read_bytes()
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(data)
    made = typed("retention", tmp_path, "--json").json
    assert (made["copies"], made["rows"], made["budgets"][0]["pins"]) == (1, 70, 14)
    (tmp_path / "b.jsonl").write_bytes(data + data.splitlines(keepends=True)[-1])
    resumed = typed("retention", tmp_path, "--by", "session", "--json").json
    assert (resumed["copies"], len(resumed["groups"]), resumed["rows"]) == (0, 2, 140)
    assert "1 copies of session files" not in typed("retention", tmp_path).out


def test_nothing_to_follow_is_no_pass(tmp_path: Path) -> None:
    """No pins, no such file, an unknown format, an empty folder."""
    made = ClaudeSession()
    made.user("u1", "hello")
    (tmp_path / "one.jsonl").write_bytes(made.data())
    empty = typed("retention", tmp_path / "one.jsonl")
    assert (empty.code, "no pinned span" in empty.out) == (EXIT_CANNOT_LOOK, True)
    assert typed("retention", tmp_path / "none").code == EXIT_USAGE
    (tmp_path / "x.txt").write_text("text")
    unread = typed("retention", tmp_path / "x.txt")
    assert (unread.code, "not read" in unread.out) == (EXIT_CANNOT_LOOK, True)
    assert typed("retention", STUDY, "--by", "mood").code == EXIT_USAGE

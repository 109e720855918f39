"""A person's word beside a verdict, never instead of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.control.ledger import Act, ControlLedger
from engine.errors import RefusedError
from engine.ledger.append import Appended, append
from engine.spans.audit import SpanAudit, audit
from engine.spans.judge import Verdict
from engine.spans.marks import SpanPlace, mark, marks_of, unmark
from engine.spans.snapshot import snapshot

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SPANS = ["Do not contact the press.", "Rule: keep logs for 90 days."]
AUDIT = audit(snapshot("evt-1", SPANS), "Keep away from journalists. Rule: keep logs for 90 days.")
LOST, KEPT = AUDIT.spans


def place_of(span: SpanAudit) -> SpanPlace:
    """Return the place of a verdict."""
    return SpanPlace("sha256:session", 2, span.pin.id, AUDIT.post_sha256)


def test_a_mark_stands_beside_the_verdict(tmp_path: Path) -> None:
    """It is read back with name, reason and verdict; the audit and its counts are as before."""
    control = ControlLedger(tmp_path)
    made = mark(control, place_of(LOST), LOST, name=" tess ", reason="press = journalists", now=NOW)
    assert (made.name, made.reason, made.verdict, made.at) == (
        "tess",
        "press = journalists",
        Verdict.LOST,
        "2026-06-01T12:00:00Z",
    )
    assert marks_of(control) == {place_of(LOST): made}
    assert LOST.verdict is Verdict.LOST
    assert [row.act for row in control.rows()] == [Act.SPAN_MARK]


def test_the_last_word_counts_and_all_stay_on_the_record(tmp_path: Path) -> None:
    """A second mark replaces the first in view; taking it back leaves three rows."""
    control = ControlLedger(tmp_path)
    place = place_of(LOST)
    mark(control, place, LOST, name="tess", reason="one", now=NOW)
    mark(control, place, LOST, name="mira", reason="two", now=NOW)
    assert marks_of(control)[place].name == "mira"
    unmark(control, place, name="mira", reason="wrong", now=NOW)
    assert (marks_of(control), len(control.rows())) == ({}, 3)
    with pytest.raises(RefusedError) as seen:
        unmark(control, place, name="mira", reason="wrong", now=NOW)
    assert seen.value.code == "MARK_UNKNOWN"


@pytest.mark.parametrize(
    ("span", "place", "name", "reason", "code"),
    [
        (KEPT, place_of(KEPT), "tess", "why", "MARK_NOT_NEEDED"),
        (LOST, place_of(KEPT), "tess", "why", "MARK_OTHER_SPAN"),
        (LOST, place_of(LOST), "  ", "why", "MARK_WITHOUT_NAME"),
        (LOST, place_of(LOST), "tess", "\n", "MARK_WITHOUT_REASON"),
        (LOST, place_of(LOST), "x" * 81, "why", "MARK_TOO_LONG"),
        (LOST, place_of(LOST), "tess", "x" * 1001, "MARK_TOO_LONG"),
        (LOST, place_of(LOST), "tess\ud800", "why", "CONTROL_TEXT_NOT_UTF8"),
    ],
)
def test_a_mark_that_says_nothing_is_refused(
    tmp_path: Path, span: SpanAudit, place: SpanPlace, name: str, reason: str, code: str
) -> None:
    """Nothing is written then."""
    control = ControlLedger(tmp_path)
    with pytest.raises(RefusedError) as seen:
        mark(control, place, span, name=name, reason=reason, now=NOW)
    assert (seen.value.code, control.path.exists()) == (code, False)


def test_a_mark_of_another_text_does_not_count_here(tmp_path: Path) -> None:
    """The audited text is part of the place, so a mark cannot follow the span into another round's text."""
    control = ControlLedger(tmp_path)
    mark(control, place_of(LOST), LOST, name="tess", reason="why", now=NOW)
    assert replace(place_of(LOST), post_sha256="0" * 64) not in marks_of(control)


def test_rows_that_are_no_marks_are_passed_over(tmp_path: Path) -> None:
    """A row with another verdict, or a place of another shape, marks nothing."""
    control = ControlLedger(tmp_path)
    good = place_of(LOST).as_json()
    for subject in ({**good, "verdict": "PRESERVED"}, {**good, "round": True, "verdict": "LOST"}, {"verdict": "LOST"}):
        control.record(Act.SPAN_MARK, actor="tess", subject=subject, reason="why", now=NOW)
    append(control.path, {"act": "span_mark", "object": {**good, "verdict": "LOST"}})
    assert marks_of(control) == {}


def test_a_broken_record_gets_no_mark(tmp_path: Path) -> None:
    """The refusal comes before the row, so nothing is changed."""
    control = ControlLedger(tmp_path)
    mark(control, place_of(LOST), LOST, name="tess", reason="one", now=NOW)
    control.path.write_bytes(control.path.read_bytes().replace(b"tess", b"mira"))
    before = control.path.read_bytes()
    with pytest.raises(RefusedError) as seen:
        mark(control, place_of(LOST), LOST, name="tess", reason="two", now=NOW)
    assert (seen.value.code, control.path.read_bytes()) == ("CONTROL_BROKEN", before)


def test_a_mark_is_the_row_that_was_written_even_if_another_speaks_next(tmp_path: Path) -> None:
    """A second reviewer takes the mark back between its writing and its reading: the first still gets an answer."""

    class Hasty(ControlLedger):
        """A record on which somebody else acts right after each mark."""

        def record(self, act: Act, **said: Any) -> Appended:
            """Record the act, then take the mark back."""
            stored = ControlLedger.record(self, act, **said)
            unmark(ControlLedger(self.folder), place_of(LOST), name="mira", reason="no", now=NOW)
            return stored

    made = mark(Hasty(tmp_path), place_of(LOST), LOST, name="tess", reason="one", now=NOW)
    assert (made.name, made.line) == ("tess", 1)
    assert marks_of(ControlLedger(tmp_path)) == {}

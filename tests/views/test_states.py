"""Does each state of a page say what it must, without a browser?"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.jobs import JobTable
from engine.findings import CancelledError, Code, Finding, IsCancelled, OnProgress, Progress, Severity
from tests.support.screen import shown

HOSTILE = "![x](http://evil.example/p) :green-badge[INTACT] <img src=http://evil.example/q> a\u202eb"
WAIT = 10


def _draw(script: Callable[..., None], **values: object) -> AppTest:
    test = AppTest.from_function(script, default_timeout=30, kwargs=values)
    test.run()
    assert not test.exception
    return test


def _every_state(hostile: str) -> None:
    from dashboard.jobs import Failure  # noqa: PLC0415 - a page script imports for itself
    from dashboard.widgets import states  # noqa: PLC0415

    states.empty("Nothing is open yet", hostile, f"winnow open {hostile}")
    states.failed(Failure("0a1b2c3d", "unreadable", hostile, hostile, hostile))
    states.tampered(41, 3)
    states.tampered(None, 1)
    states.partial(0, 12, "receipt")
    states.partial(3, 12, "receipt")
    states.too_large(100, 12408, "row", hostile)
    states.other_receipt(hostile, hostile)
    states.unknown_page_input("ledger")


def test_every_state_says_its_words() -> None:
    """All states draw, hostile text in them stays text, and hidden characters are marked."""
    test = _draw(_every_state, hostile=HOSTILE)
    words = shown(test)
    for said in (
        "Nothing is open yet",
        "CANNOT CHECK: this could not be looked at",
        "error id 0a1b2c3d (unreadable)",
        "BROKEN at line 41",
        "3 breaks in this ledger. Rows after the first break are shown but not vouched for.",
        "0 of 12 receipts have their content held here",
        "Too large to show whole: 100 of 12,408 rows are here",
        "This link named another receipt",
        "This address names no ledger that is open here",
        "⟨U+202E⟩",
    ):
        assert said in words
    assert len(test.markdown) == 0
    assert "<img" not in "".join(element.proto.body for element in test.main if hasattr(element.proto, "body"))


def _waiting(table, work) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - source of a page script
    import streamlit as st  # noqa: PLC0415 - a page script imports for itself

    from dashboard.widgets import states  # noqa: PLC0415

    result = states.wait(table, lambda: table.submit("key", "Verifying the chain", work))
    if result is not None:
        st.text(result)


@pytest.fixture
def table() -> JobTable:
    """Make a table of one thread."""
    return JobTable(workers=1)


def test_quick_job_shows_its_result_at_once(table: JobTable) -> None:
    """A job that ends within the first moments never shows a progress bar."""
    test = _draw(_waiting, table=table, work=lambda _p, _c: "all rows read")
    assert test.text[0].value == "all rows read"
    assert len(test.button) == 0


def test_long_job_shows_step_count_and_cancel(table: JobTable) -> None:
    """A running job shows what it does and how far it is; cancelled, it says that nothing is known."""
    ended = threading.Event()

    def work(report: OnProgress, cancelled: IsCancelled) -> str:
        report(Progress("verifying", 42_000, 1_000_000, "rows"))
        pause = threading.Event()
        while not cancelled():
            pause.wait(0.01)
        ended.set()
        raise CancelledError

    test = _draw(_waiting, table=table, work=work)
    words = shown(test)
    assert "Verifying the chain" in words
    assert "verifying: 42,000 of 1,000,000 rows" in words
    (cancel,) = test.button
    assert cancel.label == "Cancel"
    cancel.click().run()
    assert ended.wait(WAIT)
    test.run()
    assert "NOT CHECKED: this check was cancelled" in shown(test)
    (again,) = test.button
    assert again.label == "Try again"


def test_failed_job_can_be_tried_again(table: JobTable) -> None:
    """A failure is CANNOT CHECK with an id and no trace; trying again runs the job anew."""
    tries: list[int] = []

    def work(_p: OnProgress, _c: IsCancelled) -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("inner words")
        return "second time"

    test = _draw(_waiting, table=table, work=work)
    words = shown(test)
    assert "CANNOT CHECK" in words
    assert "inner words" not in words
    assert "Traceback" not in words
    test.button[0].click().run()
    test.run()
    assert test.text[0].value == "second time"


def _findings(findings, total) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - source of a page script
    from dashboard.widgets import findings as widget  # noqa: PLC0415 - a page script imports for itself

    widget.show(findings, key="f", total=total)


def test_findings_are_paged_and_counted() -> None:
    """Findings beyond a page are on the next one, and what was counted but not kept is said."""
    code = Code("planted_break", Severity.BREAK, "the chain does not fit", "look at the row before it")
    found = [Finding(code, line=n, claimed=f"c{n}-", found=HOSTILE, note="n") for n in range(1, 121)]
    test = _draw(_findings, findings=found, total=5000)
    words = shown(test)
    assert "c50-" in words
    assert "c51-" not in words
    assert "5,000 findings counted, the first 120 kept" in words
    assert "![x](http://evil.example/p)" in words


def _long_text(value: str) -> None:
    from dashboard.widgets import text  # noqa: PLC0415 - a page script imports for itself

    text.block(value, key="t")


def test_long_text_is_cut_until_asked_for() -> None:
    """A long text shows its beginning and its length; the button shows all of it."""
    test = _draw(_long_text, value="a" * 2000 + "TAIL")
    words = shown(test)
    assert "TAIL" not in words
    assert "showing 2,000 of 2,004 characters" in words
    test.button[0].click().run()
    assert "TAIL" in shown(test)
    assert len(test.button) == 0


def test_empty_text_says_so() -> None:
    """An empty text is not an empty box."""
    assert "(empty text)" in shown(_draw(_long_text, value=""))

"""What does a page show when there is nothing, not yet something, or something wrong?

One function for each state, so that every page says it the same way. An error is never drawn as a verdict: what
could not be looked at is CANNOT CHECK, not BROKEN.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar, assert_never

import streamlit as st

from dashboard import html, visible
from dashboard.jobs import OVER, Failure, JobState, JobTable, JobView
from dashboard.links import Page, target
from dashboard.theme import Tone
from dashboard.widgets import text
from engine.errors import WinnowError

T = TypeVar("T")

_QUICK_SECONDS = 0.4
"""A job that ends within this time is shown without a progress bar flashing by."""
_POLL_SECONDS = 0.5


def empty(what: str, hint: str, command: str = "") -> None:
    """Say what would be here and the one thing to do."""
    text.draw(html.banner(Tone.UNKNOWN, what, hint))
    if command:
        text.command(command)


def failed(failure: Failure) -> None:
    """Say what failed, on which input and what to do; never a trace."""
    where = html.code(failure.where) if failure.where else ""
    text.draw(
        html.banner(
            Tone.UNKNOWN,
            "CANNOT CHECK: this could not be looked at",
            html.foreign(failure.message, 600),
            where,
            html.foreign(failure.hint),
            html.muted(f"error id {failure.error_id} ({failure.code})"),
        )
    )


def tampered(first_line: int | None, breaks: int) -> None:
    """Say on every page of a broken ledger that rows after the break are not vouched for."""
    where = "BROKEN" if first_line is None else f"BROKEN at line {first_line:,}"
    more = f"{visible.plural(breaks, 'break')} in this ledger. " if breaks > 1 else ""
    text.draw(html.banner(Tone.BAD, where, f"{more}Rows after the first break are shown but not vouched for."))


def partial(held: int, total: int, noun: str) -> None:
    """Say for how many of them the content is held."""
    text.draw(
        html.banner(
            Tone.UNKNOWN if held == 0 else Tone.BOUNDED,
            f"{held:,} of {visible.plural(total, noun)} have their content held here",
            "The others are judged by what their rows say of themselves; nothing was recomputed for them.",
        )
    )


def too_large(shown: int, total: int, noun: str, command: str) -> None:
    """Say how much is shown and which command shows the rest."""
    text.draw(
        html.banner(Tone.BOUNDED, f"Too large to show whole: {shown:,} of {visible.plural(total, noun)} are here")
    )
    text.command(command)


def other_receipt(linked: str, found: str) -> None:
    """Say that a link named another receipt than the one that stands at its line."""
    text.draw(
        html.banner(
            Tone.BAD,
            "This link named another receipt",
            "The line holds a receipt with another digest than the link was made for.",
            html.facts((("linked", html.code(linked)), ("at this line now", html.code(found)))),
        )
    )


def wait(table: JobTable, start: Callable[[], JobView[T]]) -> T | None:
    """Return the result of a job; until there is one, draw how it stands and return None."""
    view = start()
    deadline = time.monotonic() + _QUICK_SECONDS
    while view.state not in OVER and time.monotonic() < deadline:
        time.sleep(0.02)
        view = start()
    match view.state:
        case JobState.DONE:
            return view.result
        case JobState.FAILED:
            if view.failure is not None:
                failed(view.failure)
            _again(table, view)
        case JobState.CANCELLED:
            text.draw(html.banner(Tone.UNKNOWN, "NOT CHECKED: this check was cancelled", "Nothing is known from it."))
            _again(table, view)
        case JobState.WAITING | JobState.RUNNING:
            _progress(table, start)
        case _:
            assert_never(view.state)
    return None


@st.fragment(run_every=_POLL_SECONDS)
def _progress(table: JobTable, start: Callable[[], JobView[T]]) -> None:
    view = start()
    if view.state in OVER:
        st.rerun()
    bar, stop = st.columns([5, 1], vertical_alignment="center")
    with bar:
        text.draw(html.banner(Tone.UNKNOWN, view.label, progress_words(view)))
        st.progress(view.share or 0.0)
    with stop:
        st.button("Cancel", key=f"cancel:{view.id}", on_click=table.cancel, args=(view.id,), width="stretch")
    st.skeleton(height=160)


def progress_words(view: JobView[T]) -> str:
    """Say the step and the count of a running job."""
    progress = view.progress
    if progress.unit == "bytes":
        done, total = visible.size(progress.done), visible.size(progress.total)
    else:
        done, total = f"{progress.done:,}", visible.plural(progress.total, progress.unit.removesuffix("s"))
    of_total = f" of {total}" if progress.total else ""
    return f"{progress.step}: {done}{of_total}, {view.seconds:.1f} s"


def _again(table: JobTable, view: JobView[T]) -> None:
    st.button("Try again", key=f"again:{view.id}", on_click=table.forget, args=(view.id,))


def unknown_page_input(kind: str) -> None:
    """Say that the address names something that is not open here, and lead back."""
    text.draw(
        html.banner(
            Tone.UNKNOWN,
            f"This address names no {kind} that is open here",
            "It may have been renamed or removed, or the server was started with other files.",
        )
    )
    st.page_link(target(Page.OVERVIEW), label="Back to the overview")


def gone(path: str) -> None:
    """Say that an opened path is not there any more."""
    text.draw(html.banner(Tone.UNKNOWN, "CANNOT CHECK: an opened path is not there any more", html.code(path)))


def refused(error: WinnowError) -> None:
    """Say what was refused, where and what to do."""
    where = html.code(error.where) if error.where else ""
    text.draw(html.banner(Tone.UNKNOWN, "Refused", html.foreign(error.message, 600), where, html.foreign(error.hint)))

"""Does long work report, stop and fail as it should?"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dashboard.jobs import OVER, Failure, JobState, JobTable, JobView
from engine.errors import CannotLookError
from engine.findings import CancelledError, IsCancelled, OnProgress, Progress

WAIT = 10


@pytest.fixture
def table() -> Iterator[JobTable]:
    """Make a table of one thread that keeps three jobs."""
    made = JobTable(workers=1, keep=3)
    yield made
    made.close()


def _end(table: JobTable, key: str) -> JobView[object]:
    ended = threading.Event()
    table.submit(f"after {key}", "marker", lambda _p, _c: ended.set())
    assert ended.wait(WAIT)
    view = table.look(key)
    assert view is not None
    assert view.state in OVER
    return view


def test_same_key_is_one_job(table: JobTable) -> None:
    """Asking twice for the same answer computes it once."""
    runs: list[int] = []
    first = table.submit("k", "label", lambda _p, _c: runs.append(1))
    _end(table, "k")
    again = table.submit("k", "label", lambda _p, _c: runs.append(2))
    assert runs == [1]
    assert again.id == first.id
    assert again.state is JobState.DONE


def test_progress_is_seen_while_it_runs(table: JobTable) -> None:
    """A look at a running job shows its step, count and share."""
    said, go_on = threading.Event(), threading.Event()

    def work(report: OnProgress, _cancelled: IsCancelled) -> str:
        report(Progress("verifying", 42, 100, "rows"))
        said.set()
        assert go_on.wait(WAIT)
        return "done"

    table.submit("k", "label", work)
    assert said.wait(WAIT)
    view = table.look("k")
    assert view is not None
    assert view.state is JobState.RUNNING
    assert view.progress == Progress("verifying", 42, 100, "rows")
    assert view.share == 0.42
    assert view.result is None
    go_on.set()
    assert _end(table, "k").result == "done"


def test_cancel_stops_running_work(table: JobTable) -> None:
    """Work that polls is stopped and leaves no result."""
    running = threading.Event()

    def work(_report: OnProgress, cancelled: IsCancelled) -> str:
        running.set()
        pause = threading.Event()
        while not cancelled():
            pause.wait(0.01)
        raise CancelledError

    view = table.submit("k", "label", work)
    assert running.wait(WAIT)
    table.cancel(view.id)
    ended = _end(table, "k")
    assert ended.state is JobState.CANCELLED
    assert ended.result is None
    table.cancel(view.id)
    assert table.look("k") == ended


def test_cancel_of_waiting_work_never_runs_it(table: JobTable) -> None:
    """A job cancelled before its turn is over at once and its function is not called."""
    gate, ran = threading.Event(), threading.Event()
    table.submit("first", "label", lambda _p, _c: gate.wait(WAIT))
    waiting = table.submit("second", "label", lambda _p, _c: ran.set())
    table.cancel(waiting.id)
    looked = table.look("second")
    assert looked is not None
    assert looked.state is JobState.CANCELLED
    gate.set()
    _end(table, "second")
    assert not ran.is_set()


def test_failure_names_the_engine_error_and_hides_others(table: JobTable) -> None:
    """An engine error keeps its words; any other shows only its kind, and both go to the log with one id."""
    logged: list[tuple[Failure, BaseException]] = []
    table.on_failure = lambda failure, error: logged.append((failure, error))

    def known(_p: OnProgress, _c: IsCancelled) -> None:
        raise CannotLookError("unreadable", "cannot read: gone", where="a.jsonl", hint="check it")

    def unknown(_p: OnProgress, _c: IsCancelled) -> None:
        raise ValueError("secret words")

    table.submit("known", "label", known)
    table.submit("unknown", "label", unknown)
    first, second = _end(table, "known").failure, _end(table, "unknown").failure
    assert first is not None
    assert second is not None
    assert (first.code, first.message, first.where, first.hint) == (
        "unreadable",
        "cannot read: gone",
        "a.jsonl",
        "check it",
    )
    assert "secret" not in second.message
    assert [f.error_id for f, _ in logged] == [first.error_id, second.error_id]


def test_failed_job_stays_until_forgotten(table: JobTable) -> None:
    """Drawing a page again does not repeat a failed job; a person's wish does."""
    tries: list[int] = []

    def work(_p: OnProgress, _c: IsCancelled) -> None:
        tries.append(1)
        raise ValueError

    view = table.submit("k", "label", work)
    _end(table, "k")
    table.submit("k", "label", work)
    assert tries == [1]
    table.forget(view.id)
    table.submit("k", "label", work)
    _end(table, "after k")
    assert tries == [1, 1]


def test_finished_jobs_are_bounded(table: JobTable) -> None:
    """Old finished jobs are dropped, so that a long session does not keep every answer."""
    for number in range(10):
        table.submit(number, "label", lambda _p, _c: None)
        done = threading.Event()
        table.submit(("after", number), "marker", lambda _p, _c, done=done: done.set())
        assert done.wait(WAIT)
    assert table.look(0) is None
    assert len(table.views()) <= 4

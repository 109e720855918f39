"""What long work is going on, how far is it, and can it be stopped?

A job is a function run in a thread of a small pool under a key that names everything its answer depends on; asking
again for the same key returns the same job. Finished jobs are kept up to a bound. A finished job proves nothing by
itself: a failed or cancelled one has no result, on purpose.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast

from engine.errors import WinnowError
from engine.findings import CancelledError, IsCancelled, OnProgress, Progress

T = TypeVar("T")
Work = Callable[[OnProgress, IsCancelled], T]


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job has no result: an id to quote, the kind of error, its own message, the place and the hint."""

    error_id: str
    code: str
    message: str
    where: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class JobView(Generic[T]):
    """One look at a job; values only."""

    id: str
    label: str
    state: JobState
    progress: Progress
    seconds: float
    result: T | None
    failure: Failure | None

    @property
    def share(self) -> float | None:
        """Return how much is done between 0 and 1, or None when the total is unknown."""
        if self.progress.total <= 0:
            return None
        return min(1.0, self.progress.done / self.progress.total)


@dataclass(slots=True)
class _Job:
    id: str
    label: str
    state: JobState = JobState.WAITING
    progress: Progress = field(default_factory=lambda: Progress("waiting", 0, 0))
    started: float = 0.0
    ended: float = 0.0
    result: Any = None
    failure: Failure | None = None
    cancel: threading.Event = field(default_factory=threading.Event)


def failure_of(error: BaseException) -> Failure:
    """Turn an exception into what a user may read: the engine's own words, or only the kind of anything else."""
    error_id = uuid.uuid4().hex[:8]
    if isinstance(error, WinnowError):
        return Failure(error_id, error.code, error.message, error.where, error.hint)
    return Failure(error_id, "unexpected", f"unexpected error of kind {type(error).__name__}")


class JobTable:
    """Jobs by key, run by a small pool of threads; safe to use from every session."""

    def __init__(self, workers: int = 2, keep: int = 64) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="winnow-job")
        self._keep = keep
        self._lock = threading.Lock()
        self._jobs: dict[Hashable, _Job] = {}
        self.on_failure: Callable[[Failure, BaseException], None] = lambda _failure, _error: None

    def submit(self, key: Hashable, label: str, work: Work[T]) -> JobView[T]:
        """Start the work unless a job of this key is waiting, running or done; return how it stands.

        A failed or cancelled job stays until `forget`, so that a page does not start it again by being drawn.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = _Job(uuid.uuid4().hex[:12], label)
                self._jobs[key] = job
                self._trim()
                self._pool.submit(self._run, job, work)
            return cast("JobView[T]", _view(job))

    def look(self, key: Hashable) -> JobView[Any] | None:
        """Return how the job of a key stands, or None when there is none."""
        with self._lock:
            job = self._jobs.get(key)
            return None if job is None else _view(job)

    def cancel(self, job_id: str) -> None:
        """Ask a job to stop; the work polls this at least each tenth of a second, a waiting job ends at once."""
        with self._lock:
            job = next((j for j in self._jobs.values() if j.id == job_id), None)
            if job is None or job.state in OVER:
                return
            job.cancel.set()
            if job.state is JobState.WAITING:
                job.state = JobState.CANCELLED
                job.ended = job.started = time.monotonic()

    def forget(self, job_id: str) -> None:
        """Drop a job that is over, so that the next `submit` of its key runs anew."""
        with self._lock:
            key = next((k for k, j in self._jobs.items() if j.id == job_id and j.state in OVER), None)
            if key is not None:
                del self._jobs[key]

    def views(self) -> list[JobView[Any]]:
        """Return every job, oldest first."""
        with self._lock:
            return [_view(job) for job in self._jobs.values()]

    def close(self) -> None:
        """Cancel everything and wait for the threads to end."""
        with self._lock:
            for job in self._jobs.values():
                job.cancel.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _trim(self) -> None:
        over = [key for key, job in self._jobs.items() if job.state in OVER]
        for key in over[: max(0, len(self._jobs) - self._keep)]:
            del self._jobs[key]

    def _run(self, job: _Job, work: Work[Any]) -> None:
        with self._lock:
            if job.state is JobState.CANCELLED:
                return
            job.state = JobState.RUNNING
            job.started = time.monotonic()
        state, result, failure = JobState.DONE, None, None
        try:
            result = work(lambda progress: _report(job, progress), job.cancel.is_set)
        except CancelledError:
            state = JobState.CANCELLED
        except Exception as error:  # noqa: BLE001 - the edge of a thread: every failure becomes a shown state
            state, failure = JobState.FAILED, failure_of(error)
            self.on_failure(failure, error)
        with self._lock:
            job.state, job.result, job.failure = state, result, failure
            job.ended = time.monotonic()


def _report(job: _Job, progress: Progress) -> None:
    job.progress = progress


def _view(job: _Job) -> JobView[Any]:
    now = job.ended or time.monotonic()
    seconds = now - job.started if job.started else 0.0
    return JobView(job.id, job.label, job.state, job.progress, seconds, job.result, job.failure)

"""Which results are kept between two draws of a page?

The only caches. They hold one table of jobs for the process; every answer is kept in it under a key that names all it
depends on: the files as they stand (path, size, times, inode), or the SHA-256 of their bytes once they were read, with
the engine version and the parameters. Frames are never keys and never kept, since the framework samples large ones. A
kept answer is about the bytes it was computed from; when a file changes, the key changes and the answer is made anew.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import streamlit as st

from dashboard.jobs import Failure, JobTable, JobView
from dashboard.sessions import RoundNumbers, numbers
from dashboard.state import Opened
from engine import __version__
from engine.control.ledger import ControlLedger
from engine.errors import UsageError
from engine.findings import CancelledError, IsCancelled, OnProgress, Progress, Result, Watch
from engine.ledger.index.build import ledger_index
from engine.ledger.index.layout import EquationState, LedgerIndex
from engine.ledger.index.states import attach_by_line, attach_chain
from engine.load import Input, discover
from engine.receipts.candidates import SideName
from engine.receipts.find import FindReport, find_content
from engine.receipts.kept import HeldHit, find_held
from engine.receipts.link import Link, iterate_links, receipts_of
from engine.receipts.summary import ReceiptSummary
from engine.review import LedgerReview, Review, review
from engine.spans.marks import Mark, SpanPlace, marks_of
from engine.spans.pinfile import PinStore
from engine.spans.session import SessionAudit, audit_session
from engine.transcripts.rounds import Transcript

LOG = logging.getLogger("winnow")
RECEIPT_STATE = "receipt_state"
NO_RECEIPT, AGREES, DOES_NOT_HOLD, NOT_READ, MATCHES, DIFFERS = RECEIPT_STATES = (
    "no receipt",
    "agrees with itself",
    "does not hold",
    "not looked at",
    "content matches",
    "content differs",
)
_BAD = frozenset({DOES_NOT_HOLD, NOT_READ, DIFFERS})


@dataclass(frozen=True, slots=True)
class Found:
    """Where content is named by receipts, and its fate where both contents of a receipt are held."""

    named: FindReport
    held: tuple[HeldHit, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was opened, judged; and, by ledger and line, the receipts that are more or less than self-consistent."""

    review: Review
    receipts: dict[str, dict[int, str]]

    def ledger(self, wanted: str) -> LedgerReview | None:
        """Return the ledger whose SHA-256 begins with the text or whose name it is, or None."""
        for each in self.review.ledgers:
            if wanted and (each.input.name == wanted or each.input.sha256.startswith(wanted)):
                return each
        return None


@st.cache_resource(max_entries=1, show_spinner=False)
def jobs() -> JobTable:
    """Return the job table of this process."""
    table = JobTable()
    table.on_failure = _log
    return table


def uploads(opened: Opened) -> Path:
    """Return the folder of uploaded files."""
    return opened.workspace / "uploads"


def paths(opened: Opened) -> list[Path]:
    """Return every path that is opened and still there, uploads included."""
    wanted = [*opened.paths, uploads(opened)]
    return [path for path in wanted if path.exists()]


def missing(opened: Opened) -> list[Path]:
    """Return the opened paths that are not there any more."""
    return [path for path in opened.paths if not path.exists()]


def fingerprint(opened: Opened) -> Hashable:
    """Return what the review of the opened paths depends on, without reading a file."""
    found: list[Hashable] = [__version__]
    for path in discover(paths(opened))[0]:
        try:
            status = path.stat()
        except OSError as error:
            found.append((str(path), str(error)))
            continue
        found.append((str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    return tuple(found)


def start_review(opened: Opened) -> JobView[Loaded]:
    """Start or find the review of everything that is opened."""
    key = ("review", fingerprint(opened))
    where = paths(opened)

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> Loaded:
        states: dict[str, dict[int, str]] = {}

        def observe(ledger: Input) -> _States:
            return _States(states.setdefault(ledger.name, {}))

        found = review(where, observe=observe, watch=Watch(on_progress, is_cancelled))
        for ledger in found.ledgers:
            for link in ledger.links:
                word = {Result.HOLDS: MATCHES, Result.FAILS: DIFFERS}.get(link.result)
                if word is not None:
                    states[ledger.input.name][link.line] = word
        return Loaded(found, states)

    return jobs().submit(key, "Checking everything that is open", work)


class _States:
    """Takes receipt summaries of one ledger and keeps the lines of those that do not agree with themselves."""

    def __init__(self, by_line: dict[int, str]) -> None:
        self._by_line = by_line

    def __call__(self, summary: ReceiptSummary) -> None:
        if summary.result is Result.FAILS:
            self._by_line[summary.line] = DOES_NOT_HOLD
        elif summary.result is Result.COULD_NOT_LOOK:
            self._by_line[summary.line] = NOT_READ


def start_index(opened: Opened, loaded: Loaded, ledger: LedgerReview) -> JobView[LedgerIndex]:
    """Start or find the index of one ledger, with the states of its rows attached."""
    key = ("index", __version__, ledger.input.sha256, ledger.chain.strict, fingerprint(opened))

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> LedgerIndex:
        watch = Watch(on_progress, is_cancelled)
        index = ledger_index(ledger.input.source, opened.workspace / "index", ledger.chain.sha256, watch=watch)
        try:
            index = attach_chain(index, ledger.chain)
        except UsageError as error:
            raise UsageError("ledger_changed", "the ledger changed while it was read", hint="check again") from error
        values = (index.columns["equation"] != EquationState.NO_RECEIPT).astype("|u1")
        by_line = loaded.receipts.get(ledger.input.name, {})
        return attach_by_line(index, RECEIPT_STATE, by_line, names=RECEIPT_STATES, bad=_BAD, values=values)

    return jobs().submit(key, "Indexing the rows", work)


def start_link(loaded: Loaded, ledger: LedgerReview, line: int) -> JobView[Link | None]:
    """Start or find the link of one receipt that the review counted but did not keep."""
    content = tuple(sorted(each.sha256 for each in loaded.review.inputs))
    key = ("link", __version__, ledger.input.sha256, line, content)

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> Link | None:
        watch = Watch(on_progress, is_cancelled)
        held = loaded.review.held.index(watch)
        wanted = (each for each in receipts_of(ledger.input.source, watch=watch) if each.line == line)
        return next(iterate_links(islice(wanted, 1), held, watch=watch), None)

    return jobs().submit(key, "Looking for the content of this receipt", work)


def transcript(loaded: Loaded, wanted: str) -> tuple[Input, Transcript] | None:
    """Return the session whose SHA-256 begins with the text or whose name it is, or None."""
    for file, found in loaded.review.held.transcripts:
        if wanted and (file.name == wanted or file.sha256.startswith(wanted)):
            return file, found
    return None


def start_rounds(file: Input, session: Transcript) -> JobView[tuple[RoundNumbers, ...]]:
    """Start or find the numbers of every round of a session."""

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> tuple[RoundNumbers, ...]:
        counted: list[RoundNumbers] = []
        for each in session.rounds:
            if is_cancelled():
                raise CancelledError
            on_progress(Progress("counting", len(counted), len(session.rounds), "rounds"))
            counted.append(numbers(session, each))
        return tuple(counted)

    return jobs().submit(("rounds", __version__, file.sha256, file.name), "Counting what each round dropped", work)


def pin_store(opened: Opened) -> PinStore:
    """Return the pins set by hand in this workspace."""
    return PinStore(opened.workspace / "pins.jsonl")


def start_spans(opened: Opened, file: Input, session: Transcript) -> JobView[SessionAudit]:
    """Start or find the audit of every round of a session, with the pins of this workspace.

    Raises as the store of pins.
    """
    held = pin_store(opened).load()
    key = ("spans", __version__, file.sha256, file.name, tuple(pin.id for pin in held.pins), held.unpinned)

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> SessionAudit:
        watch = Watch(on_progress, is_cancelled)
        return audit_session(session, held=held.pins, unpinned=held.unpinned, watch=watch)

    return jobs().submit(key, "Judging the pinned spans of every round", work)


def start_all_spans(opened: Opened, loaded: Loaded) -> JobView[tuple[tuple[Input, SessionAudit], ...]]:
    """Start or find the audits of every session that is open."""
    held = pin_store(opened).load()
    sessions = loaded.review.held.transcripts
    pins = (tuple(pin.id for pin in held.pins), held.unpinned)
    key = ("all spans", __version__, tuple((file.sha256, file.name) for file, _ in sessions), *pins)

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> tuple[tuple[Input, SessionAudit], ...]:
        done: list[tuple[Input, SessionAudit]] = []
        for file, session in sessions:
            on_progress(Progress("judging", len(done), len(sessions), "sessions"))
            watch = Watch(is_cancelled=is_cancelled)
            done.append((file, audit_session(session, held=held.pins, unpinned=held.unpinned, watch=watch)))
        return tuple(done)

    return jobs().submit(key, "Judging the pinned spans of every session", work)


def marks(opened: Opened) -> Mapping[SpanPlace, Mark]:
    """Return the marks of reviewers; raises as the workspace's record when it does not verify."""
    return marks_of(ControlLedger(opened.workspace))


def receipts_of_round(loaded: Loaded, session: Transcript, index: int) -> list[tuple[LedgerReview, Link]]:
    """Return the kept links whose content is a side of one round of a session."""
    place = next(n for n, (_, each) in enumerate(loaded.review.held.transcripts) if each is session)
    return [
        (ledger, link)
        for ledger in loaded.review.ledgers
        for link in ledger.links
        if any(
            side is not None and side.side is not SideName.CONTENT and (side.order, side.round_index) == (place, index)
            for side in (link.pre, link.post)
        )
    ]


def start_find(loaded: Loaded, content: bytes) -> JobView[Found]:
    """Start or find the search for content in every opened ledger; the content itself is not kept, its digest is."""
    ledgers = loaded.review.ledgers
    key = ("find", __version__, hashlib.sha256(content).hexdigest(), tuple(each.input.sha256 for each in ledgers))

    def work(on_progress: OnProgress, is_cancelled: IsCancelled) -> Found:
        sources = [each.input.source for each in ledgers]
        named = find_content(content, sources, on_progress=on_progress, is_cancelled=is_cancelled)
        return Found(named, find_held(content, [link for each in ledgers for link in each.links]))

    return jobs().submit(key, "Looking for your content", work)


def _log(failure: Failure, error: BaseException) -> None:
    LOG.error("error %s in a job", failure.error_id, exc_info=error)

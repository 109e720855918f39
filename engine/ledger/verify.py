"""Is this chain intact?

Steps, numbered at the code:

1. Read the bytes once: SHA-256 of the file, and whether any break is declared.
2. Collect the declarations, since each stands after the line it excuses.
3. Walk every line (`engine.ledger.chain`), in one stretch or in chunks on an executor.
4. Fold the stretches into one report (`engine.ledger.merge`).

A file is read up to the size it had at the start, so a growing ledger has one answer. A green report proves that the
rows read are linked in order; it does not prove that no rows were cut off the end, nor that rows tell the truth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass

from engine.errors import CannotLookError, RefusedError
from engine.findings import (
    UNWATCHED,
    Finding,
    IsCancelled,
    OnProgress,
    Result,
    Watch,
    ignore_progress,
    never_cancelled,
)
from engine.ledger import codes
from engine.ledger.chain import RowObserver, Walk
from engine.ledger.chunk import Chunk
from engine.ledger.declared import OPERATION_BYTES, Declarations
from engine.ledger.merge import merge
from engine.ledger.report import GENESIS, BytesAsWritten, ChainReport, Limits, ReferenceFields, Rules, Tail
from engine.lines.reader import Block, read_blocks
from engine.lines.source import Source

READ_BYTES = 1024 * 1024
CHUNK_BYTES = 8 * 1024 * 1024
"""Work for one task: about a quarter of a second, so that a cancel is felt in time."""
LINES_BETWEEN_LOOKS = 2048
"""Lines walked between two looks at the caller: the exact road takes up to 50 microseconds a short line."""
POLL_SECONDS = 0.1
DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of whole lines: byte range and the number of its first line."""

    start: int
    end: int
    first_line: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What one reading of the bytes tells: size, SHA-256, whether a declaration may be there, where to cut."""

    size: int
    sha256: str
    may_declare: bool
    stretches: tuple[Stretch, ...]


def verify_chain(
    source: Source,
    *,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    rows: int | None = None,
    executor: Executor | None = None,
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> ChainReport:
    """Walk a ledger and report every break, the scope of the answer, and whether the bytes are as written.

    `strict` accepts no skipped rows and honours no declaration. `rows` stops after the n-th row (`sha256` is still
    that of the whole file, the rest covers only the rows read). With an `executor` the file is walked in chunks side
    by side; it must be able to open the source. Never raises for any bytes; an unreadable source is a report with
    COULD_NOT_LOOK. Raises only `CancelledError`.
    """
    return _verify(source, Rules(strict, limits), Watch(on_progress, is_cancelled), rows=rows, executor=executor)


def verify_observed(
    source: Source,
    observer: RowObserver,
    *,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> ChainReport:
    """Verify as `verify_chain` does, and let an observer see every row once, in order, on the same reading."""
    return _verify(source, Rules(strict, limits), Watch(on_progress, is_cancelled), observer=observer)


def _verify(
    source: Source,
    rules: Rules,
    watch: Watch,
    *,
    rows: int | None = None,
    executor: Executor | None = None,
    observer: RowObserver | None = None,
) -> ChainReport:
    ahead = None if executor is None or rows is not None else Ahead(executor, source, rules)
    try:
        survey = survey_bytes(source, watch, ahead.begin if ahead else None)  # 1
        declarations = Declarations()
        if survey.may_declare:
            declarations = collect_declarations(source, Stretch(0, survey.size, 1), rules, watch)  # 2
        if ahead is not None and len(survey.stretches) > 1:
            chunks = ahead.finish(survey, declarations, watch)  # 3
        else:
            whole = Stretch(0, survey.size, 1)
            chunks = [walk_stretch(source, whole, declarations, rules, rows, watch, observer)]  # 3
    except (CannotLookError, OSError, BrokenExecutor) as exc:
        return unreadable_report(source, exc, rules)
    finally:
        if ahead is not None:
            ahead.cancel()
    return build_report(source, survey, chunks, declarations, rules)  # 4


verify_ledger = verify_chain
"""The name under which `engine` exports `verify_chain`."""


def require_intact(source: Source, *, strict: bool = True, limits: Limits = DEFAULT_LIMITS) -> ChainReport:
    """Verify and return the report only when it HOLDS in full scope; raises `RefusedError` otherwise."""
    report = verify_chain(source, strict=strict, limits=limits)
    if report.result is not Result.HOLDS:
        first = report.findings[0] if report.findings else None
        place = f"{source.name}:{first.line}" if first and first.line else source.name
        reason = first.code.sentence if first else report.scope
        raise RefusedError("ledger_not_intact", f"expected an intact ledger: {reason}", where=place)
    return report


def survey_bytes(source: Source, watch: Watch, on_stretch: Callable[[Stretch], object] | None = None) -> Survey:
    """Read all bytes once; with `on_stretch` also cut them at line ends, and give each stretch away as it is found.

    A file that holds a CR is not cut: what was given away until then is not in the survey's stretches.
    """
    size = source.size()
    watch.step("reading", 0, size)
    digest = hashlib.sha256()
    cutter = _Cutter()
    may_declare, done, tail = False, 0, b""
    with source.open() as stream:
        while done < size and (data := stream.read(min(READ_BYTES, size - done))):
            digest.update(data)
            may_declare = may_declare or OPERATION_BYTES in tail + data
            tail = data[-len(OPERATION_BYTES) :]
            if on_stretch is not None and (found := cutter.take(data, done)) is not None:
                on_stretch(found)
            done += len(data)
            watch.step("reading", done, size)
    return Survey(done, digest.hexdigest(), may_declare, cutter.stretches(done))


class _Cutter:
    """Finds places to cut a file into stretches of whole lines, with the number of their first line."""

    def __init__(self) -> None:
        self.starts = [(0, 1)]
        self.newlines = 0
        self.has_cr = False

    def take(self, data: bytes, offset: int) -> Stretch | None:
        self.has_cr = self.has_cr or b"\r" in data
        count = data.count(b"\n")
        if offset + len(data) - self.starts[-1][0] >= CHUNK_BYTES and count:
            before = self.starts[-1]
            self.starts.append((offset + data.rfind(b"\n") + 1, self.newlines + count + 1))
            self.newlines += count
            return None if self.has_cr else Stretch(before[0], self.starts[-1][0], before[1])
        self.newlines += count
        return None

    def stretches(self, size: int) -> tuple[Stretch, ...]:
        # A CR may separate lines as well, and a border might split CRLF: such a file is walked in one stretch.
        starts = self.starts[:1] if self.has_cr else self.starts
        ends = [start for start, _ in starts[1:]] + [size]
        return tuple(Stretch(s, e, n) for (s, n), e in zip(starts, ends, strict=True) if e > s)


def collect_declarations(source: Source, stretch: Stretch, rules: Rules, watch: Watch = UNWATCHED) -> Declarations:
    """Read every line of a stretch that names the declaring operation."""
    declarations = Declarations()
    size = stretch.end - stretch.start

    def ask() -> None:
        watch.step("reading declarations", 0, size)

    for block in _blocks(source, stretch, rules):
        ask()
        for data in block.lines:
            if data is not None and OPERATION_BYTES in data:
                declarations.note(data, ask)
    return declarations


def _blocks(source: Source, stretch: Stretch, rules: Rules) -> Iterator[Block]:
    with source.open() as stream:
        stream.seek(stretch.start)
        size = stretch.end - stretch.start
        yield from read_blocks(stream, universal=True, max_bytes=rules.limits.line_bytes, size=size)


def walk_stretch(
    source: Source,
    stretch: Stretch,
    declarations: Declarations,
    rules: Rules,
    rows: int | None = None,
    watch: Watch = UNWATCHED,
    observer: RowObserver | None = None,
) -> Chunk:
    """Walk one run of lines; picklable arguments, so that it can run in another process."""
    size, done = stretch.end - stretch.start, 0
    walk = Walk(
        stretch.first_line,
        declarations,
        rules,
        observer,
        stretch.start,
        ask=lambda: watch.step("verifying", done, size),
    )
    for block in _blocks(source, stretch, rules):
        for part in block.parts(LINES_BETWEEN_LOOKS):
            if walk.feed(part, rows=rows):
                return walk.finish()
            done += part.size
            watch.step("verifying", done, size)
    return walk.finish()


class Ahead:
    """Walks stretches on an executor while the rest of the file is still being read.

    A declaration stands after the line it excuses, so a stretch is walked without any at first, and walked again when
    it turns out that one names a line of it.
    """

    def __init__(self, executor: Executor, source: Source, rules: Rules) -> None:
        self._executor = executor
        self._source = source
        self._rules = rules
        self._begun: dict[Stretch, Future[Chunk]] = {}

    def begin(self, stretch: Stretch, declarations: Declarations | None = None) -> Future[Chunk]:
        """Start walking a stretch."""
        future = self._executor.submit(walk_stretch, self._source, stretch, declarations or Declarations(), self._rules)
        self._begun[stretch] = future
        return future

    def finish(self, survey: Survey, declarations: Declarations, watch: Watch) -> list[Chunk]:
        """Return the chunks of all stretches in order; raises `CancelledError` and what a worker raised."""
        ends = [stretch.first_line for stretch in survey.stretches[1:]] + [None]
        futures = []
        for stretch, end in zip(survey.stretches, ends, strict=True):
            part = declarations.between(stretch.first_line, end)
            known = self._begun.get(stretch) if not part.by_line else None
            futures.append(known or self.begin(stretch, part))
        sizes = {future: s.end - s.start for future, s in zip(futures, survey.stretches, strict=True)}
        waiting, done = set(futures), 0
        while waiting:
            finished, waiting = wait(waiting, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            done += sum(sizes[future] for future in finished)
            watch.step("verifying", done, survey.size)
        return [future.result() for future in futures]

    def cancel(self) -> None:
        """Cancel what was not begun by a worker; a stretch being walked ends by itself within a second."""
        for future in self._begun.values():
            future.cancel()


def build_report(
    source: Source, survey: Survey, chunks: Sequence[Chunk], declarations: Declarations, rules: Rules
) -> ChainReport:
    """Fold chunks and file facts into the report."""
    merged = merge(chunks, declarations, rules)
    return ChainReport(
        name=source.name,
        sha256=survey.sha256,
        size=survey.size,
        strict=rules.strict,
        result=merged.result,
        scope=merged.scope,
        reference=merged.reference,
        findings=merged.findings,
        breaks_total=merged.breaks_total,
        lines=merged.lines,
        head=merged.head,
        tail=merged.tail,
        bytes_as_written=merged.bytes_as_written,
        limits=rules.limits,
    )


def unreadable_report(source: Source, exc: Exception, rules: Rules) -> ChainReport:
    """Report a source that could not be read: the reference's fields of that case, and COULD_NOT_LOOK."""
    reference = ReferenceFields(
        ok=False,
        rows=0,
        chained=0,
        prechain=0,
        first_break=f"unreadable: {exc}",
        breaks=1,
        verified_scope="full",
        declared_breaks=0,
        declared=(),
    )
    return ChainReport(
        name=source.name,
        sha256="",
        size=0,
        strict=rules.strict,
        result=Result.COULD_NOT_LOOK,
        scope="unreadable",
        reference=reference,
        findings=(Finding(codes.UNREADABLE_LEDGER, note=str(exc)),),
        breaks_total=0,
        lines=0,
        head=GENESIS,
        tail=Tail.COMPLETE,
        bytes_as_written=BytesAsWritten(None),
        limits=rules.limits,
    )

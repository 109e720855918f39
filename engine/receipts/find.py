"""Was this content dropped, and by which receipt?

The proof receipts were made for: hash what you still hold, find it in a manifest. A hit proves that a receipt claims
the drop of exactly these bytes. No hit proves nothing: the content may have been cut up differently, or never been
there. That an item was *kept* shows only where both contents are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.digests import item_digest
from engine.errors import CannotLookError
from engine.findings import Finding, IsCancelled, OnProgress, Watch, ignore_progress, never_cancelled
from engine.ledger.report import Limits
from engine.lines.reader import Line, read_lines
from engine.lines.source import Source
from engine.lines.strict import parse_exact
from engine.receipts.content import ContentError, side_sum
from engine.receipts.schema import is_receipt_row

_POLL_LINES = 256


class Reading(StrEnum):
    """How pasted content was read to get a digest."""

    AS_GIVEN = "the bytes as given"
    WITHOUT_NEWLINE = "without the newline at the end"
    WITH_NEWLINE = "with a newline at the end"
    JSON_VALUE = "as a JSON value"
    JSON_TEXT = "as the text of a JSON string"
    WHOLE_LIST = "as a whole list of items"


class Where(StrEnum):
    """Where in a receipt a digest was found."""

    DROPPED = "dropped"
    """Named in the manifest of dropped items."""
    ALL_BEFORE = "all_before"
    """It is the digest of the whole content before."""
    ALL_AFTER = "all_after"
    """It is the digest of the whole content after."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One digest to look for, and the reading that gave it."""

    digest: str
    reading: Reading
    size: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A receipt that names a probe's digest; `times` counts the copies, `position` is the first one's."""

    ledger: str
    line: int
    where: Where
    probe: Probe
    position: int = 0
    times: int = 1


@dataclass(frozen=True, slots=True)
class FindReport:
    """What was looked for, what was found, and how much was read: nothing is said about what was not read."""

    probes: tuple[Probe, ...]
    hits: tuple[Hit, ...]
    ledgers: int
    lines: int
    receipts: int
    not_read: tuple[Finding, ...]
    unreadable: tuple[CannotLookError, ...]


def probes_of(content: bytes | str) -> tuple[Probe, ...]:
    """Digest pasted or uploaded content under every recipe and reading that could be in a receipt; never raises."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    readings: list[tuple[Any, Reading]] = [(data, Reading.AS_GIVEN)]
    without = data.removesuffix(b"\n").removesuffix(b"\r")
    readings.append((without, Reading.WITHOUT_NEWLINE) if without != data else (data + b"\n", Reading.WITH_NEWLINE))
    probes = [_probe(item, reading) for item, reading in (*readings, *_json_readings(data))]
    return tuple({probe.digest: probe for probe in reversed([*_whole(data), *filter(None, probes)])}.values())[::-1]


def find_content(
    content: bytes | str,
    sources: Iterable[Source],
    *,
    limits: Limits = Limits(),  # noqa: B008 - frozen value
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> FindReport:
    """Look for content in the receipts of ledgers: in their manifests and as a whole side.

    Streams; the report says how much was read. A ledger that cannot be opened is listed, not raised. Raises
    `CancelledError`.
    """
    search = _Search(probes_of(content), limits, Watch(on_progress, is_cancelled))
    for source in sources:
        search.read(source)
    return search.report()


class _Search:
    """One search over several ledgers."""

    def __init__(self, probes: tuple[Probe, ...], limits: Limits, watch: Watch) -> None:
        self._probes = {probe.digest: probe for probe in probes}
        self._needles = [probe.digest.rsplit(":", 1)[1].encode("ascii") for probe in probes]
        self._limits = limits
        self._watch = watch
        self._hits: list[Hit] = []
        self._ledgers = self._lines = self._receipts = 0
        self._not_read: list[Finding] = []
        self._unreadable: list[CannotLookError] = []

    def read(self, source: Source) -> None:
        """Look through one ledger."""
        try:
            total = source.size()
            for line in read_lines(source, universal=True, max_bytes=self._limits.line_bytes):
                if line.number % _POLL_LINES == 1:
                    self._watch.step("finding content", line.offset, total)
                self._lines += 1
                self._look(source.name, line)
            self._watch.step("finding content", total, total)
            self._ledgers += 1
        except CannotLookError as exc:
            self._unreadable.append(exc)

    def report(self) -> FindReport:
        """Return what was found so far."""
        return FindReport(
            probes=tuple(self._probes.values()),
            hits=tuple(self._hits),
            ledgers=self._ledgers,
            lines=self._lines,
            receipts=self._receipts,
            not_read=tuple(self._not_read),
            unreadable=tuple(self._unreadable),
        )

    def _look(self, ledger: str, line: Line) -> None:
        if line.data is None or line.problem is not None:
            self._note(Finding(line.problem, line.number) if line.problem else None)
            return
        # A digest can hide from a plain search only behind JSON escapes, so lines with escapes are always parsed.
        if b"\\u" not in line.data and not any(needle in line.data for needle in self._needles):
            self._receipts += b'"arcaeon-compact:receipt:' in line.data
            return
        parsed = parse_exact(line.data.decode("utf-8", "replace").strip(), nesting=self._limits.nesting)
        if parsed.problem is not None:
            self._note(Finding(parsed.problem, line.number))
        elif is_receipt_row(parsed.value):
            self._receipts += 1
            self._hits.extend(self._hits_in(ledger, line.number, parsed.value))

    def _note(self, finding: Finding | None) -> None:
        if finding is not None and len(self._not_read) < self._limits.findings:
            self._not_read.append(finding)

    def _hits_in(self, ledger: str, line: int, row: dict[str, Any]) -> Iterator[Hit]:
        for name, where in (("pre", Where.ALL_BEFORE), ("post", Where.ALL_AFTER)):
            side = row.get(name)
            digest = side.get("digest") if isinstance(side, dict) else None
            if isinstance(digest, str) and digest in self._probes:
                yield Hit(ledger, line, where, self._probes[digest])
        dropped = row.get("dropped")
        items = dropped.get("items") if isinstance(dropped, dict) else None
        found: dict[str, list[int]] = {}
        for position, digest in enumerate(items if isinstance(items, list) else ()):
            if isinstance(digest, str) and digest in self._probes:
                found.setdefault(digest, []).append(position)
        for digest, places in found.items():
            yield Hit(ledger, line, Where.DROPPED, self._probes[digest], places[0], len(places))


def _probe(item: Any, reading: Reading) -> Probe | None:
    try:
        digested = item_digest(item)
    except (ValueError, TypeError):
        return None
    return Probe(digested.digest, reading, digested.size)


def _json_readings(data: bytes) -> Iterator[tuple[Any, Reading]]:
    parsed = parse_exact(data.decode("utf-8", "replace").strip())
    if parsed.problem is None and not parsed.duplicates:
        if isinstance(parsed.value, str):
            yield parsed.value, Reading.JSON_TEXT
        else:
            yield parsed.value, Reading.JSON_VALUE


def _whole(data: bytes) -> Iterator[Probe]:
    """Yield the digest of the content taken as a whole list of items: a JSON array, or JSON Lines."""
    text = data.decode("utf-8", "replace").strip()
    parsed = parse_exact(text)
    if isinstance(parsed.value, list) and parsed.problem is None and not parsed.duplicates:
        items = parsed.value
    else:
        rows = [parse_exact(line) for line in text.split("\n") if line.strip()]
        if any(row.problem is not None or row.duplicates for row in rows):
            return
        items = [row.value for row in rows]
    try:
        sums = side_sum(items)
    except ContentError:
        return
    yield Probe(sums.digest, Reading.WHOLE_LIST, sums.size)

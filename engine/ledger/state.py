"""Is this ledger still intact, given that most of it was walked before?

Remembers the walk of whole stretches together with a digest of their bytes. On the next visit every remembered byte
is digested again; only stretches that changed, or that a new declaration touches, and what was added are walked. The
answer is the one of a full walk. The state is as trustworthy as the place it is kept in: whoever can write it can
make it lie, so keep it where only the auditor writes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

from engine.errors import CannotLookError
from engine.findings import IsCancelled, OnProgress, Watch, ignore_progress, never_cancelled
from engine.ledger.chunk import Chunk
from engine.ledger.declared import OPERATION_BYTES, Declarations
from engine.ledger.report import ChainReport, Limits, Rules
from engine.ledger.verify import (
    DEFAULT_LIMITS,
    READ_BYTES,
    Stretch,
    Survey,
    build_report,
    collect_declarations,
    unreadable_report,
    walk_stretch,
)
from engine.lines.source import Source

VERSION = 1
STRETCH_BYTES = 16 * 1024 * 1024
SMALL_STRETCH = 1024 * 1024
"""Trailing stretches smaller than this are walked again as one, so that many small appends stay few stretches."""


class Hasher(Protocol):
    """What is needed of a digest."""

    def update(self, data: Any, /) -> Any:
        """Take more bytes."""
        ...

    def hexdigest(self) -> str:
        """Return the digest so far."""
        ...


def _blake3() -> Callable[[], Hasher] | None:
    try:
        from blake3 import blake3  # noqa: PLC0415 - an optional package
    except ImportError:
        return None
    return cast("Callable[[], Hasher]", blake3)


_BLAKE3 = _blake3()
HASHER: Callable[[], Hasher] = _BLAKE3 or hashlib.sha256
HASHER_NAME = "blake3" if _BLAKE3 else "sha256"


@dataclass(frozen=True, slots=True)
class Remembered:
    """One stretch: its place, the digest of its bytes, whether it may declare breaks, what declarations touch it."""

    start: int
    end: int
    digest: str
    may_declare: bool
    touched_by: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class VerifyState:
    """What is remembered of one ledger under one set of rules."""

    hasher: str
    strict: bool
    limits: Limits
    stretches: tuple[Remembered, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `from_json`."""
        return {
            "version": VERSION,
            "hasher": self.hasher,
            "strict": self.strict,
            "limits": [self.limits.nesting, self.limits.line_bytes, self.limits.findings],
            "stretches": [
                [r.start, r.end, r.digest, r.may_declare, r.touched_by, r.chunk.as_json()] for r in self.stretches
            ],
        }

    @classmethod
    def from_json(cls, value: Any) -> VerifyState | None:
        """Rebuild a state; anything damaged or of another version is None (then everything is walked anew)."""
        try:
            if value["version"] != VERSION:
                return None
            stretches = tuple(_remembered(*item) for item in value["stretches"])
            return cls(str(value["hasher"]), bool(value["strict"]), Limits(*value["limits"]), stretches)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError):
            return None


def _remembered(start: int, end: int, digest: str, declares: bool, touched_by: str, chunk: Any) -> Remembered:
    return Remembered(int(start), int(end), str(digest), bool(declares), str(touched_by), Chunk.from_json(chunk))


def verify_again(
    source: Source,
    state: VerifyState | None,
    *,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> tuple[ChainReport, VerifyState]:
    """Verify a ledger, walking only what is not remembered; return the report and the state for the next time.

    The report equals `verify_chain`'s except for `sha256`, which is "" (the remembered digests cover the same bytes).
    Never raises for any bytes; raises `CancelledError`.
    """
    rules, watch = Rules(strict, limits), Watch(on_progress, is_cancelled)
    try:
        size = source.size()
        places = _places(source, _known(state, rules), size, watch)
        declarations = _declarations(source, places, rules, watch)
        walked = _walk_all(source, places, declarations, rules, watch)
    except (CannotLookError, OSError) as exc:
        return unreadable_report(source, exc, rules), VerifyState(HASHER_NAME, strict, limits, ())
    survey = Survey(size, "", may_declare=False, stretches=())
    report = build_report(source, survey, [r.chunk for r in walked], declarations, rules)
    # Only whole lines are remembered: a torn tail may be completed later.
    whole = walked[:-1] if walked and walked[-1].chunk.ends_without_newline else walked
    return report, VerifyState(HASHER_NAME, strict, limits, tuple(whole))


@dataclass(frozen=True, slots=True)
class _Place:
    """A stretch as found now, and its old walk when its bytes are the same."""

    start: int
    end: int
    digest: str
    may_declare: bool
    old: Remembered | None = None


def _known(state: VerifyState | None, rules: Rules) -> list[Remembered]:
    if state is None or state.hasher != HASHER_NAME or (state.strict, state.limits) != (rules.strict, rules.limits):
        return []
    known = list(state.stretches)
    while known and known[-1].end - known[-1].start < SMALL_STRETCH:
        known.pop()
    return known


def _places(source: Source, known: list[Remembered], size: int, watch: Watch) -> list[_Place]:
    """Digest the remembered stretches as they are now, and cut the rest of the file at line ends."""
    places: list[_Place] = []
    with source.open() as stream:
        for item in known:
            if item.end > size:
                break
            digest, done, last = _digest(stream, item.start, item.end - item.start, size, watch)
            if last != b"\n":
                break  # the border is no line end any more: cut anew from here
            # Equal bytes declare what they declared; only others are searched again.
            same = digest == item.digest
            declares = item.may_declare if same else _may_declare(stream, item.start, done)
            places.append(_Place(item.start, item.start + done, digest, declares, item if same else None))
        start = places[-1].end if places else 0
        stream.seek(start)
        while start < size:
            length = _whole_lines(stream, start, size)
            stream.seek(start)
            digest, done, _ = _digest(stream, start, length, size, watch)
            places.append(_Place(start, start + done, digest, _may_declare(stream, start, done)))
            start += length
    return places


def _whole_lines(stream: BinaryIO, start: int, size: int) -> int:
    """Return the length of about one stretch that ends at a line end, or at the end of the file."""
    if start + STRETCH_BYTES >= size:
        return size - start
    stream.seek(start + STRETCH_BYTES)
    length = STRETCH_BYTES
    while data := stream.read(min(READ_BYTES, size - start - length)):
        at = data.find(b"\n")
        if at >= 0:
            return length + at + 1
        length += len(data)
    return size - start


def _digest(stream: BinaryIO, start: int, length: int, size: int, watch: Watch) -> tuple[str, int, bytes]:
    """Digest a stretch into one reused buffer; also return the bytes read and the last one."""
    digest, done, last = HASHER(), 0, b""
    buffer = memoryview(bytearray(READ_BYTES))
    while done < length and (count := stream.readinto(buffer[: min(READ_BYTES, length - done)])):  # type: ignore[attr-defined]
        digest.update(buffer[:count])
        done += count
        last = bytes(buffer[count - 1 : count])
        watch.step("reading", start + done, size)
    return digest.hexdigest(), done, last


def _may_declare(stream: BinaryIO, start: int, length: int) -> bool:
    """Tell whether a stretch holds the name of the declaring operation."""
    stream.seek(start)
    tail, done = b"", 0
    while done < length and (data := stream.read(min(READ_BYTES, length - done))):
        if OPERATION_BYTES in tail + data:
            stream.seek(start + length)
            return True
        tail = data[-len(OPERATION_BYTES) :]
        done += len(data)
    return False


def _declarations(source: Source, places: list[_Place], rules: Rules, watch: Watch) -> Declarations:
    declarations = Declarations()
    for place in places:
        if place.may_declare:
            declarations.take(collect_declarations(source, Stretch(place.start, place.end, 1), rules, watch))
    return declarations


def _walk_all(
    source: Source, places: list[_Place], declarations: Declarations, rules: Rules, watch: Watch
) -> list[Remembered]:
    """Walk what is not remembered; a remembered walk counts only at the same line and under the same declarations."""
    walked: list[Remembered] = []
    line = 1
    for place in places:
        old = place.old
        chunk = old.chunk if old is not None and old.chunk.first_line == line else None
        if chunk is not None and old is not None and _touching(declarations, chunk) != old.touched_by:
            chunk = None
        if chunk is None:
            chunk = walk_stretch(source, Stretch(place.start, place.end, line), declarations, rules, watch=watch)
        touched = _touching(declarations, chunk)
        walked.append(Remembered(place.start, place.end, place.digest, place.may_declare, touched, chunk))
        line = chunk.first_line + chunk.lines
    return walked


def _touching(declarations: Declarations, chunk: Chunk) -> str:
    """Digest the declarations that name a line of the chunk."""
    part = declarations.between(chunk.first_line, chunk.first_line + chunk.lines).by_line
    text = repr(sorted((line, d.sha256, d.why, d.resume) for line, d in part.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if part else ""

"""Which format is this transcript, and what does it say?

The explicit registry of readers and the choice by content: the file name only breaks ties. A tie that it cannot
break is put to the user, never guessed. That a reader accepts a file does not prove which tool wrote it.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Protocol

from engine.errors import CannotLookError, UsageError
from engine.findings import IsCancelled, OnProgress, ignore_progress, never_cancelled
from engine.lines.source import Source
from engine.transcripts.claude_code import CLAUDE_CODE
from engine.transcripts.cline import CLINE
from engine.transcripts.codex import CODEX
from engine.transcripts.container import unpacked
from engine.transcripts.copilot_cli import COPILOT_CLI
from engine.transcripts.gemini import GEMINI
from engine.transcripts.openai_messages import OPENAI_MESSAGES
from engine.transcripts.opencode import OPENCODE
from engine.transcripts.openhands import OPENHANDS
from engine.transcripts.options import ReadOptions, TranscriptLimits, Watch
from engine.transcripts.pi import PI
from engine.transcripts.qwen import QWEN
from engine.transcripts.rounds import Transcript
from engine.transcripts.streams import readable_head
from engine.transcripts.swe_agent import SWE_AGENT
from engine.transcripts.unsupported import unsupported_format

LIKELY = 50
"""A reader that scores less has not recognised its format."""
UNFORESEEN = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)


class Reader(Protocol):
    """One transcript format."""

    @property
    def name(self) -> str:
        """Return the stable name of the format."""
        ...

    @property
    def extensions(self) -> tuple[str, ...]:
        """Return the usual file name endings, each with its dot."""
        ...

    @property
    def describes(self) -> str:
        """Return one phrase that says whose files these are."""
        ...

    def sniff(self, head: bytes, name: str) -> int:
        """Score from 0 to 100 how surely the first 64 KiB (UTF-8, no byte order mark) are of this format."""
        ...

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read a transcript; damage inside the file is a notice, never an exception."""
        ...


READERS: tuple[Reader, ...] = (
    CLAUDE_CODE,
    CODEX,
    PI,
    OPENCODE,
    OPENHANDS,
    COPILOT_CLI,
    CLINE,
    SWE_AGENT,
    GEMINI,
    QWEN,
    OPENAI_MESSAGES,
)
"""Every reader, in the order in which they are listed to the user."""


def reader_named(name: str) -> Reader:
    """Return the reader of a format; raises `UsageError` for an unknown name."""
    for reader in READERS:
        if reader.name == name:
            return reader
    raise UsageError(
        "unknown_format",
        f"expected one of {', '.join(reader.name for reader in READERS)}, found {name!r}",
        hint="leave the format out to have it recognised",
    )


def sniff_format(source: Source) -> tuple[tuple[Reader, int], ...]:
    """Return the readers that recognise a source with their scores, best first; empty when none does."""
    head = readable_head(source)
    scored = [(reader, reader.sniff(head, source.name)) for reader in READERS]
    likely = [(reader, score) for reader, score in scored if score >= LIKELY]
    return tuple(sorted(likely, key=lambda pair: -pair[1]))


def choose_reader(source: Source) -> Reader:
    """Choose the reader for a source; raises `UsageError` when none or several fit equally."""
    found = sniff_format(source)
    if not found:
        known = unsupported_format(readable_head(source))
        if known is not None:
            raise UsageError(
                "format_not_supported",
                f"expected a transcript of a known format, found a {known.name}: {known.sentence}",
                where=source.name,
                hint=known.hint,
            )
        raise UsageError(
            "format_not_recognised",
            "expected a transcript of a known format, found none",
            where=source.name,
            hint=f"name the format: {', '.join(reader.name for reader in READERS)}",
        )
    best = [reader for reader, score in found if score == found[0][1]]
    if len(best) > 1:
        suffix = PurePath(source.name).suffix.lower()
        best = [reader for reader in best if suffix in reader.extensions] or best
    if len(best) > 1:
        names = ", ".join(reader.name for reader in best)
        raise UsageError(
            "format_ambiguous",
            f"expected one format, found {len(best)} that fit equally: {names}",
            where=source.name,
            hint=f"name the format: {names}",
        )
    return best[0]


def read_transcript(
    source: Source,
    *,
    format: str | None = None,  # noqa: A002 - the word the user knows
    limits: TranscriptLimits | None = None,
    on_progress: OnProgress = ignore_progress,
    is_cancelled: IsCancelled = never_cancelled,
) -> Transcript:
    """Read a transcript in the named format, or in the one its content shows.

    A gzip file is unpacked first. Raises `UsageError` (unknown or ambiguous format), `LimitError`, `CannotLookError`,
    `CancelledError`; damage inside the file is a notice in the transcript.
    """
    named = reader_named(format) if format is not None else None
    options = ReadOptions(limits or TranscriptLimits(), on_progress, is_cancelled)
    source = unpacked(source, options.limits.document_bytes, at=Watch(options, "unpack", 0).at)
    reader = named or choose_reader(source)
    try:
        return reader.read(source, options)
    except OSError as exc:
        raise CannotLookError("unreadable", f"cannot read: {exc.strerror or exc}", where=source.name) from exc
    except UNFORESEEN as exc:
        # A shape no reader foresaw must not take the whole sweep down; the tests call the readers without this net.
        raise CannotLookError(
            "transcript_shape_unforeseen",
            f"expected a {reader.describes}, found a shape its reader cannot hold ({type(exc).__name__})",
            where=source.name,
            hint="name another format, or report the shape of the file",
        ) from exc

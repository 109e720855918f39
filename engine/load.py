"""Which inputs are these, and may they be opened?

Walks files and folders in a fixed order, reads at most the first 64 KiB of each to tell its kind, and digests what it
keeps. Nothing is skipped in silence: a file of no known kind, an unreadable one and a folder that is too full are
each listed with the reason. The kind is a guess from content that decides which check runs; it proves nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.errors import CannotLookError, UsageError
from engine.findings import (
    CancelledError,
    Code,
    Finding,
    IsCancelled,
    OnProgress,
    Progress,
    Severity,
    ignore_progress,
    never_cancelled,
)
from engine.lines.source import FileSource, Source
from engine.transcripts.container import ENDING, is_packed, unpacked_head
from engine.transcripts.reader import LIKELY, READERS

HEAD_BYTES = 64 * 1024
BLOCK_BYTES = 1024 * 1024
MAX_FILES = 10_000
"""Files taken from one folder tree; a home folder given by mistake must not hang the program."""

SKIPPED_NAMES = frozenset({".git", "node_modules", "__pycache__", ".venv"})

UNKNOWN_KIND = Code(
    "input_of_unknown_kind",
    Severity.NOTICE,
    "this file is neither a ledger, a transcript, a content file nor a pin file that Winnow can read",
    "name the format with --format, or leave the file out",
)
UNREADABLE_INPUT = Code(
    "input_unreadable",
    Severity.LIMIT,
    "this file could not be read, so nothing is known about it",
    "check the path and the permissions",
)
TOO_MANY_FILES = Code(
    "input_too_many_files",
    Severity.LIMIT,
    "this folder holds more files than are taken at once; the rest was not looked at",
    "open a smaller folder",
)


class InputKind(StrEnum):
    """What a file is taken for."""

    LEDGER = "ledger"
    TRANSCRIPT = "transcript"
    CONTENT = "content"
    PINS = "pins"
    OTHER = "other"


READ_PACKED = frozenset({InputKind.TRANSCRIPT, InputKind.CONTENT})


@dataclass(frozen=True, slots=True)
class Input:
    """One file as found: kind, size in bytes, SHA-256 of all its bytes ("" when it could not be read)."""

    source: Source
    kind: InputKind
    size: int = 0
    sha256: str = ""
    format: str = ""
    refusal: Finding | None = None

    @property
    def name(self) -> str:
        """Return the name of the source."""
        return self.source.name


def discover(paths: Sequence[Path]) -> tuple[list[Path], list[Finding]]:
    """List the regular files below the given paths in a fixed order, and what was left out.

    Symbolic links inside folders are not followed (a link may lead out of the tree or into a loop). Raises
    `UsageError` for a path that does not exist.
    """
    files: list[Path] = []
    notices: list[Finding] = []
    for path in paths:
        if not exists(path):
            raise UsageError("no_such_path", "no such file or folder", where=str(path), hint="check the spelling")
        if not os.path.isdir(path):  # noqa: PTH112 - unlike `is_dir` false where it may not look
            files.append(path)
            continue
        for found in _walk(path, notices):
            if len(files) >= MAX_FILES:
                notices.append(Finding(TOO_MANY_FILES, claimed=str(MAX_FILES), note=str(path)))
                break
            files.append(found)
    return list(dict.fromkeys(files)), notices


def exists(path: Path) -> bool:
    """Tell whether there is something under this name, as far as one may look."""
    try:
        return path.exists()
    except OSError:
        return True  # a name in a folder that may not be entered: reading it says why


def _walk(folder: Path, notices: list[Finding]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        notices.append(Finding(UNREADABLE_INPUT, note=str(error.filename or folder)))

    for base, folders, names in os.walk(folder, onerror=unreadable, followlinks=False):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_NAMES and not f.startswith("."))
        for name in sorted(names):
            path = Path(base) / name
            if not name.startswith(".") and not name.endswith(".lock") and not path.is_symlink():
                yield path


def load_inputs(
    paths: Sequence[Path], *, on_progress: OnProgress = ignore_progress, is_cancelled: IsCancelled = never_cancelled
) -> tuple[Input, ...]:
    """Find and classify every file below the paths; unreadable ones come back with their refusal."""
    files, notices = discover(paths)
    inputs = [Input(FileSource(Path(notice.note)), InputKind.OTHER, refusal=notice) for notice in notices]
    for number, path in enumerate(files):
        on_progress(Progress("reading", number, len(files), "files"))
        inputs.append(load_input(FileSource(path), is_cancelled=is_cancelled))
    return tuple(inputs)


def load_input(source: Source, *, is_cancelled: IsCancelled = never_cancelled) -> Input:
    """Classify one source by its first 64 KiB and digest all of it; never raises for bad content."""
    try:
        size = source.size()
        with source.open() as stream:
            head = stream.read(HEAD_BYTES)
            digest = hashlib.sha256(head)
            while block := stream.read(BLOCK_BYTES):
                if is_cancelled():
                    raise CancelledError
                digest.update(block)
    except (CannotLookError, OSError) as exc:
        return Input(source, InputKind.OTHER, refusal=Finding(UNREADABLE_INPUT, note=str(exc)))
    kind, format_name = classify(head, source.name)
    refusal = Finding(UNKNOWN_KIND) if kind is InputKind.OTHER else None
    return Input(source, kind, size, digest.hexdigest(), format_name, refusal)


def classify(head: bytes, name: str) -> tuple[InputKind, str]:
    """Tell the kind from the first 64 KiB (content decides, the name only breaks ties) and the transcript format."""
    if is_packed(head):
        # Sessions and content are read from inside gzip; a ledger is verified byte for byte as it lies on disk.
        kind, format_name = classify(unpacked_head(head, HEAD_BYTES), name.removesuffix(ENDING))
        return (kind, format_name) if kind in READ_PACKED else (InputKind.OTHER, "")
    rows = list(_object_rows(head))
    if _is_pin_text(head) or (rows and all(_is_pin_row(row) for row in rows)):
        return InputKind.PINS, ""
    if any(_is_ledger_row(row) for row in rows):
        return InputKind.LEDGER, ""
    scored = sorted(((reader.sniff(head, name), reader.name) for reader in READERS), reverse=True)
    if scored and scored[0][0] >= LIKELY:
        return InputKind.TRANSCRIPT, scored[0][1]
    if rows or head.lstrip().startswith(b"["):
        return InputKind.CONTENT, ""
    if name.endswith(".jsonl"):
        return InputKind.LEDGER, ""  # empty or damaged: the chain's answer says more than "unknown file"
    return InputKind.OTHER, ""


def _object_rows(head: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects on the first lines; a line that does not parse is passed over (this is only a guess)."""
    for line in head.replace(b"\r", b"\n").split(b"\n")[:200]:
        text = line.strip()
        if text.startswith(b"{"):
            try:
                value = json.loads(text.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


def _is_pin_row(row: dict[str, Any]) -> bool:
    return "namespace" in row and "rows" in row and "chain" in row


def _is_pin_text(head: bytes) -> bool:
    return head.lstrip().startswith(b"arcaeon-ledger head ")


def _is_ledger_row(row: dict[str, Any]) -> bool:
    schema = row.get("schema")
    return ("chain" in row and not _is_pin_row(row)) or (
        isinstance(schema, str) and schema.startswith("arcaeon-compact:receipt:")
    )


def of_kind(inputs: Iterable[Input], kind: InputKind) -> tuple[Input, ...]:
    """Return the inputs of one kind in order."""
    return tuple(i for i in inputs if i.kind is kind)

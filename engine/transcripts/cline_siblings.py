"""Which files beside a Cline file belong to the same session?

The file with the same stem belongs to it; any other with the right ending belongs when both name the same session.
Links are not followed, a file that cannot be read is a notice, and only so many files are looked into. That two files
name one session does not prove that one was made from the other; the reader compares count and fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import CannotLookError
from engine.findings import Code, Severity
from engine.lines.source import FileSource, Source
from engine.transcripts.notices import Notices
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import SourceFile
from engine.transcripts.rows import read_document

MESSAGES_ENDING = ".messages.json"
SIDECAR_ENDING = ".compaction.json"
MOST_SIBLINGS = 32
"""Files looked into beside a session; a folder of thousands of sessions is not read whole."""

SIBLING_UNREADABLE = Code(
    "cline_sibling_unreadable", Severity.NOTICE, "a file beside this one could not be read and was left out"
)
SIBLINGS_MANY = Code(
    "cline_siblings_many",
    Severity.NOTICE,
    "more files lie beside this one than are looked into; a compaction may be missed",
    "put the conversation and its compaction records into a folder of their own",
)


def siblings(
    source: Source, session: str | None, ending: str, options: ReadOptions, notices: Notices
) -> list[tuple[Mapping[str, Any], SourceFile]]:
    """Return the documents beside `source` with this ending that belong to it, the one of the same stem first."""
    if not isinstance(source, FileSource):
        return []
    own = source.path.name
    same = own.removesuffix(MESSAGES_ENDING).removesuffix(SIDECAR_ENDING) + ending
    names = sorted(_names(source.path.parent, ending, notices) - {own}, key=lambda name: (name != same, name))
    if len(names) > MOST_SIBLINGS:
        notices.add(SIBLINGS_MANY, found=str(len(names)))
    found: list[tuple[Mapping[str, Any], SourceFile]] = []
    for name in names[:MOST_SIBLINGS]:
        try:
            document, file = read_document(FileSource(source.path.parent / name), options, Notices())
        except CannotLookError as exc:
            notices.add(SIBLING_UNREADABLE, field=name, found=exc.message)
            continue
        if not isinstance(document, dict):
            notices.add(SIBLING_UNREADABLE, field=name, found="no JSON object")
        elif name == same or (session is not None and document.get("sessionId") == session):
            found.append((document, file))
    return found


def _names(folder: Path, ending: str, notices: Notices) -> set[str]:
    """List the regular files of an ending; a link could lead to a file the user did not mean to open."""
    try:
        return {
            path.name
            for path in folder.iterdir()
            if path.name.endswith(ending) and path.is_file() and not path.is_symlink()
        }
    except OSError as exc:
        notices.add(SIBLING_UNREADABLE, field=str(folder), found=exc.strerror or "")
        return set()

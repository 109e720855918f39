"""Which session is this that Winnow cannot read, and why not?

Formats that are known by sight and refused by name, each with a sentence and what to do instead. A file that looks
like one of them may still be something else; refusing it loses nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Unsupported:
    """One format that is recognised and not read."""

    name: str
    sentence: str
    hint: str = "give the context before and after as a pair of files"


CURSOR = Unsupported("Cursor chat", "Cursor chats are stored with parts left out and record no compaction")
DROID = Unsupported("Droid session", "Droid sessions keep only a state of their compaction, which is not read yet")
KIMI = Unsupported("Kimi wire log", "Kimi wire logs are not read yet")
AIDER = Unsupported("aider chat history", "aider keeps its summaries in memory only; the file holds no compaction")
VSCODE = Unsupported("VS Code chat session", "VS Code chat sessions are not read yet")
AGENT_FILE = Unsupported("agent file", "agent files hold the context after compactions, and not what was before")
SHAREGPT = Unsupported("shared conversation", "shared conversations record no compaction and no model context")
DATABASE = Unsupported("SQLite database", "session databases are not read", "export the session as JSON from its tool")
ARCHIVE = Unsupported("zip archive", "archives are not opened", "unpack it and open the files inside")


def unsupported_format(head: bytes) -> Unsupported | None:
    """Name the format of the first bytes of a file, when it is one that is known and not read."""
    if head.startswith(b"SQLite format 3\x00"):
        return DATABASE
    if head.startswith(b"PK\x03\x04"):
        return ARCHIVE
    if head.lstrip().startswith(b"# aider chat started"):
        return AIDER
    first = _first_row(head)
    match first:
        case {"role": str(_), "message": dict()} if "content" not in first:
            return CURSOR
        case {"type": "session_start", "id": str(_)}:
            return DROID
        case {"type": "metadata", "protocol_version": str(_)}:
            return KIMI
        case _:
            return _by_fields(head)


def _first_row(head: bytes) -> Any:
    try:
        return json.loads(head.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return None


def _by_fields(head: bytes) -> Unsupported | None:
    if not head.lstrip().startswith((b"{", b"[")):
        return None
    if b'"requesterUsername"' in head and b'"requests"' in head:
        return VSCODE
    if b'"in_context_message_ids"' in head:
        return AGENT_FILE
    if b'"conversations"' in head and b'"from"' in head and b'"value"' in head:
        return SHAREGPT
    return None

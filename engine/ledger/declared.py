"""Which breaks does a ledger declare, and for which bytes?

A declaration stands after the line it excuses, so the whole file is searched before the walk. A declaration is a
sentence of whoever could write to the file: it bounds an answer, it never makes one green.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.lines.longline import LongValue, is_long, read_long, stripped
from engine.lines.strict import TOO_MUCH, parse_exact

OPERATION = "chain_break_declared"
OPERATION_BYTES = OPERATION.encode()
_SHA_LENGTH = 64
_NESTING = 512

MAX_DECLARATIONS = 50_000
MAX_DECLARATION_BYTES = 8 * 1024 * 1024
"""Texts kept at most; a file of nothing but declarations must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What one declaration says: the SHA-256 of the excused line, the reason, where the chain resumes."""

    sha256: str
    why: str
    resume: str


class Declarations:
    """All declarations of a file by line; the last one for a line wins, even when it pins other bytes."""

    def __init__(self) -> None:
        self.by_line: dict[int, Declaration] = {}
        self.bytes = 0
        self.over_limit = False

    def note(self, data: bytes, ask: Callable[[], None]) -> None:
        """Take one line that holds the operation's name; anything but a declaration is passed over.

        `ask` is called within long lines and may raise to stop.
        """
        if is_long(data):
            line = read_long(data, *stripped(data), nesting=_NESTING, ask=ask)
            row: Any = line.members
            long_text = any(isinstance(v, LongValue) and v.text.startswith('"') for v in row.values())
            if line.problem is TOO_MUCH or (long_text and row.get("op") == OPERATION):
                self.over_limit = True
                return
        else:
            row = parse_exact(data.decode("utf-8", "replace").strip(), nesting=_NESTING).value
        found = _declaration(row)
        if found is not None:
            self._keep(*found)

    def take(self, later: Declarations) -> None:
        """Add the declarations of a later part of the file."""
        for line, declaration in later.by_line.items():
            self._keep(line, declaration)
        self.over_limit = self.over_limit or later.over_limit

    def _keep(self, line: int, declaration: Declaration) -> None:
        size = len(declaration.why) + len(declaration.resume) + len(declaration.sha256)
        if len(self.by_line) >= MAX_DECLARATIONS or self.bytes + size > MAX_DECLARATION_BYTES:
            self.over_limit = True
            return
        self.bytes += size
        self.by_line[line] = declaration

    def pins(self, line: int, text_sha256: Callable[[], str]) -> Declaration | None:
        """Return the declaration of a line when it pins these very (decoded, stripped) bytes."""
        declaration = self.by_line.get(line)
        return declaration if declaration is not None and text_sha256() == declaration.sha256 else None

    def between(self, first: int, end: int | None) -> Declarations:
        """Return the declarations for lines from `first` up to (not including) `end`."""
        part = Declarations()
        part.by_line = {n: d for n, d in self.by_line.items() if n >= first and (end is None or n < end)}
        return part


def _declaration(row: Any) -> tuple[int, Declaration] | None:
    if not isinstance(row, dict) or row.get("op") != OPERATION or not isinstance(row.get("chain"), str):
        return None
    line, sha, why = row.get("orphan_line"), row.get("orphan_sha256"), row.get("why")
    if not isinstance(line, int) or isinstance(line, bool) or not isinstance(sha, str) or len(sha) != _SHA_LENGTH:
        return None
    if not isinstance(why, str) or not why.strip():
        return None
    resume = row.get("resume_prev")
    return line, Declaration(sha, why, resume if isinstance(resume, str) else "")

"""How does an act get onto the workspace's own record, and how is the record read back?

Every act that changes something is one row of `<workspace>/control.jsonl`, a chained ledger like any other: it opens on
the Ledgers page and verifies with the same code. A row says what this program did and who claimed to do it; it does not
prove that the person is who the name says. Whoever can write the folder can cut rows off its end unnoticed, unless a
pin of the head is kept elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.clock import format_time, parse_time
from engine.errors import CannotLookError, RefusedError
from engine.findings import Result
from engine.ledger.append import Appended, append
from engine.ledger.report import ChainReport
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from engine.lines.strict import parse_exact
from engine.storage.appending import is_own_torn_end

SCHEMA = "winnow-control/1"
FILE_NAME = "control.jsonl"
TEXT_LIMIT = 2_000
"""Characters of a name or reason; longer ones are refused, so that no row hides another."""
MEMBERS_LIMIT = 64
OBJECT_LIMIT = 65_536
"""Bytes of what an act was done to, as JSON: the record names things, it does not hold them."""


class Act(StrEnum):
    """What can be done in a workspace; every value is one kind of row."""

    KEY_INIT = "key_init"
    KEY_ROTATE = "key_rotate"
    KEY_TRUST = "key_trust"
    KEY_REVOKE = "key_revoke"
    PIN = "pin"
    UNPIN = "unpin"
    SPAN_MARK = "span_mark"
    SPAN_UNMARK = "span_unmark"
    STORE_CREATE = "store_create"
    INGEST = "ingest"
    POLICY = "policy"
    HOLD = "hold"
    HOLD_RELEASE = "hold_release"
    PLAN = "plan"
    APPROVE = "approve"
    REJECT = "reject"
    COMPACT_ATTEMPT = "compact_attempt"
    SEGMENT_SEALED = "segment_sealed"
    BATCH_SWAPPED = "batch_swapped"
    COMPACT_COMPLETED = "compact_completed"
    COMPACT_STOPPED = "compact_stopped"
    UNSEAL_ATTEMPT = "unseal_attempt"
    BATCH_UNSEALED = "batch_unsealed"
    UNSEAL_COMPLETED = "unseal_completed"
    TORN_END_CUT = "torn_end_cut"


@dataclass(frozen=True, slots=True)
class ControlRow:
    """One act as it stands on the record; texts are foreign to a screen."""

    line: int
    ts: str
    act: Act
    actor: str
    object: Mapping[str, Any]
    result: str
    reason: str
    chain: str

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "line": self.line,
            "ts": self.ts,
            "act": self.act.value,
            "actor": self.actor,
            "object": dict(self.object),
            "result": self.result,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class ControlLedger:
    """The record of one workspace folder."""

    folder: Path
    _source: FileSource = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_source", FileSource(self.path))

    @property
    def path(self) -> Path:
        """Return where the record lies."""
        return self.folder / FILE_NAME

    def record(
        self,
        act: Act,
        *,
        actor: str,
        subject: Mapping[str, Any],
        now: datetime,
        result: str = "done",
        reason: str = "",
    ) -> Appended:
        """Append one act, synced before this returns.

        A torn end of an earlier own write is cut back first and gets its own row, so that nothing vanishes silently.
        Raises `RefusedError` for texts or objects that are too long or cannot be written and `CannotLookError` for a
        folder that cannot be made, with nothing written; and what `append` raises.
        """
        _check_texts(actor=actor, result=result, reason=reason)
        _check_object(subject)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = f"cannot make the folder: {error.strerror or error}"
            raise CannotLookError("CONTROL_FOLDER", why, where=str(self.folder)) from error
        row = _row(act, actor, subject, result, reason, now)
        stored = append(self.path, row)
        if stored.cut_back:
            said = {"bytes": stored.cut_back, "before": stored.chain}
            append(
                self.path, _row(Act.TORN_END_CUT, "winnow", said, "done", "an interrupted write was taken back", now)
            )
        return stored

    def verify(self) -> ChainReport:
        """Verify the chain; a record that was never begun is COULD_NOT_LOOK."""
        return verify_chain(self._source, strict=True)

    def rows(self, acts: Iterable[Act] = ()) -> tuple[ControlRow, ...]:
        """Return the acts in order, all or of some kinds; none when the record was never begun.

        Decisions rest on them, so the chain is verified first: raises `RefusedError` (CONTROL_BROKEN) when it does not
        hold, `CannotLookError` when it cannot be read.
        """
        if not self.path.exists():
            return ()
        report = self.verify()
        if report.result is Result.FAILS or (report.result is Result.BOUNDED and not is_own_torn_end(self.path)):
            where = f"line {report.findings[0].line}" if report.findings and report.findings[0].line else ""
            hint = "open it on the Ledgers page; decisions recorded in it are not relied on"
            raise RefusedError("CONTROL_BROKEN", "the workspace's own record does not verify", where=where, hint=hint)
        if report.result is Result.COULD_NOT_LOOK and self.path.stat().st_size:
            # A first act that was torn is none; the next one cuts it back.
            if self.path.is_file() and is_own_torn_end(self.path):
                return ()
            raise CannotLookError(
                "CONTROL_UNREADABLE", "the workspace's own record cannot be read", where=str(self.path)
            )
        wanted = frozenset(acts) or frozenset(Act)
        return tuple(row for row in self._parsed() if row.act in wanted)

    def _parsed(self) -> Iterator[ControlRow]:
        with self._source.open() as lines:
            for number, line in enumerate(lines, start=1):
                row = _control_row(number, line)
                if row is not None:
                    yield row


def _row(act: Act, actor: str, subject: Mapping[str, Any], result: str, reason: str, now: datetime) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "ts": format_time(now),
        "act": act.value,
        "actor": actor,
        "object": dict(subject),
        "result": result,
        "reason": reason,
    }


def _check_texts(**texts: str) -> None:
    for name, text in texts.items():
        if len(text) > TEXT_LIMIT:
            raise RefusedError("CONTROL_TEXT_TOO_LONG", f"at most {TEXT_LIMIT} characters are taken", where=name)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise RefusedError("CONTROL_TEXT_NOT_UTF8", "the text cannot be written as UTF-8", where=name) from error


def _check_object(subject: Mapping[str, Any]) -> None:
    if len(subject) > MEMBERS_LIMIT:
        raise RefusedError("CONTROL_TOO_MUCH", f"an act has at most {MEMBERS_LIMIT} members", where="object")
    try:
        size = len(json.dumps(dict(subject)))
    except (TypeError, ValueError, RecursionError) as error:
        raise RefusedError(
            "CONTROL_NOT_JSON", f"the object cannot be written as JSON: {error}", where="object"
        ) from error
    if size > OBJECT_LIMIT:
        raise RefusedError("CONTROL_TOO_MUCH", f"an object has at most {OBJECT_LIMIT} bytes", where="object")


def _control_row(number: int, line: bytes) -> ControlRow | None:
    """Read a row that this program wrote; rows of others in the same ledger are not acts."""
    try:
        value = parse_exact(line.decode("utf-8")).value
        if not isinstance(value, dict) or value.get("schema") != SCHEMA or parse_time(value["ts"]) is None:
            return None
        texts = [value[name] for name in ("ts", "actor", "result", "reason", "chain")]
        if not all(isinstance(text, str) for text in texts) or not isinstance(value["object"], dict):
            return None
        ts, actor, result, reason, chain = texts
        return ControlRow(number, ts, Act(value["act"]), actor, value["object"], result, reason, chain)
    except (UnicodeDecodeError, KeyError, TypeError, ValueError):
        return None

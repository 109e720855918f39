"""What do the chunks say together?

Resolves what each chunk had to leave open (rows before its first chained row, the link of that row), counts as the
reference verifier counts, and folds everything into one report. The fold is the same for one chunk and for many.
It does not prove that the chunks cover the file: the caller cut them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.findings import Code, Finding, Result, Severity
from engine.ledger import codes
from engine.ledger.chunk import Chunk, Event
from engine.ledger.declared import Declarations
from engine.ledger.linefacts import SHOWN
from engine.ledger.report import GENESIS, BytesAsWritten, Limits, ReferenceFields, Rules, Tail
from engine.lines.canonical import chain_value
from engine.lines.reader import LINE_TOO_LONG
from engine.lines.strict import TOO_DEEP, TOO_MUCH, UNPARSEABLE

CODES: dict[str, Code] = {
    code.name: code
    for code in (
        *(c for c in vars(codes).values() if isinstance(c, Code)),
        LINE_TOO_LONG,
        TOO_DEEP,
        TOO_MUCH,
        UNPARSEABLE,
    )
}
_REFERENCE_TEXT = {
    codes.UNCHAINED_ROW.name: "unchained row after chain began",
    codes.CHAIN_MISMATCH.name: "chain mismatch",
    codes.PRECHAIN_REJECTED.name: "unchained (prechain) row rejected in strict mode",
    codes.NON_STRING_CHAIN.name: "non-string chain value",
    codes.NOT_AN_OBJECT.name: "not a JSON object",
    UNPARSEABLE.name: "unparseable",
}
_REFERENCE_BREAKS = {*_REFERENCE_TEXT, codes.DUPLICATE_KEY.name, codes.UNHASHABLE_ROW.name}
_OTHER_BYTES = "; a declaration exists but its orphan_sha256 does not match these bytes"


@dataclass(slots=True)
class Merged:
    """Everything a report needs besides the file's own facts."""

    reference: ReferenceFields
    result: Result
    scope: str
    findings: tuple[Finding, ...]
    breaks_total: int
    lines: int
    head: str
    tail: Tail
    bytes_as_written: BytesAsWritten


@dataclass(slots=True)
class _Fold:
    """Running state over chunks in file order."""

    strict: bool
    limits: Limits
    previous: str = GENESIS
    unknown: bool = False
    head: str = GENESIS
    rows: int = 0
    chained: int = 0
    prechain: int = 0
    breaks: int = 0
    own_breaks: int = 0
    limited: int = 0
    lines: int = 0
    declared: list[str] = field(default_factory=list)
    declared_lines: list[tuple[int, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    first_break: str | None = None
    first_prechain: int | None = None
    not_as_written: int | None = None
    unfinished: int | None = None
    no_newline: bool = False

    def take(self, chunk: Chunk) -> None:
        """Add the next chunk."""
        events = list(chunk.events)
        events += self._lead(chunk)
        events += self._first(chunk)
        events.sort(key=lambda event: event.line)  # stable: a duplicate key stands before the break of the same row
        self._note(events, chunk)
        self.declared_lines += chunk.declared
        if chunk.chained:
            self.previous = chunk.previous or ""
            self.unknown = chunk.unknown
            self.head = chunk.head or GENESIS
        else:
            self.unknown = self.unknown or chunk.unknown
        self._count(chunk)

    def _lead(self, chunk: Chunk) -> list[Event]:
        if not chunk.lead_rows:
            return []
        if self.chained:
            self.breaks += chunk.lead_breaks
            self.declared_lines += chunk.lead_declared
            if chunk.lead_declared:
                self.previous, self.unknown = chunk.lead_resume or GENESIS, False
            return chunk.lead_events
        self.prechain += chunk.lead_rows
        if self.first_prechain is None:
            lines = [e.line for e in chunk.lead_events] + [line for line, _ in chunk.lead_declared]
            self.first_prechain = min(lines, default=chunk.first_line)
        if not self.strict:
            return []
        self.breaks += chunk.lead_rows
        return [Event(event.line, codes.PRECHAIN_REJECTED.name) for event in chunk.lead_events]

    def _first(self, chunk: Chunk) -> list[Event]:
        first = chunk.first
        if first is None:
            return []
        if self.unknown:
            self.limited += 1
            return [Event(first.line, codes.AFTER_UNREAD_LINE.name)]
        expected = chain_value(self.previous, first.body.encode("latin-1"))
        if expected == first.claimed:
            return []
        if first.why is not None:
            self.declared_lines.append((first.line, first.why))
            return []
        self.breaks += 1
        return [
            Event(
                first.line,
                codes.CHAIN_MISMATCH.name,
                first.claimed,
                expected,
                declared_elsewhere=first.declared_elsewhere,
            )
        ]

    def _note(self, events: list[Event], chunk: Chunk) -> None:
        for event in events:
            if self.first_break is None and event.code in _REFERENCE_BREAKS:
                self.first_break = _reference_text(event)
            if len(self.findings) < self.limits.findings:
                self.findings.append(self._finding(event, unfinished=event.line == chunk.unfinished))

    def _finding(self, event: Event, *, unfinished: bool) -> Finding:
        code = codes.UNFINISHED_LAST_LINE if unfinished else CODES[event.code]
        note = event.note
        if event.fork_row is not None:
            row = self.rows + event.fork_row
            note = (
                f"continues from row {row}: two writers, or a copied or damaged row"
                if event.fork_row
                else "starts a second chain"
            )
        elif event.note in CODES:
            note = CODES[event.note].sentence
        if event.declared_elsewhere and code.severity is Severity.BREAK:
            note = (note + "; " if note else "") + "a declaration names this line but pins other bytes"
        return Finding(code, event.line, claimed=event.claimed[:SHOWN], found=event.found, note=note)

    def _count(self, chunk: Chunk) -> None:
        self.rows += chunk.rows
        self.chained += chunk.chained
        self.breaks += chunk.breaks
        self.own_breaks += chunk.own_breaks
        self.limited += chunk.limits
        self.lines += chunk.lines
        if self.not_as_written is None:
            self.not_as_written = chunk.not_as_written
        self.unfinished = chunk.unfinished
        self.no_newline = chunk.ends_without_newline


def merge(chunks: Iterable[Chunk], declarations: Declarations, rules: Rules) -> Merged:
    """Fold the chunks of one file, in order, into one answer."""
    strict = rules.strict
    fold = _Fold(strict=strict, limits=rules.limits)
    for chunk in chunks:
        fold.take(chunk)
    declared = [f"line {line}: declared break ({why})" for line, why in sorted(fold.declared_lines)]
    excused = 0 if strict else len(declared)
    if strict:
        declared = [
            f"line {line}: declaration present, NOT honored (strict mode) ({declaration.why})"
            for line, declaration in sorted(declarations.by_line.items())
        ]
    ok, scope = _reference_answer(fold, excused)
    reference = ReferenceFields(
        ok, fold.rows, fold.chained, fold.prechain, fold.first_break, fold.breaks, scope, excused, tuple(declared)
    )
    torn = fold.unfinished is not None
    result, our_scope = _result(fold, reference, declarations)
    return Merged(
        reference,
        result,
        our_scope,
        tuple(_with_notices(fold, declarations)),
        max(0, fold.breaks + fold.own_breaks - _torn_breaks(fold)),
        fold.lines,
        fold.head,
        Tail.UNFINISHED if torn else Tail.NO_NEWLINE if fold.no_newline else Tail.COMPLETE,
        BytesAsWritten(None if not fold.rows else fold.not_as_written is None, fold.not_as_written),
    )


def _reference_text(event: Event) -> str:
    match event.code:
        case codes.DUPLICATE_KEY.name:
            text = f"duplicate key {event.claimed!r}"
        case codes.UNHASHABLE_ROW.name:
            text = f"unhashable row ({event.note})"
        case _:
            text = _REFERENCE_TEXT[event.code]
    excusable = event.code in (codes.UNCHAINED_ROW.name, codes.CHAIN_MISMATCH.name)
    return f"line {event.line}: {text}" + (_OTHER_BYTES if excusable and event.declared_elsewhere else "")


def _reference_answer(fold: _Fold, excused: int) -> tuple[bool | None, str]:
    ok: bool | None = fold.breaks == 0
    if not fold.strict and (fold.prechain or excused):
        parts = [
            *(["prechain_skipped"] if fold.prechain else []),
            *(["declared_break"] if excused else []),
        ]
        return (None if ok else ok), "bounded_" + "+".join(parts)
    if fold.rows == 0 and ok:
        return None, "empty"
    return ok, "full"


def _torn_breaks(fold: _Fold) -> int:
    """Count the breaks that are only the unfinished last line: still being written is not tampering."""
    return sum(1 for f in fold.findings if f.code is codes.UNFINISHED_LAST_LINE) if fold.unfinished else 0


def _result(fold: _Fold, reference: ReferenceFields, declarations: Declarations) -> tuple[Result, str]:
    scope = reference.verified_scope
    if fold.unfinished is not None:
        scope += "+unfinished_last_line"
    if fold.breaks + fold.own_breaks > _torn_breaks(fold):
        return Result.FAILS, scope
    if fold.limited or (declarations.over_limit and not fold.strict):
        return Result.COULD_NOT_LOOK, scope + "+not_looked_at"
    if not fold.rows:
        return Result.COULD_NOT_LOOK, scope
    if fold.prechain and not fold.chained:
        return Result.COULD_NOT_LOOK, scope
    bounded = fold.prechain or reference.declared_breaks or fold.unfinished is not None
    return (Result.BOUNDED if bounded else Result.HOLDS), scope


def _with_notices(fold: _Fold, declarations: Declarations) -> list[Finding]:
    notices: list[Finding] = []
    if not fold.rows and not fold.findings:
        notices.append(Finding(codes.NOTHING_TO_CHECK))
    if fold.prechain and not fold.strict:
        notices.append(Finding(codes.PRECHAIN_ROWS, fold.first_prechain, found=str(fold.prechain)))
    if not fold.strict:
        room = fold.limits.findings
        notices += [Finding(codes.DECLARED_BREAK, n, note=why[:SHOWN]) for n, why in fold.declared_lines[:room]]
    if declarations.over_limit:
        notices.append(Finding(codes.DECLARATIONS_OVER_LIMIT, claimed=str(len(declarations.by_line))))
    return fold.findings + notices

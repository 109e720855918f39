"""Does each row of one stretch link to the row before it?

The link rule of the ledger format, line by line, over bytes. The walk goes on from the claimed value after a break,
so one edit is one break. Every line takes the fast road when that road proves the line canonical, else the exact one;
both give the same answer. A link that holds does not prove that no row was cut off the end, nor what a row says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, Protocol

from engine.ledger import codes
from engine.ledger.chunk import Chunk, Event, FirstRow
from engine.ledger.declared import Declaration, Declarations
from engine.ledger.linefacts import SHOWN, LineFacts, bom_hint, exact_facts, long_facts
from engine.ledger.report import GENESIS, Rules
from engine.lines import fast
from engine.lines.canonical import CHAIN_LENGTH, chain_value
from engine.lines.longline import LONG_LINE, is_long
from engine.lines.reader import LINE_TOO_LONG, Block
from engine.lines.strict import TOO_DEEP, TOO_MUCH, UNPARSEABLE, Parsed

FORK_WINDOW: Final = 2048
"""Earlier rows tried when a link fits another row than its predecessor (two writers, or a copied row)."""
FORK_TRIES: Final = 64
"""Mismatches per chunk that are tried; more than that is not a fork."""
FORK_BYTES: Final = 64 * 1024 * 1024
"""Bytes digested per chunk for those tries, so that long rows do not hold up a cancel."""
BATCH: Final = 32
"""Lines proved at once on the fast road."""
SMALLEST_BATCH: Final = 4
BATCH_BYTES: Final = 16 * 1024
"""Bytes proved at once at most: larger batches of long lines fall out of the processor's cache (measured)."""
_MEMBER: Final = len(', "chain": ""') + CHAIN_LENGTH


class RowObserver(Protocol):
    """Sees every row of a walk, so that a further check needs no second reading; it changes nothing about the walk."""

    def proved(self, line: int, offset: int, data: bytes, row: fast.Proved) -> None:
        """Take a row of the fast road, its `chain` taken out; its link holds."""
        ...

    def parsed(self, line: int, offset: int, data: bytes, parsed: Parsed) -> None:
        """Take a row of the exact road, whatever its link says."""
        ...


def _go_on() -> None:
    """Answer that nobody wants to stop."""


class Walk:
    """Walks the lines of one chunk and fills a `Chunk`; feed blocks in order, then call `finish`."""

    def __init__(
        self,
        first_line: int,
        declarations: Declarations,
        rules: Rules,
        observer: RowObserver | None = None,
        offset: int = 0,
        ask: Callable[[], None] = _go_on,
    ) -> None:
        self.chunk = Chunk(first_line)
        self.declarations = declarations
        self.limits = rules.limits
        self.strict = rules.strict
        self.line = first_line - 1
        self.observer = observer
        self.ask = ask  # called within long lines; raises to stop
        self.offset = offset  # of the line being walked
        self.previous: str | None = None  # None: not known (chunk start, or after a line that was not looked at)
        self.unknown = False
        self.recent: deque[tuple[int, str]] = deque(maxlen=FORK_WINDOW)
        self.fork_tries = 0
        self.fork_bytes = FORK_BYTES
        self.batch = BATCH
        self.next_batch = 0  # position in the block before which lines go one at a time

    def feed(self, block: Block, *, rows: int | None = None) -> bool:
        """Walk one block; return True when the `rows`-th row of the chunk was reached."""
        lines, endings = block.lines, block.endings
        position = self.next_batch = 0
        while position < len(lines):
            if endings is None and rows is None and (taken := self._fast_batch(lines, position)):
                position += taken
                continue
            data = lines[position]
            ending = b"\n" if endings is None else endings[position]
            self.line += 1
            if data is None:
                self._not_looked_at(LINE_TOO_LONG.name, str(block.lengths[position]), str(self.limits.line_bytes))
            elif not self._fast(data, ending):
                self._exact(data, ending)
            self.offset += (block.lengths[position] if data is None else len(data)) + len(ending)
            position += 1
            if rows is not None and self.chunk.rows >= rows:
                break
        if lines:
            self.chunk.ends_without_newline = endings is not None and not endings[-1]
        self.chunk.lines = self.line - self.chunk.first_line + 1
        return rows is not None and self.chunk.rows >= rows

    def finish(self) -> Chunk:
        """Return the filled chunk."""
        self.chunk.previous = self.previous
        self.chunk.unknown = self.unknown
        return self.chunk

    def _fast(self, data: bytes, ending: bytes) -> bool:
        """Take a line that is provably canonical and links as it should; everything else is the exact road's."""
        if self.previous is None or not self.chunk.chained or self.limits.nesting < fast.SERIALISER_DEPTH:
            return False
        if self.observer is None and is_long(data):
            return False
        proved = fast.prove(data)
        if proved is None:
            return False
        row = proved.row
        last_key = next(reversed(row), None)
        claimed = row.pop("chain", None)
        if not isinstance(claimed, str) or chain_value(self.previous, proved.body()) != claimed:
            return False
        if last_key != "chain" or ending != b"\n":
            self._bytes_differ()
        self.chunk.rows += 1
        self._link(claimed)
        if self.observer is not None:
            self.observer.proved(self.line, self.offset, data, proved)
        return True

    def _fast_batch(self, lines: list[bytes | None], start: int) -> int:
        """Take several lines from `start` that are provably canonical and link as they should; return how many.

        Everything else goes one line at a time. A batch that is refused is tried again smaller, so that one odd line
        costs its neighbours little; long lines gain nothing and go alone.
        """
        first = lines[start]
        if self.previous is None or not self.chunk.chained or start < self.next_batch or first is None:
            return 0
        size = min(self.batch, BATCH_BYTES // (len(first) + 1))
        if size < SMALLEST_BATCH:
            self.batch = min(BATCH, self.batch * 2)
            return 0
        batch = lines[start : start + size]
        rows = self._decode(batch)
        if rows is None:
            self.batch = max(1, size // 4)
            return self._fast_batch(lines, start)
        taken = self._link_batch(batch, rows)  # type: ignore[arg-type]  # proved: every line is bytes
        if taken == len(batch):
            self.batch = min(BATCH, self.batch * 2)
        else:
            # A line that did not link goes alone, and where one line is odd its neighbours often are.
            self.batch, self.next_batch = 1, start + taken + 1
        return taken

    def _decode(self, batch: list[bytes | None]) -> list[Any] | None:
        if None in batch or self.limits.nesting < fast.SERIALISER_DEPTH:
            return None
        if sum(map(len, batch)) > LONG_LINE:  # type: ignore[arg-type]  # no None in it
            return None
        return fast.decode_lines(batch)  # type: ignore[arg-type]  # no None in it

    def _link_batch(self, batch: list[bytes], rows: list[Any]) -> int:
        """Link the rows of a proved batch up to the first that is no row, has no chain, or does not link."""
        claims = []
        last_keys = []
        for row in rows:
            if not isinstance(row, dict) or not row:
                break
            last_key = next(reversed(row))
            claimed = row.pop("chain", None)
            if not isinstance(claimed, str) or len(claimed) != CHAIN_LENGTH or not claimed.isascii():
                break
            claims.append(claimed)
            last_keys.append(last_key)
        del rows[len(claims) :]
        # `, "chain": "…"` leaves the line with the member; a lone member leaves `{}`.
        sizes = [len(data) - _MEMBER if row else 2 for data, row in zip(batch, rows, strict=False)]
        taken = self._check_links(claims, fast.bodies_of_proved(rows, sizes))
        if self.chunk.not_as_written is None:
            foreign = next((n for n, key in enumerate(last_keys[:taken]) if key != "chain"), None)
            self.chunk.not_as_written = None if foreign is None else self.line + foreign + 1
        for data, row in zip(batch[:taken], rows[:taken], strict=True):
            self.line += 1
            if self.observer is not None:
                self.observer.proved(self.line, self.offset, data, fast.Proved(row))
            self.offset += len(data) + 1
        return taken

    def _check_links(self, claims: list[str], bodies: list[bytes]) -> int:
        """Check one link after another; return how many hold before the first that does not."""
        previous, row = self.previous or "", self.chunk.rows
        taken = 0
        for claimed, body in zip(claims, bodies, strict=True):
            if sha256(previous.encode("utf-8", "surrogatepass") + body).hexdigest()[:CHAIN_LENGTH] != claimed:
                break
            previous = claimed
            taken += 1
        if taken:
            self.recent.extend(zip(range(row + 1, row + taken + 1), claims[:taken], strict=True))
            self.chunk.rows += taken
            self.chunk.chained += taken
            self.previous = self.chunk.head = previous
        return taken

    def _exact(self, data: bytes, ending: bytes) -> None:
        nesting = self.limits.nesting
        # An observer wants the values, so it pays for them.
        long = self.observer is None and is_long(data)
        facts = long_facts(data, nesting, self.ask) if long else exact_facts(data, nesting)
        if facts is None:
            self._bytes_differ()
        else:
            self._facts(facts, data, ending)

    def _facts(self, facts: LineFacts, data: bytes, ending: bytes) -> None:
        if not facts.is_utf8:
            self.chunk.own_breaks += 1
            self._keep(Event(self.line, codes.INVALID_UTF8.name, note=bom_hint(data, self.line)))
        if facts.problem is TOO_DEEP:
            self._not_looked_at(TOO_DEEP.name, f"more than {self.limits.nesting}", str(self.limits.nesting))
            return
        if facts.problem is TOO_MUCH:
            self._not_looked_at(TOO_MUCH.name, *facts.over)
            return
        if facts.duplicate is not None:
            key, note = facts.duplicate
            # The whole key stands only in the reference's text of the first break; a key can be as long as a line.
            self._break(codes.DUPLICATE_KEY.name, claimed=key[:SHOWN] if self.chunk.breaks else key, note=note)
        if facts.constants:
            self._keep(Event(self.line, codes.NAN_VALUE.name))
        if facts.problem is not None or not facts.is_row:
            self._no_row(facts, data, ending)
            return
        self._row(facts, ending)
        if self.observer is not None and facts.parsed is not None:
            self.observer.parsed(self.line, self.offset, data, facts.parsed)

    def _no_row(self, facts: LineFacts, data: bytes, ending: bytes) -> None:
        self._bytes_differ()
        if not ending:
            self.chunk.unfinished = self.line
        if facts.problem is not None:
            self._break(UNPARSEABLE.name, note=bom_hint(data, self.line))
        else:
            self._break(codes.NOT_AN_OBJECT.name, claimed=facts.shown)

    def _row(self, facts: LineFacts, ending: bytes) -> None:
        self.chunk.rows += 1
        if ending != b"\n" or not facts.written:
            self._bytes_differ()
        claimed = facts.claimed
        if claimed is None:
            self._unchained(facts)
        elif not isinstance(claimed, str):
            self._break(codes.NON_STRING_CHAIN.name, claimed=repr(claimed)[:SHOWN])
            self._link("")
        elif facts.unhashable:
            self._break(codes.UNHASHABLE_ROW.name, note=facts.unhashable)
            self._link(claimed)
        else:
            self._check_link(claimed, facts)
            self._link(claimed)

    def _check_link(self, claimed: str, facts: LineFacts) -> None:
        if self.unknown:
            self._limit(codes.AFTER_UNREAD_LINE.name)
            return
        if not self.chunk.chained and self.chunk.first_line > 1:
            pinned = self._pinned(facts)
            self.chunk.first = FirstRow(
                self.line,
                facts.body.decode("latin-1"),
                claimed,
                pinned.why if pinned else None,
                self._declared_elsewhere(),
            )
            return
        # The chain begins in the file's first chunk: rows without a chain before it change nothing.
        previous = (self.previous or "") if self.chunk.chained else GENESIS
        expected = chain_value(previous, facts.body)
        if expected == claimed:
            return
        pinned = self._pinned(facts)
        if pinned is not None:
            self.chunk.declared.append((self.line, pinned.why))
            return
        fork = self._fork(claimed, facts.body) if self.chunk.chained else None
        self._break(codes.CHAIN_MISMATCH.name, claimed[:SHOWN], expected, fork=fork)

    def _pinned(self, facts: LineFacts) -> Declaration | None:
        return None if self.strict else self.declarations.pins(self.line, facts.text_sha256)

    def _fork(self, claimed: str, body: bytes | bytearray) -> int | None:
        """Return the earlier row (in this chunk) whose chain this row continues, or 0 for a second beginning."""
        if self.fork_tries >= FORK_TRIES:
            return None
        self.fork_tries += 1
        for row, chain in reversed(self.recent):
            self.fork_bytes -= len(body)
            if self.fork_bytes < 0:
                return None
            if chain_value(chain, body) == claimed:
                return row
        return 0 if chain_value(GENESIS, body) == claimed else None

    def _unchained(self, facts: LineFacts) -> None:
        self._bytes_differ()
        pinned = self._pinned(facts)
        if self.chunk.chained == 0:
            self._lead(pinned.why if pinned else None, pinned.resume if pinned else "")
        elif pinned is not None:
            self.chunk.declared.append((self.line, pinned.why))
            self.previous, self.unknown = pinned.resume or GENESIS, False
        else:
            self._break(codes.UNCHAINED_ROW.name)

    def _lead(self, why: str | None, resume: str) -> None:
        chunk = self.chunk
        chunk.lead_rows += 1
        if why is not None:
            chunk.lead_declared.append((self.line, why))
            chunk.lead_resume = resume or GENESIS
            return
        chunk.lead_breaks += 1
        if len(chunk.lead_events) < self.limits.findings:
            event = Event(self.line, codes.UNCHAINED_ROW.name, declared_elsewhere=self._declared_elsewhere())
            chunk.lead_events.append(event)

    def _link(self, claimed: str) -> None:
        self.chunk.chained += 1
        self.previous, self.unknown = claimed, False
        self.chunk.head = claimed
        if len(claimed) <= SHOWN:  # thousands of remembered values must not grow with what rows claim
            self.recent.append((self.chunk.rows, claimed))

    def _not_looked_at(self, code: str, found: str, limit: str) -> None:
        """Note a line past a limit: whether it was a row is not known, so the next link cannot be checked."""
        self._bytes_differ()
        self._limit(code, claimed=limit, found=found)
        self.previous, self.unknown = None, True

    def _limit(self, code: str, claimed: str = "", found: str = "") -> None:
        self.chunk.limits += 1
        self._keep(Event(self.line, code, claimed, found))

    def _break(self, code: str, claimed: str = "", found: str = "", note: str = "", fork: int | None = None) -> None:
        self.chunk.breaks += 1
        self._keep(Event(self.line, code, claimed, found, note, self._declared_elsewhere(), fork))

    def _keep(self, event: Event) -> None:
        if len(self.chunk.events) < self.limits.findings:
            self.chunk.events.append(event)

    def _declared_elsewhere(self) -> bool:
        return not self.strict and self.line in self.declarations.by_line

    def _bytes_differ(self) -> None:
        if self.chunk.not_as_written is None:
            self.chunk.not_as_written = self.line

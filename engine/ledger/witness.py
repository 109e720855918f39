"""Does a store of pins hold together, and how does a pin get into it?

Each pin carries a digest of its own content and that of the pin before it in the whole file, so an edited, removed or
moved pin is named by line. A store that was re-made as a whole, or its last pin edited with its digest, verifies: the
store is worth what separates its keeper from the writer of the ledger.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.findings import Code, Finding, Result, Severity
from engine.lines.canonical import CHAIN_LENGTH
from engine.lines.reader import read_lines
from engine.lines.source import Source
from engine.lines.strict import TOO_DEEP, parse_exact

WITNESS_GENESIS = "witness-genesis"
LINE_BYTES = 1024 * 1024
NESTING = 512
_KEPT = 4096
_SHOWN = 80
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
_BREAK = Severity.BREAK

PIN_UNPARSEABLE = Code("pin_unparseable", _BREAK, "this line of the store is not JSON")
PIN_NOT_LOOKED_AT = Code("pin_not_looked_at", _BREAK, "this line of the store is past a limit, so its pin is not known")
PIN_NOT_AN_OBJECT = Code("pin_not_an_object", _BREAK, "this line of the store is JSON but no pin")
PIN_DUPLICATE_KEY = Code("pin_duplicate_key", _BREAK, "a key stands twice in this pin, so it has no single meaning")
PIN_UNCHAINED = Code("pin_unchained", _BREAK, "a pin without a link stands after the store's chain began")
PIN_LINK = Code(
    "pin_link_mismatch", _BREAK, "this pin does not continue from the pin before it: one was changed or removed"
)
PIN_WITHOUT_DIGEST = Code("pin_without_digest", _BREAK, "this chained pin lacks the digest of its own content")
PIN_DIGEST = Code("pin_digest_mismatch", _BREAK, "this pin's content is not what its own digest says: it was edited")

# The reference's words for the first break.
_REFERENCE = {
    PIN_UNPARSEABLE: "unparseable",
    PIN_NOT_LOOKED_AT: "unparseable",
    PIN_NOT_AN_OBJECT: "not a JSON object",
    PIN_UNCHAINED: "unchained pin after the chain began",
    PIN_LINK: "pin chain mismatch",
    PIN_WITHOUT_DIGEST: "chained pin missing its self-digest",
    PIN_DIGEST: "pin content does not match its own digest",
}


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The walk over a store: the reference's fields, our result (BOUNDED with pins from before the chain), findings.

    `last_digest` is what the next pin must link to.
    """

    result: Result
    ok: bool | None
    pins: int
    chained: int
    unchained: int
    breaks: int
    first_break: str | None
    findings: tuple[Finding, ...]
    last_digest: str


@dataclass(slots=True)
class _Walk:
    previous: str = WITNESS_GENESIS
    pins: int = 0
    chained: int = 0
    unchained: int = 0
    breaks: int = 0
    own_breaks: int = 0
    first_break: str | None = None
    findings: list[Finding] = field(default_factory=list)

    def found(self, code: Code, line: int, claimed: object = "", found: object = "") -> None:
        if len(self.findings) < _KEPT:
            self.findings.append(Finding(code, line, claimed=str(claimed)[:_SHOWN], found=str(found)[:_SHOWN]))
        if code in _REFERENCE:
            self.breaks += 1
            self.first_break = self.first_break or f"line {line}: {_REFERENCE[code]}"
        else:
            self.own_breaks += 1

    def take(self, line: int, data: bytes | None) -> dict[str, Any] | None:
        """Take one line; returns the pin in it."""
        text = None if data is None else data.decode("utf-8", "replace").strip()
        if text == "":
            return None
        parsed = None if text is None else parse_exact(text, nesting=NESTING)
        if parsed is None or parsed.problem is not None:
            looked = parsed is not None and parsed.problem is not TOO_DEEP
            self.found(PIN_UNPARSEABLE if looked else PIN_NOT_LOOKED_AT, line)
            return None
        if not isinstance(parsed.value, dict):
            self.found(PIN_NOT_AN_OBJECT, line)
            return None
        if parsed.duplicates:
            self.found(PIN_DUPLICATE_KEY, line, parsed.duplicates[0])
        self.pins += 1
        self._link(line, parsed.value)
        return parsed.value

    def _link(self, line: int, pin: dict[str, Any]) -> None:
        claimed, content = pin.get("prev"), content_digest(pin)
        if claimed is None:
            if self.chained:
                self.found(PIN_UNCHAINED, line)
            else:
                self.unchained += 1
            self.previous = content
            return
        if claimed != self.previous:
            self.found(PIN_LINK, line, claimed, self.previous)
        own = pin.get("self")
        if own is None:
            self.found(PIN_WITHOUT_DIGEST, line)
        elif own != content:
            self.found(PIN_DIGEST, line, own, content)
        self.previous = content
        self.chained += 1

    def report(self) -> StoreReport:
        ok: bool | None = self.breaks == 0
        if ok and (self.unchained or not self.pins):
            ok = None
        result = Result.HOLDS if ok else Result.FAILS if ok is False else Result.BOUNDED
        if self.own_breaks:
            result = Result.FAILS
        elif ok is None and not self.pins:
            result = Result.COULD_NOT_LOOK
        return StoreReport(
            result,
            ok,
            self.pins,
            self.chained,
            self.unchained,
            self.breaks,
            self.first_break,
            tuple(self.findings),
            self.previous,
        )


def content_digest(pin: Mapping[str, Any]) -> str:
    """Return the digest of a pin's content, without its two links (`prev`, `self`)."""
    body = {key: value for key, value in pin.items() if key not in ("prev", "self")}
    data = _ENCODER.encode(body).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:CHAIN_LENGTH]


def walk_store(source: Source, take: Callable[[int, dict[str, Any]], None] | None = None) -> StoreReport:
    """Recompute the chain of a store, and hand every pin with its line to `take`.

    Raises `CannotLookError` or `OSError` when the store cannot be read; any bytes give a report.
    """
    walk = _Walk()
    for line in read_lines(source, universal=True, max_bytes=LINE_BYTES):
        pin = walk.take(line.number, line.data)
        if pin is not None and take is not None:
            take(line.number, pin)
    return walk.report()


def pin_line(pin: Mapping[str, Any], previous: str) -> bytes:
    """Return the line of a pin that follows the pin with digest `previous`, in the bytes of the format's own writer."""
    linked = {**pin, "prev": previous}
    return (json.dumps({**linked, "self": content_digest(pin)}) + "\n").encode("ascii")

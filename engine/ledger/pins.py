"""Which heads were pinned, and in which file?

A pin says: after so many rows, the chain value was this. It is worth what separates its keeper from the writer of the
ledger. Three kinds of files are read: witness stores (JSON Lines, chained among themselves), hosted pins (one JSON
object a file) and the text lines that the format's tools print. Reading never skips: a line that is no pin is named.
A pin that was read well may still have been made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.clock import Clock, format_time, utc_now
from engine.errors import CannotLookError, RefusedError
from engine.findings import Code, Finding, Result, Severity
from engine.ledger.report import ChainReport
from engine.ledger.witness import StoreReport, walk_store
from engine.lines.canonical import CHAIN_LENGTH
from engine.lines.reader import read_lines
from engine.lines.source import Source
from engine.lines.strict import parse_exact

HOSTED_BYTES = 1024 * 1024
"""A hosted pin is a few hundred bytes; a larger file is read line by line."""
MAX_PINS = 100_000
_NESTING = 64
_LINE_BYTES = 64 * 1024
_SHOWN = 80
_TEXT = re.compile(r"arcaeon-ledger head chain=(\S+) rows=(\S+) as_of=(\S+)", re.ASCII)
_HEX = re.compile(rf"[0-9a-f]{{{CHAIN_LENGTH}}}", re.ASCII | re.IGNORECASE)

NOT_A_PIN = Code(
    "pin_line_not_read",
    Severity.NOTICE,
    "this line of the pin file is no pin",
    "compare the pin file with its keeper's copy",
)
UNREADABLE_PINS = Code("pins_unreadable", Severity.LIMIT, "the pin file could not be read, so nothing is known of it")
TOO_MANY_PINS = Code("pins_over_limit", Severity.LIMIT, "the file holds more pins than are kept; the rest was not used")


class PinFormat(StrEnum):
    """Where a pin stood."""

    WITNESS_STORE = "witness store"
    HOSTED = "hosted pin"
    TEXT = "pin text"
    UNKNOWN = "no pin file"


class Integrity(StrEnum):
    """Whether the file that holds a pin vouches for itself."""

    VERIFIED = "verified"
    """Every pin of the store is chained and recomputed; a store re-made as a whole would be, too."""
    UNESTABLISHED = "unestablished"
    """The file has no chain of its own, or not for every pin."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Pin:
    """One pinned head as claimed. `rows` and `chain` are None when the claim is no usable value; `why` says so.

    `chain` is lower case. `line` is the line in the pin file, `made_at` the publisher's time, `received_at` the
    keeper's; both are claims.
    """

    namespace: str
    rows: int | None
    chain: str | None
    made_at: str = ""
    received_at: str = ""
    line: int | None = None
    why: str = ""

    @property
    def is_usable(self) -> bool:
        """Tell whether the pin constrains anything: a whole number of rows from 1 on, and a chain value."""
        return self.rows is not None and self.chain is not None


@dataclass(frozen=True, slots=True)
class PinFile:
    """What a pin file holds: pins in file order, what was not read, and whether the file vouches for itself."""

    name: str
    format: PinFormat
    pins: tuple[Pin, ...]
    integrity: Integrity
    findings: tuple[Finding, ...]
    store: StoreReport | None = None
    is_readable: bool = True

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces in order of meeting."""
        return tuple(dict.fromkeys(pin.namespace for pin in self.pins))


def read_pin_file(source: Source) -> PinFile:
    """Read a file of pins of any of the three kinds; never raises, whatever its bytes."""
    try:
        return _read(source)
    except (CannotLookError, OSError) as exc:
        finding = Finding(UNREADABLE_PINS, note=str(exc))
        return PinFile(source.name, PinFormat.UNKNOWN, (), Integrity.UNESTABLISHED, (finding,), is_readable=False)


def _read(source: Source) -> PinFile:
    hosted = _hosted(source)
    if hosted is not None:
        pin = _pin(hosted, hosted.get("pinned_at"), None)
        return PinFile(source.name, PinFormat.HOSTED, (pin,), Integrity.UNESTABLISHED, ())
    texts, others, rest = _texts(source)
    if texts:
        return PinFile(source.name, PinFormat.TEXT, tuple(texts), Integrity.UNESTABLISHED, tuple(others))
    if not rest:
        return PinFile(source.name, PinFormat.UNKNOWN, (), Integrity.UNESTABLISHED, tuple(others))
    pins: list[Pin] = []
    report = walk_store(source, lambda line, row: pins.append(_pin(row, row.get("as_of"), line)))
    findings = report.findings
    if len(pins) > MAX_PINS:
        findings = (*findings, Finding(TOO_MANY_PINS, claimed=str(MAX_PINS), found=str(len(pins))))
    return PinFile(
        source.name, PinFormat.WITNESS_STORE, tuple(pins[-MAX_PINS:]), _integrity(report), findings, store=report
    )


def _integrity(report: StoreReport) -> Integrity:
    if report.result is Result.FAILS:
        return Integrity.BROKEN
    return Integrity.VERIFIED if report.result is Result.HOLDS else Integrity.UNESTABLISHED


def _hosted(source: Source) -> dict[str, Any] | None:
    """Return the one object of a hosted pin file; a store's pin is told by its `as_of`, `prev` or `self`."""
    if source.size() > HOSTED_BYTES:
        return None
    with source.open() as stream:
        text = stream.read(HOSTED_BYTES + 1).decode("utf-8", "replace").strip()
    parsed = parse_exact(text, nesting=_NESTING)
    value = parsed.value
    if not isinstance(value, dict) or parsed.duplicates or {"as_of", "prev", "self"} & value.keys():
        return None
    return value if {"rows", "chain"} <= value.keys() else None


def _texts(source: Source) -> tuple[list[Pin], list[Finding], bool]:
    """Return pins written as text, the lines that are none, and whether any line looks like an object."""
    pins: list[Pin] = []
    others: list[Finding] = []
    objects = False
    for line in read_lines(source, universal=True, max_bytes=_LINE_BYTES):
        text = "" if line.data is None else line.data.decode("utf-8", "replace").strip()
        if match := _TEXT.fullmatch(text):
            rows = (
                int(match.group(2)) if match.group(2).isdecimal() and len(match.group(2)) < _SHOWN else match.group(2)
            )
            row = {"namespace": "", "rows": rows, "chain": match.group(1)}
            pins.append(_pin(row, match.group(3), line.number))
        elif text or line.data is None:
            objects = objects or text.startswith("{")
            if len(others) < MAX_PINS:
                others.append(Finding(NOT_A_PIN, line.number, found=text[:_SHOWN]))
        if len(pins) > MAX_PINS:
            others.append(Finding(TOO_MANY_PINS, line.number, claimed=str(MAX_PINS)))
            break
    return pins[:MAX_PINS], others, objects


def _pin(row: dict[str, Any], made_at: object, line: int | None) -> Pin:
    rows, chain, namespace = row.get("rows"), row.get("chain"), row.get("namespace")
    why = _unusable(rows, chain)
    return Pin(
        namespace=namespace if isinstance(namespace, str) else "",
        rows=rows if not why and isinstance(rows, int) else None,
        chain=chain.lower() if not why and isinstance(chain, str) else None,
        made_at=made_at if isinstance(made_at, str) else "",
        received_at=str(row["received_at"]) if isinstance(row.get("received_at"), str) else "",
        line=line,
        why=why,
    )


def _unusable(rows: object, chain: object) -> str:
    if not isinstance(rows, int) or isinstance(rows, bool):
        return f"rows is {type(rows).__name__}, not a whole number"
    if rows < 1:
        return "the pin was taken over no rows, so it constrains nothing"
    if not isinstance(chain, str) or not _HEX.fullmatch(chain):
        return f"its chain value is not one of this format ({CHAIN_LENGTH} hex digits)"
    return ""


def make_pin(report: ChainReport, *, namespace: str = "", clock: Clock = utc_now) -> Pin:
    """Make a pin of a ledger's last row, as a walk saw it.

    Raises `RefusedError` when the walk found a break, when there is no chained row, and when the last row might be one
    without a chain, and `CannotLookError` when the walk could not look everywhere: such a pin would put a name to what
    was not checked.
    """
    if report.result is Result.COULD_NOT_LOOK:
        why = next((f.note or f.code.sentence for f in report.findings), f"scope {report.scope}")
        raise CannotLookError(
            "pin_of_unseen",
            f"expected a ledger that can be looked at to its end, found {report.result} ({why}); no pin was made",
            where=report.name,
            hint="winnow verify says what was not looked at",
        )
    if report.result is Result.FAILS:
        raise _refused(report, "pin_of_unverified", f"expected a ledger that verifies, found {report.result}")
    counts = report.reference
    if not _HEX.fullmatch(report.head) or counts.rows != counts.prechain + counts.chained:
        raise _refused(report, "pin_of_unchained", "rows without a chain value stand behind the beginning of the chain")
    return Pin(namespace, counts.rows, report.head, format_time(clock()))


def pin_text(pin: Pin) -> str:
    """Write a pin as the line the format's own tools print; raises `RefusedError` for a pin that is not usable."""
    if not pin.is_usable:
        raise RefusedError("pin_not_usable", pin.why)
    return f"arcaeon-ledger head chain={pin.chain} rows={pin.rows} as_of={pin.made_at or 'unknown'}"


def _refused(report: ChainReport, code: str, message: str) -> RefusedError:
    return RefusedError(
        code,
        f"{message}; no pin was made",
        where=report.name,
        hint="a pin cannot be taken back: verify the ledger first",
    )

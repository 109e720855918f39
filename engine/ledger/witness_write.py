"""How does a pin get into a store of our own?

Locked, synced, and only forward: a store never takes fewer rows than it has for a namespace, nor another chain value
for the same rows, and never anything once it is broken. A store on the machine that writes the ledger is for trying
things out: it protects against nothing that can write to both.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from engine.clock import Clock, format_time, parse_time, utc_now
from engine.errors import RefusedError
from engine.findings import Result
from engine.ledger.pins import Pin, make_pin
from engine.ledger.report import ChainReport
from engine.ledger.witness import pin_line, walk_store
from engine.storage.appending import append_bytes
from engine.storage.files import DEFAULT_LOCK_SECONDS, read_range

CLOCK_TOLERANCE_SECONDS = 300
"""How far a pin's own time may run ahead of the keeper's clock, as in the format's own store."""

_IS_PIN = frozenset({"namespace", "rows", "chain"})
"""What a row must have to be a pin: a ledger or another file given by mistake is never written to."""


@dataclass(frozen=True, slots=True)
class _OpenStore:
    """The store as it is under the lock."""

    name: str
    data: bytes

    def size(self) -> int:
        return len(self.data)

    def open(self) -> BinaryIO:
        return io.BytesIO(self.data)


def record_pin(
    store: Path, pin: Pin, *, received_at: str | None = None, lock_seconds: float = DEFAULT_LOCK_SECONDS
) -> dict[str, Any]:
    """Add a pin to a witness store and return it as written.

    Give `received_at` when the store keeps its own clock. Raises `RefusedError` for a pin that is not usable, goes
    back, contradicts an earlier one or comes from the future, for a store that is broken and a file that is none;
    `BusyError`, `CannotLookError`, `NotStoredError` and `OutcomeUnknownError` as `engine.storage.appending`.
    """
    if not pin.is_usable or not pin.namespace:
        raise _refused("pin_not_usable", pin.why or "expected a namespace, found none", store)
    _refuse_future(store, pin, received_at)
    content: dict[str, Any] = {
        "namespace": pin.namespace,
        "rows": pin.rows,
        "chain": pin.chain,
        "as_of": pin.made_at,
        "received_at": received_at,
    }
    written = b""

    def compose(descriptor: int, size: int) -> bytes:
        nonlocal written
        data = read_range(descriptor, 0, size)
        written = pin_line(content, _last_digest(store, data, pin))
        return written if not data or data.endswith(b"\n") else b"\n" + written

    append_bytes(store, compose, lock_seconds)
    return {**content, "prev": _field(written, "prev"), "self": _field(written, "self")}


def publish_head(
    store: Path,
    namespace: str,
    report: ChainReport,
    *,
    received_at: str | None = None,
    clock: Clock = utc_now,
    lock_seconds: float = DEFAULT_LOCK_SECONDS,
) -> dict[str, Any]:
    """Pin the head that a walk saw into a store; raises as `make_pin` and `record_pin`."""
    pin = make_pin(report, namespace=namespace, clock=clock)
    return record_pin(store, pin, received_at=received_at, lock_seconds=lock_seconds)


def keeper_time(clock: Clock = utc_now) -> str:
    """Return the present time as a keeper writes it into `received_at`."""
    return format_time(clock())


def _last_digest(store: Path, data: bytes, pin: Pin) -> str:
    earlier: list[tuple[int, dict[str, Any]]] = []
    report = walk_store(_OpenStore(str(store), data), lambda line, row: earlier.append((line, row)))
    if report.result is Result.FAILS:
        raise _refused("store_broken", f"the store does not hold together ({report.first_break})", store)
    if data.strip() and not earlier:
        raise _refused("not_a_store", "expected a store of pins, found a file without any", store)
    for line, row in earlier:
        if not row.keys() >= _IS_PIN:
            raise _refused("not_a_store", f"expected a store of pins, found another row at line {line}", store)
        rows, chain = row.get("rows"), row.get("chain")
        if row.get("namespace") != pin.namespace or not isinstance(rows, int) or isinstance(rows, bool):
            continue
        if pin.rows is not None and rows > pin.rows:
            raise _refused("pin_goes_back", f"the store has {rows} rows for this name, the pin {pin.rows}", store)
        if rows == pin.rows and str(chain).lower() != pin.chain:
            raise _refused("pin_contradicts", f"the store has another chain value for {rows} rows", store)
    return report.last_digest


def _refuse_future(store: Path, pin: Pin, received_at: str | None) -> None:
    if received_at is None:
        return
    received, made = parse_time(received_at), parse_time(pin.made_at)
    if received is None or made is None:
        raise _refused("pin_time_unreadable", "expected two times that can be compared", store)
    ahead = (made - received).total_seconds()
    if ahead > CLOCK_TOLERANCE_SECONDS:
        raise _refused("pin_from_the_future", f"the pin's time is {ahead:.0f} s ahead of the store's clock", store)


def _field(line: bytes, name: str) -> str:
    start = line.rindex(b'"%s": "' % name.encode()) + len(name) + len('"": "')
    return line[start : line.index(b'"', start)].decode("ascii")


def _refused(code: str, message: str, store: Path) -> RefusedError:
    return RefusedError(code, f"{message}; nothing was recorded", where=str(store))

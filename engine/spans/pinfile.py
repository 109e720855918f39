"""How are pins set by hand kept, and what may stand in a file of pins?

JSON Lines, one act a line: `{"pin": TEXT}` holds a text, `{"unpin": ID}` leaves one out; the last word on an id counts.
A line may also be a bare JSON string, which is a text to pin, and a file may be one JSON array of such strings. The
file is replaced whole under a lock, with bytes that this module reads back. It is a working list: nothing in it proves
when a span was pinned (the workspace's record does).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import CannotLookError, LimitError, RefusedError
from engine.lines.strict import parse_exact
from engine.spans.snapshot import BYTE_LIMIT, SPAN_LIMIT, Pin, check_limits, pin
from engine.storage.files import LOCK_SUFFIX, FileLock, atomic_write

_OVERHEAD = 4 * 1024 * 1024
_SHOWN = 60
_ID = re.compile(r"pin-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class HeldPins:
    """The pins held by hand, in order, and the ids of those left out."""

    pins: tuple[Pin, ...] = ()
    unpinned: tuple[str, ...] = ()

    def find(self, pin_id: str) -> Pin | None:
        """Return a held pin."""
        return next((each for each in self.pins if each.id == pin_id), None)


def read_pins(data: bytes, name: str) -> HeldPins:
    """Read a file of pins.

    Raises `RefusedError` with the line and field of what is no pin, `LimitError` past 5,000 pins, 5,000 ids left out or
    2,000,000 bytes of text.
    """
    if len(data) > BYTE_LIMIT + _OVERHEAD:
        raise LimitError("PINS_TOO_LONG", f"a file of pins has at most {BYTE_LIMIT} bytes of text", where=name)
    pins: dict[str, Pin] = {}
    left_out: dict[str, None] = {}
    for where, text, gone in _array(data, name) if data.lstrip().startswith(b"[") else _lines(data, name):
        if gone:
            pins.pop(gone, None)
            left_out[gone] = None
        else:
            made = _pinned(text, where)
            left_out.pop(made.id, None)
            pins[made.id] = made
        if max(len(pins), len(left_out)) > SPAN_LIMIT:
            raise LimitError("TOO_MANY_SPANS", f"at most {SPAN_LIMIT} pins are taken, or left out", where=where)
    check_limits([each.text for each in pins.values()])
    return HeldPins(tuple(pins.values()), tuple(left_out))


def _lines(data: bytes, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield for each line that is not blank its place, and the text to pin or the id to leave out."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            where = f"{name} line {number}"
            yield where, *_act(line, where)


def _array(data: bytes, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield for each text of a JSON array its place, the text, and no id."""
    for number, text in enumerate(_parsed(data, name)):
        where = f"{name} [{number}]"
        if not isinstance(text, str):
            raise _no_pin(where, "expected a text")
        yield where, text, ""


def _act(line: bytes, where: str) -> tuple[str, str]:
    """Return the text to pin, or the id to leave out."""
    value = _parsed(line, where)
    match value:
        case str(text):
            return text, ""
        case {"pin": str(text), **rest} if not rest:
            return text, ""
        case {"unpin": str(gone), **rest} if not rest:
            return "", _checked_id(gone, where)
        case dict():
            other = next((str(key) for key in value if key not in {"pin", "unpin"}), None)
            raise _no_pin(where, f"unknown field {other[:_SHOWN]!r}" if other else "expected a text in pin or unpin")
        case _:
            raise _no_pin(where, "expected a JSON string or an object with pin or unpin")


def _parsed(data: bytes, where: str) -> Any:
    try:
        parsed = parse_exact(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _no_pin(where, "it is not UTF-8") from error
    if parsed.problem is not None or parsed.duplicates:
        raise _no_pin(where, "it is not one JSON value without repeated names")
    return parsed.value


def _checked_id(pin_id: str, where: str) -> str:
    """Return the id of a pin; anything else would be written and then be refused, or match nothing unnoticed."""
    if _ID.fullmatch(pin_id) is None:
        raise RefusedError(
            "NOT_A_PIN_ID", "expected pin- and 16 hex digits", where=where, hint="winnow spans audit --json lists ids"
        )
    return pin_id


def _pinned(text: str, where: str) -> Pin:
    try:
        return pin(text)
    except RefusedError as error:
        raise RefusedError(error.code, error.message, where=where, hint=error.hint) from error


def _no_pin(where: str, why: str) -> RefusedError:
    return RefusedError("NOT_A_PIN", why, where=where, hint='write {"pin": "the text"}, one a line')


@dataclass(frozen=True, slots=True)
class PinStore:
    """The pins of one workspace, kept in one file."""

    path: Path

    def load(self) -> HeldPins:
        """Return what is held; nothing when the file was never written. Raises as `read_pins`, or `CannotLookError`."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return HeldPins()
        except OSError as error:
            raise CannotLookError("PINS_UNREADABLE", error.strerror or str(error), where=str(self.path)) from error
        return read_pins(data, self.path.name)

    def hold(self, texts: Iterable[str]) -> tuple[Pin, ...]:
        """Pin texts by hand and return their pins, all or none; one that is held stays as it is."""
        made = tuple(pin(text) for text in texts)
        self._change(
            lambda held: HeldPins(_joined(held.pins, made), _without(held.unpinned, {each.id for each in made}))
        )
        return made

    def leave_out(self, pin_ids: Iterable[str]) -> None:
        """Leave pins out of every audit of this workspace, also those that a session proposes.

        Raises `RefusedError` (NOT_A_PIN_ID) for what is no id of a pin; then none is left out.
        """
        gone = tuple(dict.fromkeys(_checked_id(each, "unpin") for each in pin_ids))
        self._change(
            lambda held: HeldPins(
                tuple(each for each in held.pins if each.id not in gone), (*_without(held.unpinned, set(gone)), *gone)
            )
        )

    def take_back(self, pin_id: str) -> None:
        """Let a pin that was left out be proposed again."""
        self._change(lambda held: HeldPins(held.pins, _without(held.unpinned, {pin_id})))

    def _change(self, change: Callable[[HeldPins], HeldPins]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = f"cannot make the folder: {error.strerror or error}"
            raise CannotLookError("PINS_FOLDER", why, where=str(self.path.parent)) from error
        with FileLock(self.path.with_name(self.path.name + LOCK_SUFFIX)):
            after = change(self.load())
            acts: list[dict[str, str]] = [{"unpin": each} for each in after.unpinned]
            acts += [{"pin": each.text} for each in after.pins]
            data = "".join(json.dumps(act, ensure_ascii=False) + "\n" for act in acts).encode("utf-8")
            # What could not be read back would lock its owner out of every pin: it is refused before it is written.
            read_pins(data, self.path.name)
            atomic_write(self.path, data)


def _joined(held: tuple[Pin, ...], made: tuple[Pin, ...]) -> tuple[Pin, ...]:
    return tuple({each.id: each for each in (*held, *made)}.values())


def _without(ids: tuple[str, ...], gone: set[str]) -> tuple[str, ...]:
    return tuple(each for each in ids if each not in gone)

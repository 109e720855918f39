"""Pins set by hand, kept in a file."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from engine.errors import CannotLookError, LimitError, RefusedError
from engine.spans.classify import SpanClass
from engine.spans.pinfile import HeldPins, PinStore, read_pins
from engine.spans.snapshot import SPAN_LIMIT, pin
from engine.storage.failpoints import listening
from engine.storage.outcome import NotStoredError
from tests.support.faults import FailAt

RULE = "Safety: never deploy without approval."


def test_pins_come_back_in_order(tmp_path: Path) -> None:
    """Held, left out, taken back: the file says what the store says."""
    store = PinStore(tmp_path / "new" / "pins.jsonl")
    assert store.load() == HeldPins()
    first, second = store.hold([RULE, "The host is db-3."])
    assert (first.cls, second.cls) == (SpanClass.INVARIANT, SpanClass.FACT)
    assert store.load().pins == (first, second)
    store.hold([RULE])
    store.leave_out([second.id, "pin-0000000000000000"])
    assert store.load() == HeldPins((first,), (second.id, "pin-0000000000000000"))
    assert store.load().find(first.id) == first
    store.hold(["The host is db-3."])
    store.take_back("pin-0000000000000000")
    assert store.load() == HeldPins((first, second), ())


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (b"text", "NOT_A_PIN", "one JSON value"),
        (b'{"pin": 7}', "NOT_A_PIN", "expected a text"),
        (b'{"pin": "x", "more": 1}', "NOT_A_PIN", "'more'"),
        (b'{"pin": "x", "pin": "y"}', "NOT_A_PIN", "repeated names"),
        (b"[1]", "NOT_A_PIN", "JSON string"),
        (b'{"unpin": ""}', "NOT_A_PIN_ID", "16 hex digits"),
        (b'{"unpin": "pin-zz"}', "NOT_A_PIN_ID", "16 hex digits"),
        (b'{"unpin": "\\ud800"}', "NOT_A_PIN_ID", "16 hex digits"),
        (b'{"unpin": 7}', "NOT_A_PIN", "expected a text"),
        (b'{"pin": "x", "unpin": "y"}', "NOT_A_PIN", "expected a text"),
        (b"\xff\xfe", "NOT_A_PIN", "UTF-8"),
        (b'"---"', "UNPINNABLE", "no word"),
        (b'""', "UNPINNABLE", "no word"),
        (b'"\\ud800 x"', "SPAN_NOT_UTF8", "UTF-8"),
        (b'{"pin": NaN}', "NOT_A_PIN", ""),
        (b"[" * 10_000, "NOT_A_PIN", ""),
    ],
)
def test_a_line_that_is_no_pin_is_refused_with_its_place(line: bytes, code: str, told: str) -> None:
    """The line's number stands in the refusal."""
    with pytest.raises(RefusedError) as seen:
        read_pins(b'"fine words"\n\n' + line + b"\n", "pins.jsonl")
    assert (seen.value.code, seen.value.where) == (code, "pins.jsonl line 3")
    assert told in seen.value.message


def test_limits_are_those_of_a_snapshot() -> None:
    """5,000 pins are taken, one more is not; nor are 2,000,001 bytes."""
    lines = b"".join(b'"Rule: item %d"\n' % number for number in range(SPAN_LIMIT))
    assert len(read_pins(lines, "p").pins) == SPAN_LIMIT
    with pytest.raises(LimitError) as many:
        read_pins(lines + b'"one more"\n', "p")
    assert (many.value.code, many.value.where) == ("TOO_MANY_SPANS", "p line 5001")
    with pytest.raises(LimitError) as long:
        read_pins(b'"' + b"x" * 2_000_001 + b'"\n', "p")
    assert long.value.code in {"SPANS_TOO_LONG", "PINS_TOO_LONG"}
    with pytest.raises(LimitError):
        read_pins(b" " * 7_000_000, "p")


def test_an_array_of_texts_is_a_file_of_pins() -> None:
    """Every text is pinned, whatever its class; what is no text is refused with its place."""
    held = read_pins(b' [\n"Safety: never deploy without approval.",\n"The host is db-3."]\n', "p")
    assert [(each.text, each.cls) for each in held.pins] == [
        (RULE, SpanClass.INVARIANT),
        ("The host is db-3.", SpanClass.FACT),
    ]
    assert read_pins(b"[]", "p") == HeldPins()
    for data, code, where in (
        (b'["fine words", 7]', "NOT_A_PIN", "p [1]"),
        (b'["fine words", "---"]', "UNPINNABLE", "p [1]"),
        (b'["a"]\n["b"]', "NOT_A_PIN", "p"),
        (b"[" * 100_000, "NOT_A_PIN", "p"),
        (b"[\xff]", "NOT_A_PIN", "p"),
    ):
        with pytest.raises(RefusedError) as seen:
            read_pins(data, "p")
        assert (seen.value.code, seen.value.where) == (code, where)


@pytest.mark.parametrize(
    "gone", ["", "pin-", "x" * 7_000_000, "\ud800", "pin-0000000000000000\n", "PIN-0000000000000000"]
)
def test_what_is_no_id_is_not_left_out(tmp_path: Path, gone: str) -> None:
    """It would be written and then be refused at every reading, so that no pin could be read again."""
    store = PinStore(tmp_path / "pins.jsonl")
    store.hold([RULE])
    before = store.path.read_bytes()
    with pytest.raises(RefusedError) as seen:
        store.leave_out(["pin-0000000000000000", gone])
    assert (seen.value.code, store.path.read_bytes()) == ("NOT_A_PIN_ID", before)


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    """Text that JSON spells six times as long, and more ids than are read: refused, and the pins stay readable."""
    store = PinStore(tmp_path / "pins.jsonl")
    held = store.hold([RULE])
    with pytest.raises(LimitError) as long:
        store.hold(["word " + "\x01" * 1_900_000])
    with pytest.raises(LimitError) as many:
        store.leave_out(f"pin-{number:016x}" for number in range(SPAN_LIMIT + 1))
    assert (long.value.code, many.value.code) == ("PINS_TOO_LONG", "TOO_MANY_SPANS")
    assert store.load() == HeldPins(held)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "taken").write_text("x")
    with pytest.raises(CannotLookError) as seen:
        PinStore(tmp_path / "taken" / "pins.jsonl").hold([RULE])
    assert seen.value.code == "PINS_FOLDER"


def test_a_refused_text_changes_nothing(tmp_path: Path) -> None:
    """All or none: the good one beside it is not held either."""
    store = PinStore(tmp_path / "pins.jsonl")
    store.hold([RULE])
    before = store.path.read_bytes()
    with pytest.raises(RefusedError):
        store.hold(["fine words", "---"])
    assert store.path.read_bytes() == before


@pytest.mark.parametrize("step", ["replace.open", "replace.write", "replace.sync", "replace.rename"])
def test_a_disk_that_fails_changes_nothing(tmp_path: Path, step: str) -> None:
    """The old file stays whole, and pinning works again."""
    store = PinStore(tmp_path / "pins.jsonl")
    store.hold([RULE])
    before = store.path.read_bytes()
    fault = FailAt(step, errno.ENOSPC)
    with listening(fault), pytest.raises(NotStoredError):
        store.hold(["fine words"])
    assert (fault.fired, store.path.read_bytes()) == (1, before)
    store.hold(["fine words"])
    assert len(store.load().pins) == 2


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Eight threads pin five texts each."""
    store = PinStore(tmp_path / "pins.jsonl")

    def write(start: int) -> None:
        for number in range(5):
            store.hold([f"words of {start} and {number}"])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.load().pins) == 40


def test_a_file_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    """A folder in its place is told, not taken for no pins."""
    (tmp_path / "pins.jsonl").mkdir()
    with pytest.raises(CannotLookError) as seen:
        PinStore(tmp_path / "pins.jsonl").load()
    assert seen.value.code == "PINS_UNREADABLE"
    assert read_pins(b'{"pin": "fine words"}', "p").pins == (pin("fine words"),)

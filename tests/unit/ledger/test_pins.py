"""Pin files of every kind are read, and pins are made only of what was verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from arcaeon.record.ledger import Ledger
from arcaeon.record.ledger.witness import WitnessStore
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import CannotLookError, RefusedError
from engine.ledger.pins import Integrity, Pin, PinFormat, make_pin, pin_text, read_pin_file
from engine.ledger.verify import verify_chain
from engine.ledger.witness import content_digest, pin_line
from engine.lines.source import FileSource, MemorySource
from tests.support.ledgers import chain_of, chained, frozen, numbered

LINES = chained(numbered(4))
HEAD = chain_of(LINES[-1])


def read(data: bytes) -> Any:
    """Read bytes as a pin file."""
    return read_pin_file(MemorySource("pins", data))


def store(*pins: dict[str, Any]) -> bytes:
    """Write pins as the format's own store does."""
    previous, data = "witness-genesis", b""
    for pin in pins:
        data += pin_line(pin, previous)
        previous = content_digest(pin)
    return data


def pin(rows: Any = 4, chain: Any = HEAD, namespace: str = "ns") -> dict[str, Any]:
    """Return the content of a store's pin."""
    return {"namespace": namespace, "rows": rows, "chain": chain, "as_of": "2026-01-01T00:00:00Z", "received_at": None}


def test_the_frozen_digest_of_a_pin() -> None:
    """The vector of the format: namespace ns, three rows."""
    digest = content_digest(pin(3, "d75288c9f03c41f543ce5faff53dcacd"))
    assert digest == "f8e8ee9ec62428b9359ba888b1dd2b4f"


def test_a_store_of_the_reference_is_read_and_verified(tmp_path: Path) -> None:
    """Pins of the format's own store, over a growing ledger."""
    ledger = Ledger(tmp_path / "l")
    theirs = WitnessStore(tmp_path / "w")
    for number in range(3):
        ledger.append({"i": number})
        theirs.record("ns", ledger.head())
    file = read_pin_file(FileSource(tmp_path / "w"))
    assert (file.format, file.integrity) == (PinFormat.WITNESS_STORE, Integrity.VERIFIED)
    assert [p.rows for p in file.pins] == [1, 2, 3]
    assert file.namespaces() == ("ns",)


ALPHABET = st.sampled_from(
    [
        b"{}",
        b"[]",
        b"42",
        b'{"prev": 5}',
        b'{"prev": "x"}',
        b'{"torn',
        b"",
        b"\xc2\xa0",
        b'{"a": NaN}',
        b'{"prev": "witness-genesis", "self": "99914b932bd37a50b983c5e7c90ae93b"}',
        *store(pin(1, HEAD), pin(2, HEAD), pin(3, HEAD), {"namespace": "\u2028", "rows": 1}).split(b"\n"),
    ]
)


@given(st.lists(ALPHABET, max_size=8), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_the_walk_over_a_store_answers_as_the_reference(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ending: bytes
) -> None:
    """The same fields for pins in any order, edited, torn or mixed with what is no pin."""
    path = tmp_path_factory.mktemp("w") / "store"
    path.write_bytes(ending.join(lines))
    theirs = WitnessStore(path).verify()
    ours = read_pin_file(FileSource(path)).store
    if ours is not None:  # files without any object are no store for us
        fields = ("ok", "pins", "chained", "unchained", "breaks", "first_break")
        assert {name: getattr(ours, name) for name in fields} == dict(theirs)


def test_every_edit_of_a_store_is_named_by_line() -> None:
    """The last pin edited, the first one deleted, two swapped, a digest removed, a key doubled."""
    lines = store(pin(2), pin(3), pin(4)).splitlines(keepends=True)
    damages = {
        "last edited": (lines[0] + lines[1] + lines[2].replace(b'"rows": 4', b'"rows": 2'), 3),
        "first deleted": (lines[1] + lines[2], 1),
        "swapped": (lines[1] + lines[0] + lines[2], 1),
        "digest removed": (lines[0] + json.dumps({**json.loads(lines[1]), "self": None}).encode(), 2),
        "key doubled": (lines[0].replace(b'"rows": 2', b'"rows": 2, "rows": 2'), 1),
        "unchained at the end": (b"".join(lines) + json.dumps(pin()).encode(), 4),
        "nested bomb": (b"".join(lines) + b"[" * 100_000, 4),
        "a list": (lines[0] + b"[]\n", 2),
    }
    for name, (data, line) in damages.items():
        file = read(data)
        assert file.integrity is Integrity.BROKEN, name
        assert file.findings[0].line == line, name


def test_pins_from_before_the_chain_leave_the_integrity_open() -> None:
    """Old pins without links are read and not called verified."""
    file = read(json.dumps(pin(2)).encode() + b"\n" + json.dumps(pin(3)).encode())
    assert (file.integrity, [p.rows for p in file.pins]) == (Integrity.UNESTABLISHED, [2, 3])


@pytest.mark.parametrize("character", ["\u2028", "\u0085", "\x0b", "\x1c"])
def test_line_separators_inside_a_pin_lose_no_pin(character: str) -> None:
    """A pin written with the raw character by a foreign writer is one pin."""
    content = pin(namespace=f"a{character}b")
    line = {**content, "prev": "witness-genesis", "self": content_digest(content)}
    text = json.dumps(line, ensure_ascii=False).replace("\\u000b", character).replace("\\u001c", character)
    file = read(text.encode())
    if character in "\x0b\x1c":  # JSON must escape these: raw they are no JSON at all
        assert file.integrity is Integrity.BROKEN
    else:
        assert file.namespaces() == (f"a{character}b",)


UNUSABLE: list[tuple[Any, Any]] = [
    (-1, "genesis"),
    (True, HEAD),
    ("4", HEAD),
    (0, "genesis"),
    (4.0, HEAD),
    (None, HEAD),
    (4, None),
    (4, "deadbeef"),
    (4, HEAD + "00"),
    (4, "genesis"),
    (4, 5),
]


@pytest.mark.parametrize(("rows", "chain"), UNUSABLE, ids=repr)
def test_pins_that_constrain_nothing_say_why(rows: Any, chain: Any) -> None:
    """Whole numbers from one on, and a chain value of this format; anything else is no pin to compare with."""
    (found,) = read(store(pin(rows, chain))).pins
    assert not found.is_usable
    assert found.why
    with pytest.raises(RefusedError):
        pin_text(found)


@pytest.mark.parametrize("layout", [None, 2])
def test_a_hosted_pin_is_one_object(layout: int | None) -> None:
    """Written on one line or over many, with fields we do not know."""
    value = {"namespace": "my-log", "rows": 4, "chain": HEAD.upper(), "pinned_at": "t", "seq": 7, "cadence_hours": 24}
    file = read(json.dumps(value, indent=layout).encode())
    assert (file.format, file.integrity) == (PinFormat.HOSTED, Integrity.UNESTABLISHED)
    assert file.pins[0] == Pin("my-log", 4, HEAD, "t")


def test_pin_text_goes_both_ways() -> None:
    """The line the tools print is read again, also between other lines, which are named."""
    made = make_pin(verify_chain(MemorySource("m", b"".join(LINES))), clock=frozen)
    text = pin_text(made)
    assert text == f"arcaeon-ledger head chain={HEAD} rows=4 as_of=2026-01-01T12:00:00Z"
    file = read(f"# pinned by mail\n{text}\n\n".encode())
    assert file.format is PinFormat.TEXT
    assert (file.pins[0].rows, file.pins[0].chain, file.pins[0].line) == (4, HEAD, 2)
    assert [f.line for f in file.findings] == [1]


def test_the_pin_text_is_the_references(tmp_path: Path) -> None:
    """Same ledger, same line but for the time."""
    (tmp_path / "l").write_bytes(b"".join(LINES))
    theirs = Ledger(tmp_path / "l").head().as_pin()
    ours = pin_text(make_pin(verify_chain(FileSource(tmp_path / "l")), clock=frozen))
    assert ours.rpartition("=")[0] == theirs.rpartition("=")[0]


@pytest.mark.parametrize("data", [b"", b"\n", b"hello\n", b"\xff" * 20, b"[" * 100_000, b"arcaeon-ledger head chain=x"])
def test_what_is_no_pin_file_holds_no_pins(data: bytes) -> None:
    """No exception, no pins."""
    file = read(data)
    assert file.pins == ()
    assert file.integrity is not Integrity.VERIFIED


def test_an_unreadable_pin_file_says_so(tmp_path: Path) -> None:
    """A folder and a missing file."""
    for path in (tmp_path, tmp_path / "none"):
        file = read_pin_file(FileSource(path))
        assert not file.is_readable
        assert file.findings[0].code.name == "pins_unreadable"


@pytest.mark.parametrize("ending", [b"\n", b"\r", "\u2003\n".encode()])
def test_the_head_is_the_walks(ending: bytes) -> None:
    """CR-only files and rows padded with Unicode space have the last row's chain as head (the reference: genesis)."""
    report = verify_chain(MemorySource("m", b"".join(LINES).replace(b"\n", ending)))
    made = make_pin(report)
    assert (made.rows, made.chain) == (4, HEAD)


def test_no_pin_is_made_of_what_was_not_verified() -> None:
    """Broken, empty, unchained and partly unread ledgers are refused; a ledger with skipped rows is pinned."""
    refused = [
        b"".join(LINES[1:]),
        b"",
        b'{"old": 1}\n',
        b"".join(LINES) + b"[" * 600,
    ]
    for data in refused:
        with pytest.raises((RefusedError, CannotLookError), match="no pin was made"):
            make_pin(verify_chain(MemorySource("m", data)))
    assert make_pin(verify_chain(MemorySource("m", b'{"old": 1}\n' + b"".join(LINES)))).rows == 5

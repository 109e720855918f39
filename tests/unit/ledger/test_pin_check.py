"""A pin passes only when our own walk up to it is green; every wrong answer of the reference comes out right."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from arcaeon.record.ledger import Ledger
from arcaeon.record.ledger.witness import WitnessStore, verify_against_witness

from engine.errors import UsageError
from engine.findings import CancelledError, Result, worst
from engine.ledger.pin_check import PinAnswer, PinReport, check_pins, result_of
from engine.ledger.pins import Integrity, read_pin_file
from engine.ledger.report import Limits
from engine.lines.source import FileSource, MemorySource
from tests.support.ledgers import chain_of, chained, numbered
from tests.unit.ledger.test_pins import HEAD, LINES, pin, store

HONEST = b"".join(LINES)
FIRST = chain_of(LINES[0])


def check(ledger: bytes, pins: bytes, **options: Any) -> tuple[PinReport, ...]:
    """Compare bytes with bytes."""
    return check_pins(MemorySource("l", ledger), read_pin_file(MemorySource("p", pins)), **options)


def answer(ledger: bytes, pins: bytes, **options: Any) -> PinAnswer:
    """Return the one answer."""
    (report,) = check(ledger, pins, **options)
    return report.answer


def declared_edit() -> bytes:
    """Edit row 2, keep its stale chain, and declare the break."""
    lines = [LINES[0], LINES[1].replace(b'"i": 1', b'"i": 9'), *LINES[2:]]
    declaration = {
        "op": "chain_break_declared",
        "orphan_line": 2,
        "orphan_sha256": hashlib.sha256(lines[1].strip()).hexdigest(),
        "why": "disk fault",
        "ts": "t",
    }
    return b"".join(lines) + chained([declaration], HEAD)[0]


REMADE = b"".join(chained(numbered(4, other=True)))
EDITED = HONEST.replace(b'"i": 1', b'"i": 9')
OLD = b'{"old": 1}\n'

CASES: dict[str, tuple[bytes, bytes, PinAnswer, str]] = {
    "consistent": (HONEST, store(pin()), PinAnswer.CONSISTENT, "rows 1 to 4"),
    "grown": (HONEST + chained([{"ts": "t"}], HEAD)[0], store(pin()), PinAnswer.CONSISTENT, "rows 1 to 4"),
    "truncated": (b"".join(LINES[:2]), store(pin()), PinAnswer.TRUNCATED, "2 of the 4 pinned rows are missing"),
    "truncated by one": (b"".join(LINES[:3]), store(pin()), PinAnswer.TRUNCATED, "1 of the 4 pinned rows is missing"),
    "emptied": (b"", store(pin()), PinAnswer.TRUNCATED, "4 of the 4"),
    "torn at the pinned row": (HONEST[:-9], store(pin()), PinAnswer.TRUNCATED, "unfinished"),
    "zero-row pin": (HONEST, store(pin(0, "genesis")), PinAnswer.NO_RECORD, "no rows"),
    "negative pin": (HONEST, store(pin(-1, "genesis")), PinAnswer.NO_RECORD, "no rows"),
    "upper-case pin": (HONEST, store(pin(4, HEAD.upper())), PinAnswer.CONSISTENT, ""),
    "rows true": (HONEST, store(pin(True, FIRST)), PinAnswer.NO_RECORD, "bool"),
    "rows as text": (HONEST, store(pin("4")), PinAnswer.NO_RECORD, "str"),
    "pin over unchained rows": (OLD * 2, store(pin(2, "genesis")), PinAnswer.NO_RECORD, "32 hex"),
    "re-made": (REMADE, store(pin()), PinAnswer.REWRITTEN, "at or before row 4"),
    "edited": (EDITED, store(pin()), PinAnswer.LOCAL_BROKEN, "broken at row 2; the pinned value agrees"),
    "edited and declared": (declared_edit(), store(pin()), PinAnswer.PARTIAL, "agrees at row 4, but row 2 is outside"),
    "rows in front of the chain": (OLD + HONEST, store(pin(5)), PinAnswer.PARTIAL, "row 1 is outside"),
    "rows put in front": (OLD + HONEST, store(pin()), PinAnswer.REWRITTEN, ""),
    "broken behind the pin": (HONEST + b'{"out": 1}\n', store(pin()), PinAnswer.CONSISTENT, ""),
    "short and broken": (EDITED[: EDITED.rindex(b'{"ts"')], store(pin()), PinAnswer.LOCAL_BROKEN, "1 of the 4"),
    "one row gone from the middle": (
        b"".join(LINES[:1] + LINES[2:]),
        store(pin()),
        PinAnswer.LOCAL_BROKEN,
        "broken at row 2",
    ),
    "no pins": (HONEST, b"", PinAnswer.NO_RECORD, "no pin"),
    "pins edited": (HONEST, store(pin()).replace(HEAD.encode(), b"0" * 32), PinAnswer.STORE_BROKEN, "line 1"),
    "CR only": (HONEST.replace(b"\n", b"\r"), store(pin()), PinAnswer.CONSISTENT, ""),
    "padded": (HONEST.replace(b"\n", "\u2003\n".encode()), store(pin()), PinAnswer.CONSISTENT, ""),
    "blank lines between": (HONEST.replace(b"\n", b"\n\n"), store(pin()), PinAnswer.CONSISTENT, ""),
    "deep row before the pin": (b"[" * 600 + b"\n" + HONEST, store(pin()), PinAnswer.COULD_NOT_LOOK, "line 1"),
    "deep row in place of the last": (
        b"".join(LINES[:3]) + b"[" * 600,
        store(pin()),
        PinAnswer.COULD_NOT_LOOK,
        "not known",
    ),
    "hosted pin": (HONEST, json.dumps({"rows": 4, "chain": HEAD, "seq": 1}).encode(), PinAnswer.CONSISTENT, ""),
    "pin text": (HONEST, f"arcaeon-ledger head chain={HEAD} rows=4 as_of=t".encode(), PinAnswer.CONSISTENT, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer(name: str) -> None:
    """Word, place and result for each case."""
    ledger, pins, expected, words = CASES[name]
    (report,) = check(ledger, pins)
    assert report.answer is expected, report
    assert words in report.sentence
    assert report.result is result_of(expected)
    assert report.as_json()["answer"] == expected.value


WRONG_THERE = {
    "edited and declared": "consistent",
    "rows true": "consistent",
    "negative pin": "consistent",
    "pin over unchained rows": "truncated",
    "upper-case pin": "rewritten",
    "rows in front of the chain": "consistent",
}


@pytest.mark.parametrize("name", WRONG_THERE)
def test_the_reference_still_answers_otherwise(tmp_path: Path, name: str) -> None:
    """Each deliberate difference is one: a change of the reference shows here."""
    ledger, pins, expected, _ = CASES[name]
    (tmp_path / "l").write_bytes(ledger)
    (tmp_path / "w").write_bytes(pins)
    theirs = verify_against_witness(WitnessStore(tmp_path / "w"), "ns", Ledger(tmp_path / "l"))
    assert theirs.verdict == WRONG_THERE[name]
    assert expected.value != theirs.verdict


def test_every_flip_of_a_prechain_row_below_a_pin_is_never_a_pass() -> None:
    """What the chain does not cover is outside the check, edited or not."""
    for edited in (OLD, b'{"old": 2}\n'):
        assert answer(edited + HONEST, store(pin(5))) is PinAnswer.PARTIAL


def test_strict_makes_what_is_outside_the_check_a_break() -> None:
    """No declaration is honoured and no row in front of the chain is skipped."""
    assert answer(declared_edit(), store(pin()), strict=True) is PinAnswer.LOCAL_BROKEN
    assert answer(OLD + HONEST, store(pin(5)), strict=True) is PinAnswer.LOCAL_BROKEN
    assert answer(HONEST, store(pin()), strict=True) is PinAnswer.CONSISTENT


def test_all_pins_of_a_store_count() -> None:
    """A store that went back is no way around an older, higher pin; each pin has its own report."""
    short = b"".join(LINES[:2])
    reports = check(short, store(pin(4), pin(2, chain_of(LINES[1])), pin("x")))
    assert [r.answer for r in reports] == [PinAnswer.TRUNCATED, PinAnswer.CONSISTENT, PinAnswer.NO_RECORD]
    assert worst(r.result for r in reports) is Result.FAILS
    assert (reports[0].missing, reports[1].grown) == (2, 0)
    assert {r.integrity for r in reports} == {Integrity.VERIFIED}


def test_a_namespace_is_chosen_or_asked_for() -> None:
    """Pins of another ledger are not compared with this one by accident."""
    pins = store(pin(), pin(9, "0" * 32, namespace="other"))
    with pytest.raises(UsageError, match="2 namespaces"):
        check(HONEST, pins)
    assert answer(HONEST, pins, namespace="ns") is PinAnswer.CONSISTENT
    assert answer(HONEST, pins, namespace="other") is PinAnswer.TRUNCATED
    assert answer(HONEST, pins, namespace="third") is PinAnswer.NO_RECORD


def test_what_cannot_be_read_is_not_an_accusation(tmp_path: Path) -> None:
    """A missing ledger and a missing pin file: could not look (the reference calls the ledger broken)."""
    pins = read_pin_file(MemorySource("p", store(pin())))
    (report,) = check_pins(FileSource(tmp_path / "none"), pins)
    assert report.answer is PinAnswer.COULD_NOT_LOOK
    (report,) = check_pins(MemorySource("l", HONEST), read_pin_file(FileSource(tmp_path / "none")))
    assert (report.answer, report.result) == (PinAnswer.COULD_NOT_LOOK, Result.COULD_NOT_LOOK)


def test_a_pin_behind_the_kept_findings_is_not_a_pass() -> None:
    """When notices used up the room for findings, silence about the rows before the pin is no pass."""
    lines = chained([{"ts": "t", "i": i, "v": float("nan")} for i in range(6)])
    edited = b"".join(lines).replace(b'"i": 4', b'"i": 9')
    pins = store(pin(6, chain_of(lines[-1])))
    assert answer(edited, pins) is PinAnswer.LOCAL_BROKEN
    (report,) = check(edited, pins, limits=Limits(findings=2))
    assert report.result not in (Result.HOLDS, Result.BOUNDED)


def test_a_comparison_can_be_cancelled() -> None:
    """The walk asks its caller."""
    with pytest.raises(CancelledError):
        check(HONEST, store(pin()), is_cancelled=lambda: True)

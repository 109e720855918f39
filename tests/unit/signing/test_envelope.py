"""Signed statements: the right ones hold, and each wrong one is refused with its own code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.errors import RefusedError, UsageError
from engine.findings import Result
from engine.signing.envelope import canonical, check, check_bytes, require, sign, signed_bytes
from engine.signing.keyring import OWN_PURPOSES, Entry
from engine.signing.keys import PrivateKey
from engine.signing.purpose import Purpose
from tests.support.second_verifier import verifies

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
KEY, OTHER = PrivateKey(bytes(range(32))), PrivateKey(bytes(range(1, 33)))
BODY: dict[str, Any] = {
    "schema": "t/1",
    "text": "Safety: nie löschen 🔑",
    "count": 3,
    "list": [1, None, True, {"b": 1, "a": 2}],
}


@dataclass(frozen=True)
class Keys:
    """A lookup of one key."""

    entry: Entry

    def find(self, key_id: str) -> Entry | None:
        """Return the entry of an id."""
        return self.entry if key_id == self.entry.key.id else None


def entry(**changed: Any) -> Entry:
    """Return the key in use."""
    usual: dict[str, Any] = {
        "key": KEY.public,
        "name": "own",
        "purposes": OWN_PURPOSES,
        "own": True,
        "not_before": NOW - DAY,
    }
    return Entry(**{**usual, **changed})


KEYS = Keys(entry())


def statement(**changed: Any) -> dict[str, Any]:
    """Return a signed statement, then changed."""
    return {**sign(BODY, Purpose.RECEIPT, KEY, now=NOW, valid_for=30 * DAY), **changed}


def test_a_signed_statement_holds_and_the_second_verifier_agrees() -> None:
    """Both say yes, and the canonical bytes are the same."""
    made = statement()
    checked = check(made, Purpose.RECEIPT, KEYS, now=NOW)
    assert (checked.result, checked.findings, checked.signer) == (Result.HOLDS, (), KEYS.entry)
    assert verifies(made, [KEYS.entry.as_json()], "receipt", NOW)
    assert check_bytes(canonical(made), Purpose.RECEIPT, KEYS, now=NOW).findings == ()
    assert require(checked, "receipt")["text"] == BODY["text"]


CHANGES: list[tuple[str, dict[str, Any], Result]] = [
    ("SIGNATURE_WRONG", {"text": "Safety: löschen"}, Result.FAILS),
    ("SIGNATURE_WRONG", {"count": 3.5}, Result.FAILS),
    ("SIGNATURE_WRONG", {"more": 1}, Result.FAILS),
    ("SIGNATURE_WRONG", {"issued_at": "2026-06-01T12:00:01Z"}, Result.FAILS),
    ("SIGNATURE_WRONG", {"valid_until": None}, Result.FAILS),
    ("SIGNATURE_WRONG", {"signature": "00" * 64}, Result.FAILS),
    ("SIGNATURE_RESPELLED", {"signature": statement()["signature"].upper()}, Result.FAILS),
    ("SIGNATURE_RESPELLED", {"signature": statement()["signature"] + "\n"}, Result.FAILS),
    ("SIGNATURE_RESPELLED", {"signature": " " + statement()["signature"]}, Result.FAILS),
    ("SIGNATURE_RESPELLED", {"signature": None}, Result.FAILS),
    ("PURPOSE_WRONG", {"purpose": "approval"}, Result.FAILS),
    ("PURPOSE_WRONG", {"purpose": "RECEIPT"}, Result.FAILS),
    ("KEY_UNKNOWN", {"key_id": OTHER.public.id}, Result.COULD_NOT_LOOK),
    ("KEY_UNKNOWN", {"key_id": KEY.public.id[:16]}, Result.COULD_NOT_LOOK),
    ("KEY_UNKNOWN", {"key_id": OTHER.public.id, "public_key": OTHER.public.hex}, Result.COULD_NOT_LOOK),
    ("NOT_A_STATEMENT", {"key_id": 7}, Result.FAILS),
    ("NOT_A_STATEMENT", {"issued_at": "2026-06-01 12:00:00"}, Result.FAILS),
    ("NOT_A_STATEMENT", {"issued_at": "2026-W23-1"}, Result.FAILS),
    ("NOT_A_STATEMENT", {"valid_until": "2026-07-01T12:00:00+00:00"}, Result.FAILS),
    ("NOT_A_STATEMENT", {"valid_until": 5}, Result.FAILS),
    ("NOT_A_STATEMENT", {"text": "\ud800"}, Result.FAILS),
    ("NOT_A_STATEMENT", {"count": float("nan")}, Result.FAILS),
    ("NOT_A_STATEMENT", {"count": 2**60}, Result.FAILS),
]


@pytest.mark.parametrize(("code", "change", "result"), CHANGES)
def test_a_changed_statement_is_refused_with_its_code(code: str, change: dict[str, Any], result: Result) -> None:
    """Each change has its own answer, and none holds."""
    checked = check(statement(**change), Purpose.RECEIPT, KEYS, now=NOW)
    assert (checked.codes, checked.result) == ((code,), result)
    with pytest.raises(RefusedError) as seen:
        require(checked, "receipt")
    assert (seen.value.code, seen.value.where) == (code, "receipt")


@pytest.mark.parametrize("name", ["purpose", "key_id", "issued_at", "valid_until", "signature"])
def test_a_statement_without_a_part_is_none(name: str) -> None:
    """No part of the frame can be left out."""
    made = statement()
    del made[name]
    assert check(made, Purpose.RECEIPT, KEYS, now=NOW).result is Result.FAILS


@pytest.mark.parametrize(
    ("at", "code"),
    [
        (NOW - timedelta(seconds=61), "ISSUED_IN_FUTURE"),
        (NOW - timedelta(seconds=60), None),
        (NOW, None),
        (NOW + 30 * DAY - timedelta(seconds=1), None),
        (NOW + 30 * DAY, "STATEMENT_EXPIRED"),
        (NOW + 30 * DAY + timedelta(seconds=1), "STATEMENT_EXPIRED"),
        (NOW + 400 * DAY, "STATEMENT_EXPIRED"),
    ],
)
def test_starts_are_inclusive_and_ends_exclusive(at: datetime, code: str | None) -> None:
    """The clock may differ by a minute at the start, by nothing at the end; the second verifier agrees."""
    checked = check(statement(), Purpose.RECEIPT, KEYS, now=at)
    assert checked.codes == ((code,) if code else ())
    assert checked.result is (Result.HOLDS if code is None else Result.COULD_NOT_LOOK)
    assert verifies(statement(), [KEYS.entry.as_json()], "receipt", at) is (code is None)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"not_before": NOW}, None),
        ({"not_before": NOW + timedelta(seconds=1)}, "KEY_OUT_OF_WINDOW"),
        ({"not_after": NOW + timedelta(seconds=1)}, None),
        ({"not_after": NOW}, "KEY_OUT_OF_WINDOW"),
        ({"revoked_at": NOW + DAY}, "KEY_REVOKED"),
        ({"purposes": frozenset({Purpose.SEGMENT})}, "KEY_PURPOSE_WRONG"),
    ],
)
def test_a_key_counts_only_for_its_purposes_and_its_time(changed: dict[str, Any], code: str | None) -> None:
    """Windows, purposes and revocation of the keyring decide."""
    keys = Keys(entry(**changed))
    assert check(statement(), Purpose.RECEIPT, keys, now=NOW).codes == ((code,) if code else ())
    assert verifies(statement(), [keys.entry.as_json()], "receipt", NOW) is (code is None)


def test_bytes_signed_for_one_purpose_mean_nothing_in_another() -> None:
    """The purpose stands in the frame too, so renaming it in the statement does not help."""
    assert signed_bytes(Purpose.RECEIPT, BODY) != signed_bytes(Purpose.APPROVAL, BODY)
    forged = statement(purpose="segment")
    assert check(forged, Purpose.SEGMENT, KEYS, now=NOW).codes == ("SIGNATURE_WRONG",)


def test_every_flipped_bit_of_a_statement_is_refused_or_means_the_same() -> None:
    """No byte can be changed unnoticed, and no flip makes the check fail with an error."""
    data = canonical(statement())
    answers = set()
    for at in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            checked = check_bytes(bytes(changed), Purpose.RECEIPT, KEYS, now=NOW)
            answers.add(checked.result)
            assert checked.result is not Result.HOLDS, (at, bit)
    assert answers == {Result.FAILS, Result.COULD_NOT_LOOK}


def spaced(data: bytes) -> bytes:
    """Write the same value otherwise."""
    return json.dumps(json.loads(data), indent=2).encode()


@pytest.mark.parametrize(
    ("write", "codes", "result"),
    [
        (lambda data: data + b"\n", (), Result.HOLDS),
        (spaced, ("WRITTEN_OTHERWISE",), Result.HOLDS),
        (lambda data: b"[" + data + b"]", ("NOT_A_STATEMENT",), Result.FAILS),
        (lambda data: b'{"text":"x",' + data[1:], ("NOT_A_STATEMENT",), Result.FAILS),
        (lambda data: data + data, ("NOT_A_STATEMENT",), Result.FAILS),
        (lambda data: b"\xff" + data, ("NOT_A_STATEMENT",), Result.FAILS),
        (lambda _: b"", ("NOT_A_STATEMENT",), Result.FAILS),
        (lambda _: b"[" * 100_000, ("NOT_A_STATEMENT",), Result.FAILS),
        (lambda _: b'{"a":1,"a":1}x', ("NOT_A_STATEMENT",), Result.FAILS),
    ],
)
def test_bytes_are_read_strictly(write: Callable[[bytes], bytes], codes: tuple[str, ...], result: Result) -> None:
    """Another spelling of the same value holds and is said; anything else is no statement."""
    checked = check_bytes(write(canonical(statement())), Purpose.RECEIPT, KEYS, now=NOW)
    assert (checked.codes, checked.result) == (codes, result)


@pytest.mark.parametrize("body", [{"signature": "x"}, {"key_id": "x"}])
def test_a_body_may_not_use_the_names_of_the_frame(body: dict[str, Any]) -> None:
    """It would be signed as something else than it says."""
    with pytest.raises(UsageError, match="may not hold"):
        sign(body, Purpose.RECEIPT, KEY, now=NOW)


@pytest.mark.parametrize("value", ["\ud800", float("nan"), 2**53])
def test_what_has_no_canonical_form_is_not_signed(value: Any) -> None:
    """Nothing is signed that another could read differently."""
    with pytest.raises(UsageError) as seen:
        sign({"value": value}, Purpose.RECEIPT, KEY, now=NOW)
    assert seen.value.code == "BODY_NOT_SIGNABLE"

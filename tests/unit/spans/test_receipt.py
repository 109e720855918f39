"""Receipts of an audit: what holds, what is only signed, and what is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.errors import UsageError
from engine.findings import Result
from engine.signing.envelope import canonical, sign
from engine.signing.keyring import OWN_PURPOSES, Entry
from engine.signing.keys import PrivateKey
from engine.signing.purpose import Purpose
from engine.spans.audit import audit
from engine.spans.receipt import Occasion, body_of, check_receipt, make_receipt
from engine.spans.snapshot import Snapshot, snapshot
from tests.support.second_verifier import verifies

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
KEY = PrivateKey(bytes(range(32)))
SPANS = [
    "Goal: ship the export button before 2026-11-15.",
    "Safety: never deploy to production without a signed receipt.",
    "[fact] The staging host is stg-7.",
    "---",
]
POST = "We never deploy to production without a receipt. The staging host is stg-7."
OCCASION = Occasion(2, "compactor 1.2", "summary", "model-x", 9000, 1500)


@dataclass(frozen=True)
class Keys:
    """A keyring of one key."""

    entry: Entry

    def find(self, key_id: str) -> Entry | None:
        """Return the entry of an id."""
        return self.entry if key_id == self.entry.key.id else None


KEYS = Keys(Entry(KEY.public, "own", OWN_PURPOSES, own=True, not_before=NOW - timedelta(days=1)))


def taken(event_id: str = "evt-1") -> Snapshot:
    """Return the snapshot of the event."""
    return snapshot(event_id, SPANS)


def made(*, texts: bool = True) -> dict[str, Any]:
    """Return the receipt of its audit."""
    return make_receipt(audit(taken(), POST), OCCASION, KEY, now=NOW, texts=texts)


def test_a_receipt_says_what_the_audit_found() -> None:
    """Every part that a reader needs stands in it, in exact numbers."""
    receipt = made()
    assert {name: receipt[name] for name in ("schema", "event_id", "round", "compactor", "method", "model")} == {
        "schema": "winnow-audit-receipt/1",
        "event_id": "evt-1",
        "round": 2,
        "compactor": "compactor 1.2",
        "method": "summary",
        "model": "model-x",
    }
    assert receipt["policy"] == {"id": "lexical-1", "threshold": "3/5", "profile": "standard"}
    assert (receipt["pre_bytes"], receipt["pre_words"]) == (9000, 1500)
    assert (receipt["post_bytes"], receipt["post_words"]) == (len(POST), 14)
    assert [(each["verdict"], each["found"], each["total"]) for each in receipt["spans"]] == [
        ("LOST", 1, 9),
        ("DEGRADED", 7, 9),
        ("PRESERVED", 6, 6),
    ]
    assert receipt["spans"][0]["dropped_text"] == [SPANS[0]]
    assert receipt["counts"] == {
        "INVARIANT": {"LOST": 1, "DEGRADED": 1, "critical": 1},
        "FACT": {"PRESERVED": 1, "critical": 0},
    }
    assert receipt["refused"] == [{"position": 3, "code": "UNPINNABLE"}]
    assert receipt["valid_until"] == "2026-07-01T12:00:00Z"
    assert verifies(receipt, [KEYS.entry.as_json()], "receipt", NOW)


def test_alone_it_is_bounded_and_with_its_content_it_holds() -> None:
    """A signature is not a recomputation: only with pins and text the verdicts were checked."""
    alone = check_receipt(made(), KEYS, now=NOW)
    assert (alone.result, alone.codes) == (Result.BOUNDED, ("NOT_JUDGED_AGAIN",))
    whole = check_receipt(canonical(made()), KEYS, now=NOW, snapshot=taken(), post_text=POST)
    assert (whole.result, whole.codes) == (Result.HOLDS, ())
    for given in ({"snapshot": taken()}, {"post_text": POST}):
        assert check_receipt(made(), KEYS, now=NOW, **given).result is Result.BOUNDED


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"snapshot": taken("evt-2")}, "RECEIPT_OTHER_EVENT"),
        ({"snapshot": snapshot("evt-1", SPANS[:2])}, "RECEIPT_OTHER_SNAPSHOT"),
        ({"post_text": POST + " "}, "RECEIPT_OTHER_TEXT"),
        ({"post_text": ""}, "RECEIPT_OTHER_TEXT"),
    ],
)
def test_a_receipt_of_something_else_is_refused(given: dict[str, Any], code: str) -> None:
    """Event, pins and text are those it was issued for."""
    checked = check_receipt(made(), KEYS, now=NOW, **given)
    assert (checked.result, checked.codes) == (Result.FAILS, (code,))


def lying(**changed: Any) -> dict[str, Any]:
    """Return a receipt that its own key signed and whose verdicts are not true."""
    body = body_of(audit(taken(), POST), OCCASION, texts=True)
    return sign({**body, **changed}, Purpose.RECEIPT, KEY, now=NOW, valid_for=timedelta(days=30))


def test_a_signed_lie_is_found_by_judging_again() -> None:
    """The signature holds, so alone it is bounded; with pins and text it fails, span named."""
    spans = made()["spans"]
    for change in ({"verdict": "PRESERVED"}, {"found": 9}, {"critical": True}):
        receipt = lying(spans=[{**spans[0], **change}, *spans[1:]])
        assert check_receipt(receipt, KEYS, now=NOW).result is Result.BOUNDED
        checked = check_receipt(receipt, KEYS, now=NOW, snapshot=taken(), post_text=POST)
        assert (checked.result, checked.codes) == (Result.FAILS, ("RECEIPT_VERDICT_DIFFERS",))
        assert checked.findings[0].field == spans[0]["id"]
    fewer = check_receipt(lying(spans=spans[:2]), KEYS, now=NOW, snapshot=taken(), post_text=POST)
    assert (fewer.result, fewer.findings[0].field) == (Result.FAILS, "spans")


def test_another_policy_is_not_judged_here() -> None:
    """Verdicts of another rule are neither confirmed nor accused."""
    receipt = lying(policy={"id": "lexical-2", "threshold": "3/5"})
    checked = check_receipt(receipt, KEYS, now=NOW, snapshot=taken(), post_text=POST)
    assert (checked.result, checked.codes) == (Result.COULD_NOT_LOOK, ("RECEIPT_OTHER_POLICY",))


@pytest.mark.parametrize(
    "change",
    [{"schema": "x"}, {"spans": {}}, {"spans": [{}]}, {"spans": [{"id": 1}]}, {"policy": None}, {"post_sha256": 1}],
)
def test_signed_content_of_another_shape_is_no_receipt(change: dict[str, Any]) -> None:
    """A good signature over something else is refused."""
    checked = check_receipt(lying(**change), KEYS, now=NOW, snapshot=taken(), post_text=POST)
    assert (checked.result, checked.codes) == (Result.FAILS, ("RECEIPT_SHAPE",))


def test_one_changed_byte_is_refused() -> None:
    """Each byte of the canonical receipt counts."""
    data = canonical(made())
    for at in range(0, len(data), 7):
        changed = bytearray(data)
        changed[at] ^= 1
        checked = check_receipt(bytes(changed), KEYS, now=NOW, snapshot=taken(), post_text=POST)
        assert checked.result not in {Result.HOLDS, Result.BOUNDED}, at


def test_the_form_without_texts_names_none() -> None:
    """It verifies the same and holds no word of a span."""
    receipt = made(texts=False)
    text = json.dumps(receipt)
    assert "deploy" not in text
    assert "export" not in text
    assert len(receipt["spans"][0]["dropped_sha256"]) == 1
    assert check_receipt(receipt, KEYS, now=NOW, snapshot=taken(), post_text=POST).result is Result.HOLDS


def test_hostile_labels_are_signed_as_they_can_be_written() -> None:
    """A lone surrogate of a session becomes a question mark; an event id is refused, since it identifies."""
    receipt = make_receipt(audit(taken(), POST), Occasion(compactor="a\ud800b"), KEY, now=NOW)
    assert receipt["compactor"] == "a?b"
    with pytest.raises(UsageError) as seen:
        make_receipt(audit(taken("evt\ud800"), POST), OCCASION, KEY, now=NOW)
    assert seen.value.code == "EVENT_NOT_UTF8"

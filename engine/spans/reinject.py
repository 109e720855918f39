"""How do damaged pins come back into a text, word for word?

Only against the verified receipt of this event, these pins and this text (product document on the loss audit, "The
flow", step 4). What comes back is the operator's own pinned text in one framed block at the end, nothing else: spans
that a tool, a page or the model wrote are withheld, since a block would give them a place of honour. That a text holds
the block does not prove that a model will heed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from engine.errors import RefusedError
from engine.findings import Finding, Result
from engine.signing.envelope import KeySource
from engine.spans.block import Entry, append_block, split_block
from engine.spans.classify import is_trusted
from engine.spans.judge import Verdict
from engine.spans.receipt import RECEIPT_OTHER_TEXT, RECEIPT_SHAPE, audited_text, belongs, check_receipt
from engine.spans.snapshot import Pin, Snapshot


class Status(StrEnum):
    """Whether the run may go on."""

    OK = "OK"
    HALT = "HALT"


@dataclass(frozen=True, slots=True)
class Reinjected:
    """The answer: with HALT `text` is the text given and `halting` names the critical pins that are damaged.

    `restored` are the pins in the block, `withheld` those not put in because of who wrote them. `torn` says that the
    text given holds something that begins like a block and is none.
    """

    status: Status
    text: str
    restored: tuple[str, ...] = ()
    halting: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    torn: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "status": self.status.value,
            "text": self.text,
            "restored": list(self.restored),
            "halting": list(self.halting),
            "withheld": list(self.withheld),
            "torn": self.torn,
        }


def reinject(
    post_text: str,
    receipt: bytes | Mapping[str, Any],
    *,
    allow: bool,
    snapshot: Snapshot,
    keys: KeySource,
    now: datetime,
) -> Reinjected:
    """Put the block of every DEGRADED or LOST pin of the receipt at the end of the text it was issued for.

    Doing it twice is doing it once: a whole block is taken off first. With `allow=False` a damaged critical pin answers
    HALT. Raises `RefusedError` with the code of what the receipt lacks; the text is then to be left as it is.
    """
    body = _receipt(receipt, post_text, snapshot, keys, now)
    damaged = _damaged(body, snapshot)
    split = split_block(post_text)
    halting = tuple(pin.id for pin, _ in damaged if pin.critical)
    if halting and not allow:
        return Reinjected(Status.HALT, post_text, halting=halting, torn=split.torn)
    entries = [
        Entry(pin.id, pin.cls, pin.critical, verdict, pin.text) for pin, verdict in damaged if is_trusted(pin.role)
    ]
    withheld = tuple(pin.id for pin, _ in damaged if not is_trusted(pin.role))
    bare = audited_text(body, post_text)
    if bare is None:
        raise _refusal(Finding(RECEIPT_OTHER_TEXT))
    text = append_block(bare, entries) if entries else bare
    return Reinjected(Status.OK, text, tuple(each.id for each in entries), withheld=withheld, torn=split.torn)


def _receipt(
    receipt: bytes | Mapping[str, Any], post_text: str, snapshot: Snapshot, keys: KeySource, now: datetime
) -> Mapping[str, Any]:
    """Return the verified body, or raise; the verdicts are the receipt's and are not judged again here."""
    checked = check_receipt(receipt, keys, now=now)
    if checked.result not in {Result.BOUNDED, Result.HOLDS} or checked.body is None:
        raise _refusal(checked.findings[0])
    if other := belongs(checked.body, snapshot, post_text):
        raise _refusal(other)
    return checked.body


def _damaged(body: Mapping[str, Any], snapshot: Snapshot) -> list[tuple[Pin, Verdict]]:
    """Return the damaged pins in the order of the snapshot; raises for a receipt that names others than its own."""
    verdicts = {each["id"]: Verdict(each["verdict"]) for each in body["spans"]}
    pins = {pin.id: pin for pin in snapshot.judged()}
    if set(verdicts) != set(pins):
        raise _refusal(Finding(RECEIPT_SHAPE))
    return [(pin, verdicts[pin.id]) for pin in pins.values() if verdicts[pin.id] is not Verdict.PRESERVED]


def _refusal(finding: Finding) -> RefusedError:
    sentence = finding.code.sentence
    return RefusedError(
        finding.code.name,
        sentence[0].lower() + sentence[1:].rstrip("."),
        where="receipt",
        hint=finding.code.hint or "audit this text again and use the receipt of that audit",
    )

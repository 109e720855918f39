"""What can the screen change?

The only changes: keeping an uploaded file in the workspace, pins and marks, and a key to sign with. Audited files are
never written to. An upload is kept under its digest and a cleaned name; the name a browser sends proves nothing. Every
change but an upload is a row of the workspace's record.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from engine.clock import utc_now
from engine.control.custody import RecordedKeys
from engine.control.ledger import Act, ControlLedger
from engine.signing.envelope import canonical
from engine.spans.audit import Audit, SpanAudit
from engine.spans.marks import Mark, SpanPlace, mark, unmark
from engine.spans.pinfile import PinStore
from engine.spans.receipt import Occasion, make_receipt
from engine.storage.files import atomic_write

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARACTERS = 80
LISTED = 40
"""Ids of pins named in one row of the record; the row counts the others."""


def keep_upload(folder: Path, name: str, data: bytes) -> Path:
    """Keep the bytes of an upload and return where; equal bytes under an equal name are kept once.

    Raises `NotStoredError` when the disk is full or the folder cannot be written; then nothing was kept.
    """
    plain = _NOT_PLAIN.sub("-", Path(name).name)[-_NAME_CHARACTERS:].lstrip(".-") or "upload"
    place = folder / hashlib.sha256(data).hexdigest()[:16] / plain
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(place, data)
    return place


def pin_texts(workspace: Path, store: PinStore, texts: list[str]) -> int:
    """Pin texts by hand and return how many; raises `RefusedError` for one that cannot be pinned, then none is."""
    made = store.hold(texts)
    listed = ",".join(each.id for each in made[:LISTED])
    _record(workspace, Act.PIN, {"pins": listed, "count": str(len(made))})
    return len(made)


def leave_out(workspace: Path, store: PinStore, pin: str) -> None:
    """Leave a pin out of the audits of this workspace."""
    store.leave_out([pin])
    _record(workspace, Act.UNPIN, {"pins": pin, "count": "1"})


def put_back(workspace: Path, store: PinStore, pin: str) -> None:
    """Let a pin that was left out count again."""
    store.take_back(pin)
    _record(workspace, Act.PIN, {"pins": pin, "count": "1"})


def set_mark(workspace: Path, place: SpanPlace, audited: SpanAudit, name: str, reason: str) -> Mark:
    """Put a reviewer's mark beside a verdict; raises as `engine.spans.marks.mark`."""
    return mark(ControlLedger(workspace), place, audited, name=name, reason=reason, now=utc_now())


def take_mark_back(workspace: Path, place: SpanPlace, name: str, reason: str) -> None:
    """Take a mark back; raises as `engine.spans.marks.unmark`."""
    unmark(ControlLedger(workspace), place, name=name, reason=reason, now=utc_now())


def make_key(workspace: Path, passphrase: str) -> None:
    """Make the key of this workspace, encrypted when a passphrase is given."""
    RecordedKeys(workspace).init("this workspace", utc_now(), passphrase or None)


def sign_receipt(workspace: Path, audited: Audit, occasion: Occasion, passphrase: str, *, texts: bool) -> bytes:
    """Sign what an audit found and return the receipt as it is stored; the key is held no longer than this call."""
    key = RecordedKeys(workspace).custody.signer(passphrase or None)
    return canonical(make_receipt(audited, occasion, key, now=utc_now(), texts=texts)) + b"\n"


def _record(workspace: Path, act: Act, subject: dict[str, str]) -> None:
    ControlLedger(workspace).record(act, actor="dashboard", subject=subject, now=utc_now())

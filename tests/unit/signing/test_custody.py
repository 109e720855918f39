"""The keys of a workspace: made, rotated, taken back, and never rolled back unnoticed."""

from __future__ import annotations

import errno
import json
import shutil
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.errors import BusyError, CannotLookError, RefusedError, WinnowError
from engine.findings import Result
from engine.signing.custody import Custody
from engine.signing.envelope import canonical, check, sign
from engine.signing.keyring import Keyring, Seen, next_version, read_keyring
from engine.signing.keys import PrivateKey, PublicKey
from engine.signing.purpose import Purpose
from engine.storage.failpoints import listening
from engine.storage.outcome import NotStoredError, OutcomeUnknownError
from tests.support.faults import FailAt

NOW = datetime(2026, 6, 1, 12, 0, 0, 700_000, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def custody(tmp_path: Path) -> Custody:
    """Return a workspace with one key."""
    made = Custody(tmp_path)
    made.init("tess", NOW)
    return made


def receipt(key: PrivateKey, now: datetime) -> dict[str, Any]:
    """Sign something as a receipt."""
    return sign({"n": 1}, Purpose.RECEIPT, key, now=now, valid_for=30 * DAY)


def answer(custody: Custody, made: dict[str, Any], now: datetime) -> tuple[str, ...]:
    """Return the codes of a check against the keyring on disk."""
    return check(made, Purpose.RECEIPT, custody.keyring(), now=now).codes


def test_a_new_workspace_has_one_key_for_its_owner_alone(custody: Custody) -> None:
    """Keyring, key file and memory agree; nothing secret is published."""
    ring = custody.keyring()
    key = custody.signer()
    assert (ring.version, ring.current.key, ring.retired) == (1, key.public, ())
    assert custody.folder.stat().st_mode & 0o777 == 0o700
    assert json.loads(custody.seen_path.read_text()) == {"version": 1, "sha256": ring.sha256}
    assert key.seed.hex() not in json.dumps(ring.published()) + custody.ring_path.read_text()
    assert answer(custody, receipt(key, NOW), NOW) == ()
    with pytest.raises(RefusedError) as seen:
        custody.init("again", NOW)
    assert (seen.value.code, custody.keyring()) == ("KEYRING_EXISTS", ring)


def test_rotation_keeps_older_receipts_in_their_window(custody: Custody) -> None:
    """What the old key signed before holds until it expires; what it signs afterwards does not."""
    old = custody.signer()
    before = receipt(old, NOW)
    custody.rotate(NOW + DAY)
    fresh = custody.signer()
    assert fresh != old
    assert answer(custody, before, NOW + DAY) == ()
    assert answer(custody, before, NOW + 30 * DAY) == ("STATEMENT_EXPIRED",)
    assert answer(custody, receipt(old, NOW + 2 * DAY), NOW + 2 * DAY) == ("KEY_OUT_OF_WINDOW",)
    assert answer(custody, receipt(fresh, NOW), NOW + DAY) == ("KEY_OUT_OF_WINDOW",)
    assert answer(custody, receipt(fresh, NOW + DAY), NOW + DAY) == ()
    assert [entry.state for entry in custody.keyring().entries.values()] == ["retired", "current"]
    with pytest.raises(RefusedError) as seen:
        next_version(custody.keyring(), custody.keyring().entries.values(), old, NOW + 2 * DAY)
    assert seen.value.code == "KEY_NOT_CURRENT"


def test_each_receipt_of_a_rotation_in_the_same_second_holds(custody: Custody) -> None:
    """Signing just before and just after a rotation both count, whatever the fraction of the second."""
    old = custody.signer()
    custody.rotate(NOW + timedelta(milliseconds=100))
    for key in (old, custody.signer()):
        assert answer(custody, receipt(key, NOW + timedelta(milliseconds=50)), NOW + DAY) == ()


def test_a_revoked_key_counts_for_nothing(custody: Custody) -> None:
    """Its receipts are no pass and no accusation; the key in use cannot be revoked."""
    old = custody.signer()
    made = receipt(old, NOW)
    with pytest.raises(RefusedError) as seen:
        custody.revoke(old.public.id, NOW)
    assert seen.value.code == "KEY_IN_USE"
    custody.rotate(NOW + DAY)
    custody.revoke(old.public.id, NOW + DAY)
    checked = check(made, Purpose.RECEIPT, custody.keyring(), now=NOW + DAY)
    assert (checked.codes, checked.result) == (("KEY_REVOKED",), Result.COULD_NOT_LOOK)
    with pytest.raises(RefusedError) as unknown:
        custody.revoke("0" * 64, NOW)
    assert unknown.value.code == "KEY_UNKNOWN"


def test_anothers_key_is_trusted_for_what_it_was_added_for(custody: Custody) -> None:
    """A reader adds the key of another and nothing more; it can never sign a keyring."""
    other = PrivateKey.generate()
    made = receipt(other, NOW + DAY)
    assert answer(custody, made, NOW + DAY) == ("KEY_UNKNOWN",)
    custody.trust(other.public, "mira", [Purpose.APPROVAL], NOW)
    assert answer(custody, made, NOW + DAY) == ("KEY_PURPOSE_WRONG",)
    assert [entry.name for entry in custody.keyring().approvers()] == ["mira"]
    for purposes, code in (([Purpose.RECEIPT], "KEY_KNOWN"), ([], "PURPOSE_NOT_GRANTED")):
        with pytest.raises(RefusedError) as seen:
            custody.trust(other.public, "mira", purposes, NOW)
        assert seen.value.code == code
    with pytest.raises(RefusedError) as keyring:
        custody.trust(PrivateKey.generate().public, "eve", [Purpose.KEYRING], NOW)
    assert keyring.value.code == "PURPOSE_NOT_GRANTED"
    for name in ("", " ", "x" * 81, "a\nb", "a\u202eb"):
        with pytest.raises(RefusedError) as named:
            custody.trust(PrivateKey.generate().public, name, [Purpose.RECEIPT], NOW)
        assert named.value.code == "KEY_NAME"


def test_a_keyring_rolled_back_is_refused(custody: Custody) -> None:
    """An older file, another file of the same version, and a missing one each have their code."""
    first = custody.ring_path.read_bytes()
    custody.rotate(NOW + DAY)
    second = custody.ring_path.read_bytes()
    custody.ring_path.write_bytes(first)
    with pytest.raises(RefusedError) as older:
        custody.keyring()
    assert (older.value.code, "version 2 was seen" in older.value.message) == ("KEYRING_ROLLED_BACK", True)
    stranger = Custody(custody.workspace / "other")
    stranger.init("eve", NOW)
    stranger.rotate(NOW + DAY)
    shutil.copy(stranger.ring_path, custody.ring_path)
    with pytest.raises(RefusedError) as replaced:
        custody.keyring()
    assert replaced.value.code == "KEYRING_REPLACED"
    custody.ring_path.unlink()
    with pytest.raises(CannotLookError) as missing:
        custody.keyring()
    assert missing.value.code == "KEYRING_MISSING"
    custody.ring_path.write_bytes(second)
    assert custody.keyring().version == 2


def test_another_record_of_the_version_counts_as_well(custody: Custody) -> None:
    """When the memory beside the keyring is rolled back with it, the control ledger still knows."""
    first, memory = custody.ring_path.read_bytes(), custody.seen_path.read_bytes()
    ring = custody.rotate(NOW + DAY)
    custody.ring_path.write_bytes(first)
    custody.seen_path.write_bytes(memory)
    assert custody.keyring().version == 1
    with pytest.raises(RefusedError) as seen:
        Custody(custody.workspace, (Seen(ring.version, ring.sha256),)).keyring()
    assert seen.value.code == "KEYRING_ROLLED_BACK"
    custody.ring_path.unlink()
    custody.seen_path.unlink()
    with pytest.raises(CannotLookError) as missing:
        Custody(custody.workspace, (Seen(ring.version, ring.sha256),)).keyring()
    assert missing.value.code == "KEYRING_MISSING"


def test_a_workspace_without_keys_says_so(tmp_path: Path) -> None:
    """There is a difference between never and no more."""
    with pytest.raises(CannotLookError) as seen:
        Custody(tmp_path).keyring()
    assert (seen.value.code, "winnow keys init" in seen.value.hint) == ("NO_KEYRING", True)
    (tmp_path / "keyring.seen").write_text("x")
    with pytest.raises(CannotLookError) as unreadable:
        Custody(tmp_path).keyring()
    assert unreadable.value.code == "KEYRING_SEEN_UNREADABLE"
    (tmp_path / "keyring.seen").unlink()
    (tmp_path / "keys" / "keyring.jsonl").mkdir(parents=True)
    with pytest.raises(CannotLookError) as folder:
        Custody(tmp_path).keyring()
    assert folder.value.code == "KEYRING_UNREADABLE"


def test_every_flipped_bit_of_a_keyring_is_refused(custody: Custody) -> None:
    """Every bit of a keyring of three versions counts: it is refused as damaged or as another than the one seen."""
    custody.rotate(NOW + DAY)
    custody.trust(PrivateKey(bytes(range(32))).public, "mira", [Purpose.APPROVAL], NOW + DAY)
    data = custody.ring_path.read_bytes()
    codes: dict[str, int] = {}
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << (at % 8)
        with pytest.raises(RefusedError) as seen:
            read_keyring(bytes(changed))
        codes[seen.value.code] = codes.get(seen.value.code, 0) + 1
    assert codes == {"KEYRING_DAMAGED": len(data)}


def rewritten(ring: Keyring, key: PrivateKey, **changed: Any) -> bytes:
    """Return a keyring with a further version that its own key signed, changed at will."""
    body = json.loads(ring.data.splitlines()[-1])
    for name in ("purpose", "key_id", "issued_at", "valid_until", "signature"):
        del body[name]
    whole = {**body, "version": ring.version + 1, "previous": ring.sha256, **changed}
    return ring.data + canonical(sign(whole, Purpose.KEYRING, key, now=NOW + DAY)) + b"\n"


def test_a_signed_keyring_of_another_shape_is_refused(custody: Custody) -> None:
    """Even the holder of the key cannot make a version that skips, repeats, or lists a key that means nothing."""
    ring, key = custody.keyring(), custody.signer()
    own = json.loads(ring.data)["keys"][0]
    weak = {**own, "own": False, "public": "00" * 32, "key_id": PublicKey("00" * 32).id}
    changes: list[dict[str, Any]] = [
        {"version": 3},
        {"version": 1},
        {"previous": "0" * 64},
        {"schema": "winnow-keyring/2"},
        {"keys": []},
        {"keys": {}},
        {"keys": [own, own]},
        {"keys": [own, weak]},
        {"keys": [own, {**own, "own": False}]},
        {"keys": [{**own, "more": 1}]},
        {"keys": [{**own, "purposes": ["receipt", "receipt"]}]},
        {"keys": [{**own, "purposes": ["all"]}]},
        {"keys": [{**own, "not_before": None}]},
        {"keys": [{**own, "not_after": "tomorrow"}]},
        {"keys": [{**own, "key_id": "0" * 64}]},
    ]
    assert read_keyring(rewritten(ring, key)).version == 2
    for change in changes:
        with pytest.raises(RefusedError) as seen:
            read_keyring(rewritten(ring, key, **change))
        assert (seen.value.code, seen.value.where) == ("KEYRING_DAMAGED", "line 2"), change
    with pytest.raises(RefusedError):
        read_keyring(rewritten(ring, PrivateKey.generate()))
    for data in (b"", b"\n", ring.data[:-1], ring.data + b"\n", ring.data + b"{}\n", b"\xff\n"):
        with pytest.raises(RefusedError):
            read_keyring(data)


def test_rotations_at_once_leave_one_winner_each(custody: Custody) -> None:
    """Of eight that saw the same version one rotates; the others are refused and change nothing."""
    for _ in range(5):
        version = custody.keyring().version
        outcomes: list[str] = []

        def rotate(expect: int, seen: list[str]) -> None:
            try:
                custody.rotate(NOW + DAY, expect=expect)
                seen.append("rotated")
            except (RefusedError, BusyError) as error:
                seen.append(error.code)

        threads = [threading.Thread(target=rotate, args=(version, outcomes)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["KEYRING_CHANGED"] * 7 + ["rotated"]
        assert custody.keyring().version == version + 1
    assert len(list(custody.folder.glob("*.key"))) == custody.keyring().version


STEPS = ["key.open", "key.write", "key.sync", "key.link", "key.sync_folder", "replace.open", "replace.write"]
LATER = ["replace.sync", "replace.rename", "replace.sync_folder"]


@pytest.mark.parametrize("step", [*STEPS, *LATER])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_disk_that_fails_leaves_the_keys_as_before_or_as_after(custody: Custody, step: str, nth: int) -> None:
    """Whatever step of a rotation fails, the keyring verifies, its key is there, and rotating works again."""
    before = custody.keyring()
    fault = FailAt(step, errno.EIO, nth=nth)
    fails = fault_fires(step, nth)
    with listening(fault):
        if fails:
            with pytest.raises((NotStoredError, OutcomeUnknownError)):
                custody.rotate(NOW + DAY)
        else:
            custody.rotate(NOW + DAY)
    assert fault.fired == int(fails)
    ring = custody.keyring()
    assert ring.version in {before.version, before.version + 1}
    assert custody.signer().public == ring.current.key
    assert custody.rotate(NOW + DAY).version == ring.version + 1


def fault_fires(step: str, nth: int) -> bool:
    """Tell whether a rotation comes to this step: it writes one key file, then keyring and memory."""
    return nth == 1 or step.startswith("replace.")


def test_a_passphrase_is_asked_for_by_every_change(tmp_path: Path) -> None:
    """Without it nothing is signed and nothing changes."""
    custody = Custody(tmp_path)
    custody.init("tess", NOW, "first passphrase")
    assert custody.is_locked()
    ring = custody.keyring()
    changes = (
        lambda: custody.rotate(NOW),
        lambda: custody.trust(PrivateKey.generate().public, "mira", [Purpose.RECEIPT], NOW),
        custody.signer,
    )
    for change in changes:
        with pytest.raises(WinnowError) as seen:
            change()
        assert seen.value.code == "PASSPHRASE_NEEDED"
    assert custody.keyring() == ring
    custody.rotate(NOW, "first passphrase", "second passphrase")
    assert custody.signer("second passphrase").public == custody.keyring().current.key

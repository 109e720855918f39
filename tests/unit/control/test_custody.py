"""Changes of the keys stand on the record, and the record remembers the version."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.control.custody import RecordedKeys
from engine.control.ledger import Act
from engine.errors import RefusedError
from engine.signing.keys import PrivateKey
from engine.signing.purpose import Purpose

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_each_change_is_a_row_with_version_and_key(tmp_path: Path) -> None:
    """Init, rotate, trust, revoke: the rows name what the keyring then was."""
    held = RecordedKeys(tmp_path)
    first = held.init("tess", NOW).current.key
    second = held.rotate(NOW, expect=1).current.key
    other = PrivateKey.generate().public
    held.trust(other, "mira", [Purpose.APPROVAL], NOW)
    ring = held.revoke(first.id, NOW)
    rows = held.control.rows()
    assert [(row.act, row.object["version"], row.object["key_id"]) for row in rows] == [
        (Act.KEY_INIT, 1, first.id),
        (Act.KEY_ROTATE, 2, second.id),
        (Act.KEY_TRUST, 3, other.id),
        (Act.KEY_REVOKE, 4, first.id),
    ]
    assert rows[-1].object["sha256"] == ring.sha256
    assert (rows[2].object["name"], rows[2].object["purposes"]) == ("mira", ["approval"])


def test_a_keyring_rolled_back_with_its_memory_is_still_refused(tmp_path: Path) -> None:
    """The record knows the version, as long as it is not rolled back too."""
    held = RecordedKeys(tmp_path)
    held.init("tess", NOW)
    older = {path: path.read_bytes() for path in (held.custody.ring_path, held.custody.seen_path)}
    held.rotate(NOW)
    for path, data in older.items():
        path.write_bytes(data)
    with pytest.raises(RefusedError) as seen:
        held.keyring()
    assert seen.value.code == "KEYRING_ROLLED_BACK"
    with pytest.raises(RefusedError):
        held.rotate(NOW)

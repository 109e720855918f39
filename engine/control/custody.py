"""How are the workspace's keys changed on the record?

Each change of the keyring is an act with a row, and the rows are a second memory of the version that was seen last: a
keyring rolled back together with the memory beside it is still refused while the record stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.control.ledger import Act, ControlLedger
from engine.signing.custody import Custody
from engine.signing.keyring import Keyring, Seen
from engine.signing.keys import PublicKey
from engine.signing.purpose import Purpose

KEY_ACTS = (Act.KEY_INIT, Act.KEY_ROTATE, Act.KEY_TRUST, Act.KEY_REVOKE)


@dataclass(frozen=True, slots=True)
class RecordedKeys:
    """The keys of one workspace folder, with every change on its record. Raises as `Custody` and `ControlLedger`."""

    workspace: Path

    @property
    def control(self) -> ControlLedger:
        """Return the record."""
        return ControlLedger(self.workspace)

    @property
    def custody(self) -> Custody:
        """Return the keys, with what the record has seen of them."""
        rows = self.control.rows(KEY_ACTS)
        if not rows:
            return Custody(self.workspace)
        last = rows[-1].object
        return Custody(self.workspace, (Seen(int(last["version"]), str(last["sha256"])),))

    def keyring(self) -> Keyring:
        """Return the verified keyring."""
        return self.custody.keyring()

    def init(self, name: str, now: datetime, passphrase: str | None = None) -> Keyring:
        """Make the first key."""
        ring = self.custody.init(name, now, passphrase)
        return self._record(Act.KEY_INIT, ring, ring.current.key, now)

    def rotate(
        self,
        now: datetime,
        passphrase: str | None = None,
        fresh_passphrase: str | None = None,
        *,
        expect: int | None = None,
    ) -> Keyring:
        """Retire the key in use and begin another."""
        ring = self.custody.rotate(now, passphrase, fresh_passphrase, expect=expect)
        return self._record(Act.KEY_ROTATE, ring, ring.current.key, now)

    def trust(
        self, key: PublicKey, name: str, purposes: Iterable[Purpose], now: datetime, passphrase: str | None = None
    ) -> Keyring:
        """Add another's public key."""
        ring = self.custody.trust(key, name, purposes, now, passphrase)
        return self._record(Act.KEY_TRUST, ring, key, now)

    def revoke(self, key_id: str, now: datetime, passphrase: str | None = None) -> Keyring:
        """Take a key back."""
        ring = self.custody.revoke(key_id, now, passphrase)
        return self._record(Act.KEY_REVOKE, ring, ring.entries[key_id].key, now)

    def _record(self, act: Act, ring: Keyring, key: PublicKey, now: datetime) -> Keyring:
        entry = ring.entries[key.id]
        subject = {
            "version": ring.version,
            "sha256": ring.sha256,
            "key_id": key.id,
            "name": entry.name,
            "purposes": sorted(purpose.value for purpose in entry.purposes),
        }
        self.control.record(act, actor=ring.current.name, subject=subject, now=now)
        return ring

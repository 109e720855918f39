"""Where do the keys of a workspace lie, and how are they made, changed and taken back?

`<workspace>/keys/` holds the keyring and the private key files; `<workspace>/keyring.seen`, outside that folder, what
was seen last. A change writes the new private key first, then the keyring in one step, then the memory: after a crash
between two steps the workspace is as before, or as after.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.errors import CannotLookError, RefusedError
from engine.lines.strict import parse_exact
from engine.signing import keyring as rings
from engine.signing.keyfile import FOLDER_MODE, load_key, needs_passphrase, save_key
from engine.signing.keyring import Keyring, Seen
from engine.signing.keys import PrivateKey, PublicKey
from engine.signing.purpose import Purpose
from engine.storage.files import LOCK_SUFFIX, FileLock, atomic_write

_ID_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Custody:
    """The keys of one workspace folder; `memories` are versions that other records have seen (the control ledger)."""

    workspace: Path
    memories: tuple[Seen, ...] = ()

    @property
    def folder(self) -> Path:
        """Return the folder of the keys."""
        return self.workspace / "keys"

    @property
    def ring_path(self) -> Path:
        """Return where the keyring lies."""
        return self.folder / "keyring.jsonl"

    @property
    def seen_path(self) -> Path:
        """Return where it is remembered which version was seen last."""
        return self.workspace / "keyring.seen"

    def key_path(self, key_id: str) -> Path:
        """Return where the private half of a key lies."""
        return self.folder / f"{key_id[:_ID_DIGITS]}.key"

    def exists(self) -> bool:
        """Say whether there is, or was, a keyring."""
        return self.ring_path.exists() or self.seen_path.exists() or bool(self.memories)

    def keyring(self) -> Keyring:
        """Read and verify the keyring, hold it against what was seen, and remember it.

        Raises `CannotLookError` (NO_KEYRING: there never was one; KEYRING_MISSING: there was; KEYRING_UNREADABLE) and
        `RefusedError` as `read_keyring`.
        """
        seen = self._seen()
        try:
            data = self.ring_path.read_bytes()
        except FileNotFoundError as error:
            if seen or self.memories:
                hint = "put the keyring back; receipts cannot be checked without it"
                where = str(self.ring_path)
                raise CannotLookError("KEYRING_MISSING", "the keyring is gone", where=where, hint=hint) from error
            hint = "make a key with: winnow keys init"
            raise CannotLookError(
                "NO_KEYRING", "this workspace has no keys", where=str(self.folder), hint=hint
            ) from error
        except OSError as error:
            raise CannotLookError(
                "KEYRING_UNREADABLE", error.strerror or str(error), where=str(self.ring_path)
            ) from error
        ring = rings.read_keyring(data, (*seen, *self.memories))
        if ring.seen not in seen:
            self._remember(ring)
        return ring

    def _seen(self) -> tuple[Seen, ...]:
        try:
            value = parse_exact(self.seen_path.read_text("utf-8")).value
            return (Seen(int(value["version"]), str(value["sha256"])),)
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError, ValueError, TypeError, KeyError) as error:
            hint = "compare the keyring with a copy you trust, then remove the file"
            raise CannotLookError(
                "KEYRING_SEEN_UNREADABLE", "what was seen last cannot be read", where=str(self.seen_path), hint=hint
            ) from error

    def _remember(self, ring: Keyring) -> None:
        text = json.dumps({"version": ring.version, "sha256": ring.sha256}) + "\n"
        atomic_write(self.seen_path, text.encode("ascii"))

    def signer(self, passphrase: str | None = None) -> PrivateKey:
        """Return the private key in use; raises as `keyring` and `load_key`."""
        return load_key(self.key_path(self.keyring().current.key.id), passphrase)

    def is_locked(self) -> bool:
        """Say whether the key in use needs a passphrase; raises as `keyring` and `load_key`."""
        return needs_passphrase(self.key_path(self.keyring().current.key.id))

    def init(self, name: str, now: datetime, passphrase: str | None = None) -> Keyring:
        """Make the first key and keyring; raises `RefusedError` (KEYRING_EXISTS) when there is or was one."""
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(exist_ok=True, mode=FOLDER_MODE)
        with self._lock():
            if self.exists():
                hint = "use winnow keys rotate for a new key"
                raise RefusedError("KEYRING_EXISTS", "this workspace has keys", where=str(self.folder), hint=hint)
            key = PrivateKey.generate()
            ring = rings.first_version(key, name, now)
            save_key(self.key_path(key.public.id), key, passphrase)
            return self._store(ring)

    def rotate(
        self,
        now: datetime,
        passphrase: str | None = None,
        fresh_passphrase: str | None = None,
        *,
        expect: int | None = None,
    ) -> Keyring:
        """Retire the key in use and begin a new one; what the old one signed keeps verifying in its window.

        With `expect`, the version the caller saw, a keyring changed meanwhile is refused (KEYRING_CHANGED).
        """
        with self._lock():
            ring = self.keyring()
            if expect is not None and ring.version != expect:
                raise RefusedError("KEYRING_CHANGED", "the keyring was changed meanwhile; nothing was done")
            key = load_key(self.key_path(ring.current.key.id), passphrase)
            fresh = PrivateKey.generate()
            entries = rings.rotated(ring, fresh.public, ring.current.name, now)
            changed = rings.next_version(ring, entries, key, now)
            save_key(self.key_path(fresh.public.id), fresh, fresh_passphrase)
            return self._store(changed)

    def trust(
        self, key: PublicKey, name: str, purposes: Iterable[Purpose], now: datetime, passphrase: str | None = None
    ) -> Keyring:
        """Add another's public key; raises as `with_entry`."""
        with self._lock():
            ring = self.keyring()
            signer = load_key(self.key_path(ring.current.key.id), passphrase)
            return self._store(rings.next_version(ring, rings.with_entry(ring, key, name, purposes, now), signer, now))

    def revoke(self, key_id: str, now: datetime, passphrase: str | None = None) -> Keyring:
        """Take a key back: nothing it signed holds any more; raises as `revoked`."""
        with self._lock():
            ring = self.keyring()
            signer = load_key(self.key_path(ring.current.key.id), passphrase)
            return self._store(rings.next_version(ring, rings.revoked(ring, key_id, now), signer, now))

    def _store(self, ring: Keyring) -> Keyring:
        atomic_write(self.ring_path, ring.data)
        self._remember(ring)
        return ring

    def _lock(self) -> FileLock:
        return FileLock(self.ring_path.with_name(self.ring_path.name + LOCK_SUFFIX))

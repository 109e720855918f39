"""Which keys does this workspace trust, for what, from when until when?

The keyring is a file of signed versions, one a line: each names the digest of the line before and is signed by the key
that was current there, so a reader walks from the first version to the last. What was seen last is remembered outside
the file (`Seen`); an older or another keyring than the one seen is refused. Someone who rolls back every memory
together is not noticed, and the first version is trust on first use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from engine.clock import format_time, parse_time
from engine.errors import RefusedError
from engine.findings import Result
from engine.signing.envelope import canonical, check, read_statement, sign
from engine.signing.keys import PrivateKey, PublicKey
from engine.signing.purpose import Purpose

SCHEMA = "winnow-keyring/1"
MAX_BYTES = 4 * 1024 * 1024
MAX_NAME = 80
OWN_PURPOSES = frozenset({Purpose.RECEIPT, Purpose.SEGMENT, Purpose.KEYRING})
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Entry:
    """One known key. `not_before` is inclusive, `not_after` exclusive; None while it is in use."""

    key: PublicKey
    name: str
    purposes: frozenset[Purpose]
    own: bool
    not_before: datetime
    not_after: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def revoked(self) -> bool:
        """Whether its owner took it back: then nothing it signed counts."""
        return self.revoked_at is not None

    @property
    def state(self) -> str:
        """Return `current`, `retired` or `revoked`."""
        if self.revoked:
            return "revoked"
        return "current" if self.not_after is None else "retired"

    def as_json(self) -> dict[str, Any]:
        """Return the published form; it holds nothing secret."""
        return {
            "key_id": self.key.id,
            "public": self.key.hex,
            "name": self.name,
            "purposes": sorted(purpose.value for purpose in self.purposes),
            "own": self.own,
            "not_before": format_time(self.not_before),
            "not_after": None if self.not_after is None else format_time(self.not_after),
            "revoked_at": None if self.revoked_at is None else format_time(self.revoked_at),
        }


@dataclass(frozen=True, slots=True)
class Seen:
    """The version of the keyring that was seen last, and the digest of its line."""

    version: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Keyring:
    """The last version of a keyring, verified from the first; `data` is the whole file."""

    version: int
    sha256: str
    entries: Mapping[str, Entry]
    data: bytes

    def find(self, key_id: str) -> Entry | None:
        """Return the key of an id, whatever its state; the id must be the whole digest."""
        return self.entries.get(key_id)

    @property
    def seen(self) -> Seen:
        """Return what to remember of this version."""
        return Seen(self.version, self.sha256)

    @property
    def current(self) -> Entry:
        """Return the own key that signs now; raises `RefusedError` when it was revoked and none took its place."""
        for entry in self.entries.values():
            if entry.own and entry.state == "current":
                return entry
        raise RefusedError("NO_CURRENT_KEY", "no key of this workspace is in use", hint="winnow keys rotate")

    @property
    def retired(self) -> tuple[Entry, ...]:
        """Return the own keys that signed before."""
        return tuple(entry for entry in self.entries.values() if entry.own and entry.state != "current")

    def approvers(self) -> tuple[Entry, ...]:
        """Return the keys that may approve now, by name."""
        able = (each for each in self.entries.values() if Purpose.APPROVAL in each.purposes and each.state == "current")
        return tuple(sorted(able, key=lambda each: (each.name, each.key.id)))

    def published(self) -> dict[str, Any]:
        """Return the public keys that signed and sign receipts, for others to verify with."""
        own = [entry.as_json() for entry in self.entries.values() if entry.own]
        return {"schema": SCHEMA, "version": self.version, "keys": own}


class _Known:
    """The keys of the version before, for checking the next."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries

    def find(self, key_id: str) -> Entry | None:
        return self._entries.get(key_id)


def first_version(key: PrivateKey, name: str, now: datetime) -> Keyring:
    """Make the keyring of a new workspace, with one own key."""
    entry = Entry(key.public, _name(name), OWN_PURPOSES, own=True, not_before=_floor(now))
    return _write(b"", 1, "", [entry], key, now)


def next_version(keyring: Keyring, entries: Iterable[Entry], key: PrivateKey, now: datetime) -> Keyring:
    """Make the version after this one, signed by the key that is current in this one.

    Raises `RefusedError` when the key is another, so that a retired key cannot sign.
    """
    if key.public.id != keyring.current.key.id:
        raise RefusedError("KEY_NOT_CURRENT", "the key is not the one in use; nothing was changed")
    return _write(keyring.data, keyring.version + 1, keyring.sha256, list(entries), key, now)


def rotated(keyring: Keyring, fresh: PublicKey, name: str, now: datetime) -> list[Entry]:
    """Return the entries after a rotation: the current key retires, the new one begins."""
    old = keyring.current
    ended = Entry(old.key, old.name, old.purposes, own=True, not_before=old.not_before, not_after=_floor(now) + _SECOND)
    kept = [ended if entry is old else entry for entry in keyring.entries.values()]
    return [*kept, Entry(fresh, _name(name), OWN_PURPOSES, own=True, not_before=_floor(now))]


def with_entry(keyring: Keyring, key: PublicKey, name: str, purposes: Iterable[Purpose], now: datetime) -> list[Entry]:
    """Return the entries with another's key; raises `RefusedError` when it is known, or may sign as ourselves."""
    wanted = frozenset(purposes)
    if not wanted or Purpose.KEYRING in wanted:
        raise RefusedError(
            "PURPOSE_NOT_GRANTED", "another's key may sign receipts, segments or approvals, nothing else"
        )
    if keyring.find(key.id) is not None:
        raise RefusedError("KEY_KNOWN", "the keyring holds this key already", where=key.id)
    return [*keyring.entries.values(), Entry(key, _name(name), wanted, own=False, not_before=_floor(now))]


def revoked(keyring: Keyring, key_id: str, now: datetime) -> list[Entry]:
    """Return the entries with one key taken back; raises `RefusedError` for the key in use and for unknown ones."""
    entry = keyring.find(key_id)
    if entry is None:
        raise RefusedError("KEY_UNKNOWN", "the keyring holds no such key", where=key_id[:64], hint="winnow keys list")
    if entry is keyring.current:
        raise RefusedError("KEY_IN_USE", "the key in use cannot be revoked", hint="rotate first, then revoke it")
    changed = Entry(
        entry.key, entry.name, entry.purposes, entry.own, entry.not_before, entry.not_after, revoked_at=_floor(now)
    )
    return [changed if each is entry else each for each in keyring.entries.values()]


def read_keyring(data: bytes, seen: Iterable[Seen] = ()) -> Keyring:
    """Verify every version of a keyring file and hold it against what was seen before.

    Raises `RefusedError`: KEYRING_DAMAGED (line named), KEYRING_ROLLED_BACK, KEYRING_REPLACED.
    """
    if len(data) > MAX_BYTES or not data.endswith(b"\n"):
        raise _damaged(0, "it is no file of whole lines")
    entries: Mapping[str, Entry] = {}
    digests: list[str] = []
    issued = datetime.min.replace(tzinfo=UTC)
    for number, line in enumerate(data[:-1].split(b"\n"), start=1):
        body = _version(line, number, digests[-1] if digests else "", entries)
        fresh = _entries(body, number)
        moment = parse_time(body["issued_at"])
        if moment is None or moment < issued:
            raise _damaged(number, "it is older than the version before")
        issued, entries = moment, fresh
        digests.append(hashlib.sha256(line).hexdigest())
    for memory in seen:
        _hold_against(memory, digests)
    return Keyring(len(digests), digests[-1], MappingProxyType(dict(entries)), data)


def _version(line: bytes, number: int, previous: str, known: Mapping[str, Entry]) -> Mapping[str, Any]:
    statement = read_statement(line)
    if statement is None or statement.get("schema") != SCHEMA or canonical_or_none(statement) != line:
        raise _damaged(number, "it is no version of a keyring")
    if statement.get("version") != number or statement.get("previous") != previous:
        raise _damaged(number, "it does not follow the version before")
    keys = _Known(known if number > 1 else _entries(statement, number))
    moment = parse_time(str(statement.get("issued_at")))
    signer = keys.find(str(statement.get("key_id")))
    if moment is None or signer is None or signer.not_after is not None or not signer.own:
        raise _damaged(number, "it is not signed by the key that was in use")
    checked = check(statement, Purpose.KEYRING, keys, now=moment)
    if checked.result is not Result.HOLDS or checked.body is None:
        raise _damaged(number, checked.findings[0].code.sentence)
    return checked.body


def canonical_or_none(statement: Mapping[str, Any]) -> bytes | None:
    """Return the canonical bytes; None when there are none."""
    try:
        return canonical(statement)
    except (ValueError, RecursionError):
        return None


def _hold_against(memory: Seen, digests: list[str]) -> None:
    if len(digests) < memory.version:
        raise RefusedError(
            "KEYRING_ROLLED_BACK",
            f"the keyring ends at version {len(digests)}, version {memory.version} was seen before",
            hint="put the newer keyring back; an older one would trust keys that were retired or revoked",
        )
    if digests[memory.version - 1] != memory.sha256:
        raise RefusedError(
            "KEYRING_REPLACED",
            f"version {memory.version} of the keyring is not the one that was seen before",
            hint="put the keyring back that belongs to this workspace",
        )


def _entries(body: Mapping[str, Any], number: int) -> dict[str, Entry]:
    """Read the keys of one version; every key is screened again."""
    listed = body.get("keys")
    if not isinstance(listed, list):
        raise _damaged(number, "it lists no keys")
    made: dict[str, Entry] = {}
    for each in listed:
        entry = _entry(each, number)
        if entry.key.id in made:
            raise _damaged(number, "it lists a key twice")
        made[entry.key.id] = entry
    if sum(entry.own and entry.state == "current" for entry in made.values()) != 1:
        raise _damaged(number, "not exactly one own key is in use")
    return made


def _entry(each: Any, number: int) -> Entry:
    try:
        key = PublicKey.from_hex(each["public"])
        if not isinstance(key, PublicKey):
            raise _damaged(number, key.sentence)
        begins, ends, taken_back = (_time(each[name]) for name in ("not_before", "not_after", "revoked_at"))
        purposes = frozenset(Purpose(purpose) for purpose in each["purposes"])
        if key.id != each["key_id"] or begins is None or not isinstance(each["own"], bool):
            raise _damaged(number, "a key is not the one it names")
        entry = Entry(key, _name(each["name"]), purposes, each["own"], begins, ends, taken_back)
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(number, "a key has another shape than a keyring's") from error
    if entry.as_json() != each:
        raise _damaged(number, "a key has another shape than a keyring's")
    return entry


def _time(text: object) -> datetime | None:
    if text is None:
        return None
    moment = parse_time(text) if isinstance(text, str) else None
    if moment is None:
        raise ValueError("no time")
    return moment


def _name(name: object) -> str:
    if not isinstance(name, str) or not 0 < len(name.strip()) <= MAX_NAME or not name.isprintable():
        raise RefusedError("KEY_NAME", f"a key has a printable name of 1 to {MAX_NAME} characters")
    return name.strip()


def _floor(now: datetime) -> datetime:
    return now.replace(microsecond=0)


def _damaged(line: int, why: str) -> RefusedError:
    return RefusedError(
        "KEYRING_DAMAGED",
        f"the keyring cannot be trusted: {why}",
        where=f"line {line}" if line else "",
        hint="put a copy of the keyring back, or make new keys and give out the new public key",
    )


def _write(before: bytes, version: int, previous: str, entries: list[Entry], key: PrivateKey, now: datetime) -> Keyring:
    body = {
        "schema": SCHEMA,
        "version": version,
        "previous": previous,
        "keys": [entry.as_json() for entry in entries],
    }
    line = canonical(sign(body, Purpose.KEYRING, key, now=now))
    return read_keyring(before + line + b"\n")

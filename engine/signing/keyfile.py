"""How does a private key lie on a disk?

One JSON file a key, readable by its owner only; a file that others can read is refused rather than used. Under a
passphrase the seed is encrypted (scrypt, RFC 7914, and ChaCha20-Poly1305, RFC 8439) and everything beside it is
authenticated. Whoever is root, or has the file and guesses the passphrase, has the key.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from engine.errors import CannotLookError, RefusedError, UsageError
from engine.lines.strict import parse_exact
from engine.signing.keys import KEY_BYTES, PrivateKey
from engine.signing.sealing import SCRYPT, open_sealed, seal_bytes
from engine.storage.failpoints import reach
from engine.storage.files import sync, sync_folder, write_some
from engine.storage.outcome import not_stored, outcome_unknown

SCHEMA = "winnow-key/1"
OWNER_ONLY = 0o600
FOLDER_MODE = 0o700
MIN_PASSPHRASE = 8
_MAX_BYTES = 4096


def save_key(path: Path, key: PrivateKey, passphrase: str | None = None) -> None:
    """Write a new key file, owner-only; never over another file.

    Raises `UsageError` for a passphrase under 8 characters, `RefusedError` when the file exists, `NotStoredError` when
    the disk fails; then nothing is left behind.
    """
    if passphrase is not None and len(passphrase) < MIN_PASSPHRASE:
        raise UsageError("PASSPHRASE_SHORT", f"a passphrase has at least {MIN_PASSPHRASE} characters")
    body: dict[str, Any] = {"schema": SCHEMA, "key_id": key.public.id, "public": key.public.hex}
    if passphrase is None:
        body["seed"] = key.seed.hex()
    else:
        body["sealed"] = seal_bytes(key.seed, passphrase, _context(body))
    path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    _write_new(path, (json.dumps(body, indent=1, sort_keys=True) + "\n").encode("ascii"))


def _write_new(path: Path, data: bytes) -> None:
    """Put the bytes under the name in one step: a name without its whole key never exists."""
    temporary = path.with_name(f".winnow-{secrets.token_hex(8)}.tmp")
    try:
        reach("key.open")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ONLY)
        try:
            left = memoryview(data)
            while left:
                left = left[write_some(descriptor, left, "key.write") :]
            sync(descriptor, "key.sync")
        finally:
            os.close(descriptor)
        reach("key.link")
        os.link(temporary, path)
    except FileExistsError as exc:
        raise RefusedError("KEY_EXISTS", "a key of this name exists; nothing was written", where=str(path)) from exc
    except OSError as exc:
        raise not_stored(str(path), exc) from exc
    finally:
        temporary.unlink(missing_ok=True)
    try:
        sync_folder(path.parent, "key.sync_folder")
    except OSError as exc:
        raise outcome_unknown(str(path), exc) from exc


def needs_passphrase(path: Path) -> bool:
    """Say whether a key file is encrypted; raises as `load_key` for a file that cannot be used."""
    return "sealed" in _read(path)


def load_key(path: Path, passphrase: str | None = None) -> PrivateKey:
    """Read a private key.

    Raises `CannotLookError` when the file cannot be read or is no key file, `RefusedError` when others can read it,
    when the passphrase is missing or wrong, or when the key is not the one that the file names.
    """
    body = _read(path)
    if "sealed" in body:
        if passphrase is None:
            raise RefusedError("PASSPHRASE_NEEDED", "the key is encrypted", where=str(path), hint="give its passphrase")
        seed = open_sealed(body["sealed"], passphrase, _context(body))
        if seed is None:
            hint = "try again; without its passphrase the key is lost"
            raise RefusedError("PASSPHRASE_WRONG", "the passphrase does not open the key", where=str(path), hint=hint)
    else:
        seed = _seed(body.get("seed"))
    if seed is None or len(seed) != KEY_BYTES:
        raise _no_key(path, "it holds no key of 32 bytes")
    key = PrivateKey(seed)
    if (key.public.id, key.public.hex) != (body.get("key_id"), body.get("public")):
        raise RefusedError("KEY_FILE_MIXED", "the key is not the one that the file names", where=str(path))
    return key


def _seed(text: object) -> bytes | None:
    try:
        return bytes.fromhex(text) if isinstance(text, str) and text == text.strip().lower() else None
    except ValueError:
        return None


def _context(body: dict[str, Any]) -> bytes:
    """Return what is authenticated beside the sealed seed."""
    return f"{SCHEMA}\n{body.get('key_id')}\n{body.get('public')}\n{SCRYPT.name}".encode("utf-8", "replace")


def _read(path: Path) -> dict[str, Any]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as exc:
        raise CannotLookError("NO_KEY_FILE", "there is no such key file", where=str(path)) from exc
    except OSError as exc:
        raise CannotLookError("KEY_FILE_UNREADABLE", exc.strerror or str(exc), where=str(path)) from exc
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise _no_key(path, "it is no regular file")
        if state.st_mode & 0o077 or state.st_uid != os.geteuid():
            raise _open_to_others(path, state.st_mode)
        data = os.read(descriptor, _MAX_BYTES + 1)
    except OSError as exc:
        raise CannotLookError("KEY_FILE_UNREADABLE", exc.strerror or str(exc), where=str(path)) from exc
    finally:
        os.close(descriptor)
    return _parsed(path, data)


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    try:
        parsed = parse_exact(data.decode("ascii"))
    except UnicodeDecodeError as exc:
        raise _no_key(path, "it is no ASCII text") from exc
    if len(data) > _MAX_BYTES or parsed.problem is not None or parsed.duplicates or not isinstance(parsed.value, dict):
        raise _no_key(path, "it is no JSON object of a key")
    body: dict[str, Any] = parsed.value
    if body.get("schema") != SCHEMA:
        raise _no_key(path, "it bears another schema")
    return body


def _open_to_others(path: Path, mode: int) -> RefusedError:
    message = f"others than its owner can reach the key (mode {mode & 0o777:o})"
    hint = "make it yours alone: chmod 600; if others may have read it, make a new key"
    return RefusedError("KEY_FILE_OPEN", message, where=str(path), hint=hint)


def _no_key(path: Path, why: str) -> CannotLookError:
    return CannotLookError("NOT_A_KEY_FILE", f"not a key file: {why}", where=str(path))

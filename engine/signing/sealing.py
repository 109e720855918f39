"""How are a few secret bytes kept under a passphrase?

scrypt (RFC 7914) stretches the passphrase, ChaCha20-Poly1305 (RFC 8439) encrypts and authenticates. The parameters
stand beside the bytes and are held to fixed bounds before any work, so that a hostile file cannot take the machine's
memory. A weak passphrase stays weak.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

_SALT_BYTES = 16
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class _Cost:
    """One accepted cost; 2^15 x 8 takes 32 MiB and about a tenth of a second."""

    name: str = "scrypt-32768-8-1+chacha20-poly1305"
    n: int = 2**15
    r: int = 8
    p: int = 1


SCRYPT = _Cost()


def _key(passphrase: str, salt: bytes) -> bytes:
    data = passphrase.encode("utf-8", "surrogatepass")
    return Scrypt(salt=salt, length=32, n=SCRYPT.n, r=SCRYPT.r, p=SCRYPT.p).derive(data)


def seal_bytes(secret: bytes, passphrase: str, context: bytes) -> dict[str, str]:
    """Encrypt a secret; `context` is authenticated with it and must be the same when opening."""
    salt, nonce = secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_NONCE_BYTES)
    data = ChaCha20Poly1305(_key(passphrase, salt)).encrypt(nonce, secret, context)
    return {"method": SCRYPT.name, "salt": salt.hex(), "nonce": nonce.hex(), "data": data.hex()}


def open_sealed(sealed: Any, passphrase: str, context: bytes) -> bytes | None:
    """Return the secret; None when the passphrase, the context or any byte is another one."""
    try:
        if sealed["method"] != SCRYPT.name:
            return None
        salt, nonce, data = (bytes.fromhex(sealed[part]) for part in ("salt", "nonce", "data"))
        return ChaCha20Poly1305(_key(passphrase, salt)).decrypt(nonce, data, context)
    except (InvalidTag, KeyError, TypeError, ValueError):
        return None

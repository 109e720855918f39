"""Is this an Ed25519 key that can be trusted to mean anything, and does this signature belong to it?

The only importer of `cryptography`. Verification there accepts keys of low order, under which anybody can make a
signature over any text, so every public key is screened when it is made: 32 bytes, canonical, on the curve, not of low
order (RFC 8032 section 5.1; the survey of edge cases in Chalkias et al., "Taming the many EdDSAs", 2020). A signature
that verifies proves that the holder of the private key signed these bytes, not who that is nor when it was.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from engine.findings import Code, Severity

KEY_BYTES = 32
SIGNATURE_BYTES = 64

KEY_MALFORMED = Code("KEY_MALFORMED", Severity.BREAK, "The public key is not 64 small hexadecimal digits.")
KEY_NON_CANONICAL = Code(
    "KEY_NON_CANONICAL", Severity.BREAK, "The public key is a second spelling of another one (not reduced)."
)
KEY_LOW_ORDER = Code(
    "KEY_LOW_ORDER", Severity.BREAK, "Under this public key anybody can make valid signatures (low order)."
)
KEY_NOT_A_POINT = Code("KEY_NOT_A_POINT", Severity.BREAK, "The public key is no point of the curve.")

_PRIME = 2**255 - 19
_D = -121665 * pow(121666, _PRIME - 2, _PRIME) % _PRIME
_ORDER_EIGHT = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_LOW_ORDER_Y = frozenset({0, 1, _PRIME - 1, _ORDER_EIGHT, _PRIME - _ORDER_EIGHT})
"""The y of all eight points whose order divides 8."""
_HEX_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII)
_HEX_SIGNATURE = re.compile(r"[0-9a-f]{128}", re.ASCII)


def screen(raw: bytes) -> Code | None:
    """Return why 32 bytes cannot be trusted as a public key; None when they can."""
    if len(raw) != KEY_BYTES:
        return KEY_MALFORMED
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if y >= _PRIME:
        return KEY_LOW_ORDER if y - _PRIME in _LOW_ORDER_Y else KEY_NON_CANONICAL
    if y in _LOW_ORDER_Y:
        return KEY_LOW_ORDER
    square = y * y
    x_square = (square - 1) * pow(_D * square + 1, _PRIME - 2, _PRIME) % _PRIME
    if pow(x_square, (_PRIME - 1) // 2, _PRIME) != 1:
        return KEY_NOT_A_POINT
    return None


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A screened public key; `id` is the SHA-256 of its 32 bytes, computed and never read."""

    hex: str

    @classmethod
    def from_hex(cls, text: object) -> Self | Code:
        """Take a key as 64 small hexadecimal digits; a `Code` says why it is refused."""
        if not isinstance(text, str) or _HEX_KEY.fullmatch(text) is None:
            return KEY_MALFORMED
        return screen(bytes.fromhex(text)) or cls(text)

    @property
    def id(self) -> str:
        """Return the SHA-256 of the raw key in hexadecimal digits."""
        return hashlib.sha256(bytes.fromhex(self.hex)).hexdigest()

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """Say whether the signature over these bytes was made with the private half of this key."""
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.hex)).verify(signature, data)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key in memory; it never shows its bytes when printed."""

    seed: bytes = field(repr=False)
    public: PublicKey = field(init=False)

    def __post_init__(self) -> None:
        if len(self.seed) != KEY_BYTES:
            raise ValueError("a private key is 32 bytes")
        raw = Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()
        object.__setattr__(self, "public", PublicKey(raw.hex()))

    @classmethod
    def generate(cls) -> Self:
        """Make a new key from the system's randomness."""
        return cls(Ed25519PrivateKey.generate().private_bytes_raw())

    def sign(self, data: bytes) -> bytes:
        """Return the 64 bytes of the signature over some bytes."""
        return Ed25519PrivateKey.from_private_bytes(self.seed).sign(data)


def signature_bytes(text: object) -> bytes | None:
    """Read a signature in its one spelling, 128 small hexadecimal digits; anything else is None."""
    if not isinstance(text, str) or _HEX_SIGNATURE.fullmatch(text) is None:
        return None
    return bytes.fromhex(text)

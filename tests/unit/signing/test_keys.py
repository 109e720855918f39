"""Keys that mean something, and those under which anybody can sign."""

from __future__ import annotations

import itertools

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from engine.findings import Code
from engine.signing.keys import (
    KEY_LOW_ORDER,
    KEY_MALFORMED,
    KEY_NON_CANONICAL,
    KEY_NOT_A_POINT,
    PrivateKey,
    PublicKey,
    screen,
    signature_bytes,
)

P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P
LOW_ORDER_14 = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
)


def root(square: int) -> int | None:
    """Return a square root modulo P."""
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return x if x * x % P == square % P else None


def added(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    """Add two points of the curve."""
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P


@pytest.mark.parametrize("text", LOW_ORDER_14)
def test_each_low_order_spelling_is_refused(text: str) -> None:
    """Eight times the point is the neutral one, and the key is refused as such."""
    y = int.from_bytes(bytes.fromhex(text), "little") & (2**255 - 1)
    x = root((y * y - 1) * pow(D * y * y + 1, P - 2, P) % P)
    assert x is not None
    point = (x, y % P)
    for _ in range(3):
        point = added(point, point)
    assert point == (0, 1)
    assert PublicKey.from_hex(text) is KEY_LOW_ORDER


def test_the_library_alone_would_take_a_low_order_key() -> None:
    """Under the neutral point a signature of neutral point and zero verifies any text, so the screen is needed."""
    neutral = bytes.fromhex(LOW_ORDER_14[0])
    Ed25519PublicKey.from_public_bytes(neutral).verify(neutral + bytes(32), b"any text at all")
    assert screen(neutral) is KEY_LOW_ORDER


@pytest.mark.parametrize("number", range(P, 2**255))
def test_each_unreduced_y_is_refused(number: int) -> None:
    """All nineteen numbers from the prime to 2^255 are second spellings, with either sign."""
    for sign in (0, 2**255):
        assert screen((number + sign).to_bytes(32, "little")) in {KEY_NON_CANONICAL, KEY_LOW_ORDER}


def test_a_number_off_the_curve_is_refused() -> None:
    """About half of all numbers are no y of a point; each is judged as an independent root says."""
    seen = set()
    for y in range(2, 60):
        is_point = root((y * y - 1) * pow(D * y * y + 1, P - 2, P) % P) is not None
        assert screen(y.to_bytes(32, "little")) is (None if is_point else KEY_NOT_A_POINT)
        seen.add(is_point)
    assert seen == {True, False}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ab" * 31,
        "ab" * 33,
        "AB" * 32,
        "zz" * 32,
        "ab " * 21,
        None,
        7,
        ["ab" * 32],
        "ab" * 32 + "\n",
        "\uff41b" * 32,
    ],
)
def test_another_spelling_of_a_key_is_refused(text: object) -> None:
    """Only 64 small hexadecimal digits are a key."""
    assert PublicKey.from_hex(text) is KEY_MALFORMED


def test_rfc_8032_vectors_hold() -> None:
    """The first two vectors of RFC 8032 section 7.1 give the stated keys and signatures."""
    for seed, public, message, signature in (
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            (
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
                "655141438e7a100b"
            ),
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            (
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
                "b00d291612bb0c00"
            ),
        ),
    ):
        key = PrivateKey(bytes.fromhex(seed))
        assert key.public.hex == public
        assert key.sign(bytes.fromhex(message)).hex() == signature
        assert key.public.verifies(bytes.fromhex(signature), bytes.fromhex(message))


def test_a_changed_bit_is_seen() -> None:
    """Every bit of signature and text counts."""
    key = PrivateKey(bytes(range(32)))
    data, signature = b"a rule", key.sign(b"a rule")
    for at, bit in itertools.product(range(64), range(8)):
        changed = bytearray(signature)
        changed[at] ^= 1 << bit
        assert not key.public.verifies(bytes(changed), data)
    assert not key.public.verifies(signature, b"a rulE")
    assert not key.public.verifies(signature[:-1], data)
    order = 2**252 + 27742317777372353535851937790883648493
    raised = int.from_bytes(signature[32:], "little") + order
    assert not key.public.verifies(signature[:32] + raised.to_bytes(32, "little"), data)


def test_a_private_key_is_not_shown() -> None:
    """Neither printing nor an error message shows the seed."""
    key = PrivateKey.generate()
    assert key.seed.hex() not in repr(key)
    assert repr(key.seed) not in repr(key)
    with pytest.raises(ValueError, match="32 bytes"):
        PrivateKey(b"short")


@pytest.mark.parametrize(
    "text", ["AB" * 64, "ab" * 63, "ab" * 65, "ab " * 42 + "ab", None, b"ab" * 64, "ab" * 64 + "\n"]
)
def test_another_spelling_of_a_signature_is_none(text: object) -> None:
    """A signature has one spelling."""
    assert signature_bytes(text) is None
    assert not isinstance(PublicKey.from_hex(PrivateKey.generate().public.hex), Code)

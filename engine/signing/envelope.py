"""Is this signed statement whole, from a known key, for this purpose, and valid now?

A signed statement is one JSON object: its body, `purpose`, `key_id`, `issued_at`, `valid_until` and `signature`. Signed
is the RFC 8785 form of everything but the signature, framed with type and length (the pre-authentication encoding of
DSSE v1), so that bytes signed for one purpose mean nothing in another. The key comes from the reader's keyring, never
from the statement. A statement that holds was signed by that key; what it says may still be wrong, and `issued_at` is
the clock of the signer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Protocol

import rfc8785

from engine.clock import format_time, parse_time
from engine.errors import RefusedError, UsageError
from engine.findings import Code, Finding, Result, Severity
from engine.lines.strict import parse_exact
from engine.signing.keys import PrivateKey, PublicKey, signature_bytes
from engine.signing.purpose import Purpose

SKEW = timedelta(seconds=60)
"""How far the signer's clock may be ahead of the reader's; it never prolongs a validity."""
MAX_BYTES = 16 * 1024 * 1024
RESERVED = ("purpose", "key_id", "issued_at", "valid_until", "signature")

NOT_A_STATEMENT = Code(
    "NOT_A_STATEMENT",
    Severity.BREAK,
    "The text is no signed statement.",
    "ask for the statement again, as it was issued",
)
SIGNATURE_RESPELLED = Code(
    "SIGNATURE_RESPELLED", Severity.BREAK, "The signature is not in its one spelling (128 small hexadecimal digits)."
)
SIGNATURE_WRONG = Code(
    "SIGNATURE_WRONG",
    Severity.BREAK,
    "The signature does not belong to this content and key: one of them was changed.",
    "ask for the statement again, as it was issued",
)
PURPOSE_WRONG = Code("PURPOSE_WRONG", Severity.BREAK, "The statement was signed for another purpose.")
KEY_PURPOSE_WRONG = Code(
    "KEY_PURPOSE_WRONG", Severity.BREAK, "The keyring does not let this key sign for this purpose."
)
KEY_UNKNOWN = Code(
    "KEY_UNKNOWN",
    Severity.LIMIT,
    "The key is not in the keyring, so nothing can be said about the signature.",
    "get the public key from its owner by another way and add it to the keyring",
)
KEY_REVOKED = Code("KEY_REVOKED", Severity.LIMIT, "The key was revoked; what it signed counts for nothing any more.")
KEY_OUT_OF_WINDOW = Code(
    "KEY_OUT_OF_WINDOW", Severity.BREAK, "The key was not in use at the time at which the statement says it was issued."
)
ISSUED_IN_FUTURE = Code(
    "ISSUED_IN_FUTURE", Severity.LIMIT, "The statement says it was issued later than now.", "compare the clocks"
)
STATEMENT_EXPIRED = Code(
    "STATEMENT_EXPIRED", Severity.LIMIT, "The statement was valid until a time that has passed.", "audit again"
)
WRITTEN_OTHERWISE = Code(
    "WRITTEN_OTHERWISE", Severity.NOTICE, "The text has the signed meaning but is not the canonical bytes."
)


class KnownKey(Protocol):
    """What the keyring says of one key."""

    @property
    def key(self) -> PublicKey:
        """The key."""

    @property
    def purposes(self) -> frozenset[Purpose]:
        """What it may sign."""

    @property
    def not_before(self) -> datetime:
        """From when, inclusive."""

    @property
    def not_after(self) -> datetime | None:
        """Until when, exclusive; None while it is in use."""

    @property
    def revoked(self) -> bool:
        """Whether its owner took it back."""


class KeySource(Protocol):
    """Where keys are looked up by their id."""

    def find(self, key_id: str) -> KnownKey | None:
        """Return the key of this id, if it is known."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer on one statement: `body` is everything but the signature, present when the text is a statement."""

    result: Result
    findings: tuple[Finding, ...]
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    signer: KnownKey | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Return the names of what was found."""
        return tuple(finding.code.name for finding in self.findings)


def signed_bytes(purpose: Purpose, body: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed for a body; raises `ValueError` for what RFC 8785 cannot write."""
    try:
        data = rfc8785.dumps(dict(body))
    except RecursionError as error:
        raise ValueError("nested too deep to sign") from error
    kind = f"application/vnd.winnow.{purpose.value}+json".encode("ascii")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(data), data)


def canonical(statement: Mapping[str, Any]) -> bytes:
    """Return the RFC 8785 bytes of a statement, as it should be stored and passed on."""
    return rfc8785.dumps(dict(statement))


def sign(
    body: Mapping[str, Any], purpose: Purpose, key: PrivateKey, *, now: datetime, valid_for: timedelta | None = None
) -> dict[str, Any]:
    """Return the signed statement of a body; times are whole seconds.

    Without `valid_for` it does not expire by itself. Raises `UsageError` when the body uses a name of the statement,
    or cannot be written as RFC 8785.
    """
    if used := [name for name in RESERVED if name in body]:
        raise UsageError("BODY_RESERVED_NAME", f"the body may not hold {used[0]!r}")
    until = None if valid_for is None else format_time(now + valid_for)
    whole = {
        **body,
        "purpose": purpose.value,
        "key_id": key.public.id,
        "issued_at": format_time(now),
        "valid_until": until,
    }
    try:
        data = signed_bytes(purpose, whole)
    except ValueError as error:
        raise UsageError("BODY_NOT_SIGNABLE", f"the content cannot be written canonically: {error}") from error
    return {**whole, "signature": key.sign(data).hex()}


def read_statement(data: bytes) -> dict[str, Any] | None:
    """Read the one JSON object of some bytes; None for anything else, duplicate names included."""
    if len(data) > MAX_BYTES:
        return None
    try:
        parsed = parse_exact(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    if parsed.problem is not None or parsed.duplicates or not isinstance(parsed.value, dict):
        return None
    return parsed.value


def check_bytes(data: bytes, purpose: Purpose, keys: KeySource, *, now: datetime) -> Checked:
    """Check a statement as it came; as `check`, and says when the bytes are not the canonical ones."""
    statement = read_statement(data)
    if statement is None:
        return _refused(NOT_A_STATEMENT, note="not one JSON object without repeated names")
    checked = check(statement, purpose, keys, now=now)
    if checked.result is Result.HOLDS and canonical(statement) != data.strip(b"\n"):
        return Checked(checked.result, (Finding(WRITTEN_OTHERWISE),), checked.body, checked.signer)
    return checked


def check(statement: Mapping[str, Any], purpose: Purpose, keys: KeySource, *, now: datetime) -> Checked:
    """Check a statement: shape, purpose, key, signature, then the times; the first thing that fails is the answer.

    HOLDS is "signed by that key, for this purpose, within its time". COULD_NOT_LOOK (unknown or revoked key, expired,
    from the future) is no accusation and no pass.
    """
    body = MappingProxyType({name: value for name, value in statement.items() if name != "signature"})
    if code := _shape(statement):
        return _refused(code, body)
    if body["purpose"] != purpose.value:
        return _refused(PURPOSE_WRONG, body, claimed=str(body["purpose"])[:40], found=purpose.value)
    known = keys.find(body["key_id"])
    if known is None:
        return _refused(KEY_UNKNOWN, body, claimed=body["key_id"][:64])
    if code := _signature(statement["signature"], purpose, body, known):
        return _refused(code, body, claimed=known.key.id)
    if code := _times(body, known, now):
        return _refused(code, body, claimed=str(body["valid_until" if code is STATEMENT_EXPIRED else "issued_at"]))
    return Checked(Result.HOLDS, (), body, known)


def _signature(spelled: object, purpose: Purpose, body: Mapping[str, Any], known: KnownKey) -> Code | None:
    signature = signature_bytes(spelled)
    if signature is None:
        return SIGNATURE_RESPELLED
    try:
        data = signed_bytes(purpose, body)
    except ValueError:
        return NOT_A_STATEMENT
    if not known.key.verifies(signature, data):
        return SIGNATURE_WRONG
    return None if purpose in known.purposes else KEY_PURPOSE_WRONG


def require(checked: Checked, what: str) -> Mapping[str, Any]:
    """Return the body of a statement that holds; raises `RefusedError` with the code of what was found."""
    if checked.result is Result.HOLDS and checked.body is not None:
        return checked.body
    finding = checked.findings[0]
    message = finding.code.sentence[0].lower() + finding.code.sentence[1:].rstrip(".")
    raise RefusedError(finding.code.name, message, where=what, hint=finding.code.hint)


def _shape(statement: Mapping[str, Any]) -> Code | None:
    texts = ("purpose", "key_id", "issued_at")
    if any(not isinstance(statement.get(name), str) for name in texts) or "signature" not in statement:
        return NOT_A_STATEMENT
    until = statement.get("valid_until", "")
    if parse_time(statement["issued_at"]) is None or (until is not None and _moment(until) is None):
        return NOT_A_STATEMENT
    return None


def _moment(text: object) -> datetime | None:
    return parse_time(text) if isinstance(text, str) else None


def _times(body: Mapping[str, Any], known: KnownKey, now: datetime) -> Code | None:
    """Judge the times; starts are inclusive, ends exclusive."""
    issued, until = parse_time(body["issued_at"]), _moment(body["valid_until"])
    if known.revoked:
        return KEY_REVOKED
    if issued is None or issued < known.not_before or (known.not_after is not None and issued >= known.not_after):
        return KEY_OUT_OF_WINDOW
    if issued > now + SKEW:
        return ISSUED_IN_FUTURE
    if until is not None and now >= until:
        return STATEMENT_EXPIRED
    return None


def _refused(
    code: Code, body: Mapping[str, Any] | None = None, *, claimed: str = "", found: str = "", note: str = ""
) -> Checked:
    result = Result.FAILS if code.severity is Severity.BREAK else Result.COULD_NOT_LOOK
    return Checked(result, (Finding(code, claimed=claimed, found=found, note=note),), body)

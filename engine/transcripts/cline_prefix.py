"""Is the source held here the one that Cline compacted?

Recomputes the fingerprint a Cline sidecar carries: SHA-256 over its version line, the message count and each message
in JavaScript's JSON form, without ids and times. The tool first takes its own wrappers out of user text; where a text
holds one, the answer is "unchecked", not a guess. An equal fingerprint proves equal messages, not who wrote them.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from json.encoder import encode_basestring
from typing import Any

VERSION_LINE = b"cline-session-compaction-source-v2\n"
WRAPPER = re.compile(r"<(?:user_input|user_command|mode_notice|environment_notice)\b")
# What JavaScript's trim() takes; Python's strip() takes others.
JS_BLANK = "\t\n\v\f\r \xa0\ufeff\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
SURROGATE = re.compile(r"[\ud800-\udfff]")
INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
FIELDS = ("agent", "sessionId", "metadata", "modelInfo", "metrics")
JS_LARGEST = int(sys.float_info.max)
PLAIN_DIGITS = 21
SMALL_DIGITS = -7


class Prefix(StrEnum):
    """What comparing a source with a sidecar's fingerprint gave."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNCHECKED = "unchecked"


def compare_prefix(sidecar: Mapping[str, Any], messages: Sequence[Any]) -> Prefix:
    """Compare the compacted messages of a source with the fingerprint, or else with the last message's name."""
    wanted = sidecar.get("source_prefix_hash")
    if isinstance(wanted, str):
        if not all(isinstance(message, dict) for message in messages) or _has_wrapper(messages):
            return Prefix.UNCHECKED
        return Prefix.EQUAL if prefix_hash(messages) == wanted else Prefix.DIFFERENT
    last = sidecar.get("source_last_message_key")
    if isinstance(last, str) and last.startswith("id:"):
        held = messages[-1].get("id") if messages and isinstance(messages[-1], dict) else None
        # The name of the last message agrees or not; what stands before it was not compared.
        return Prefix.UNCHECKED if held == last.removeprefix("id:") else Prefix.DIFFERENT
    return Prefix.UNCHECKED


def prefix_hash(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the fingerprint of messages by the tool's recipe."""
    digest = hashlib.sha256(VERSION_LINE + f"{len(messages)}\n".encode())
    for message in messages:
        content = message.get("content")
        shown = _shown(content) if message.get("role") == "user" else content
        fields = [["role", message.get("role")], ["content", shown]]
        fields += [[name, message.get(name)] for name in FIELDS]
        digest.update(js_json(fields).encode("utf-8"))
        digest.update(b"\n")
    return "sha256:" + digest.hexdigest()


def js_json(value: Any) -> str:
    """Write a value as JavaScript's `JSON.stringify` does (key order kept, whole-number keys first)."""
    return "".join(_written(value))


def _written(value: Any) -> Iterator[str]:
    match value:
        case None:
            yield "null"
        case bool():
            yield "true" if value else "false"
        case int() if abs(value) > JS_LARGEST:
            yield "null"  # such a number is infinite there, and infinity is written so
        case int() | float():
            yield js_number(float(value))
        case str():
            yield _text(value)
        case dict():
            names = sorted((name for name in value if INDEX.fullmatch(name)), key=int)
            names += [name for name in value if not INDEX.fullmatch(name)]
            yield from _joined("{", [f"{_text(name)}:{js_json(value[name])}" for name in names], "}")
        case _:
            yield from _joined("[", [js_json(each) for each in value], "]")


def _joined(start: str, parts: list[str], end: str) -> Iterator[str]:
    yield start
    yield ",".join(parts)
    yield end


def _text(value: str) -> str:
    return SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", encode_basestring(value))


def js_number(value: float) -> str:
    """Write a finite number as JavaScript does: the shortest digits, plain from 1e-6 to below 1e21."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if text == "0":
        return "0"
    minus = "-" if sign else ""
    if len(text) <= point <= PLAIN_DIGITS:
        return minus + text + "0" * (point - len(text))
    if 0 < point <= PLAIN_DIGITS:
        return f"{minus}{text[:point]}.{text[point:]}"
    if SMALL_DIGITS + 1 < point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _shown(content: Any) -> Any:
    """Return user content as the tool fingerprints it: its texts trimmed."""
    if isinstance(content, str):
        return content.strip(JS_BLANK)
    return [_trimmed(part) for part in content] if isinstance(content, list) else content


def _trimmed(part: Any) -> Any:
    match part:
        case {"type": "text", "text": str(text)}:
            return {**part, "text": text.strip(JS_BLANK)}
        case _:
            return part


def _has_wrapper(messages: Sequence[Mapping[str, Any]]) -> bool:
    return any(
        WRAPPER.search(text) for message in messages if message.get("role") == "user" for text in _texts(message)
    )


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    for part in content if isinstance(content, list) else [content]:
        match part:
            case str(text) | {"type": "text", "text": str(text)}:
                yield text
            case _:
                pass

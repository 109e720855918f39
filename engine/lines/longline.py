"""What does one very long line of JSON say, without ever holding its values?

The exact road builds every value of a line, which takes a multiple of the line's size for hostile lines and cannot be
stopped on the way. Here the bytes are read once, token by token, and the chain's body is written as they are read:
memory is the line, its body and one reordering of it, and the caller is asked again and again whether to go on. The
answers are those of the exact road (`engine.lines.strict`, `engine.lines.canonical`), except that nesting is counted
while reading: a line that stops being JSON before it gets too deep is not JSON.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from engine.findings import Code
from engine.lines.longobject import OpenObject
from engine.lines.strict import TOO_DEEP, TOO_MUCH, UNPARSEABLE

LONG_LINE: Final = 256 * 1024  # lines up to here are never long
LONG_MEMORY: Final = 24 * 1024 * 1024
"""Lines whose values may take more than this are long; the others are read in a fraction of a second."""
_BYTE_MEMORY, _VALUE_MEMORY = 6, 128
"""What a byte and a value of a line take at most, about, on the exact road (measured)."""
PIECE: Final = 64 * 1024
SHOWN: Final = 120
MOST_MEMBERS: Final = 250_000  # of one object
MOST_TEXT: Final = 1024 * 1024  # bytes of one key, of a chain value, or of a text in a declaration
MOST_BODY: Final = 20 * 1024 * 1024
"""Bytes of the chain's body: odd spellings grow when they are written as the chain writes them."""
MOST_MOVED: Final = 256 * 1024 * 1024  # bytes put in order, each counted once for every object around it
_WANTED: Final = frozenset({"chain", "op", "orphan_line", "orphan_sha256", "why", "resume_prev"})
_ASK_EACH: Final = 2048

_CONTINUES, _LEADS = 0x80, 0xC0  # from here on bytes continue a character, from here on they start a longer one
_SHORT_INTEGER: Final = 18  # digits and sign that are canonical as they stand

_SPACE = re.compile(rb"[ \t\n\r]*+")
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)")
_WORDS = (b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity")
# No group here repeats possessively: before CPython 3.11.5 (gh-106052) such a group keeps part of a failed try.
_HIGH = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
# A pair of surrogate escapes is one character and never cut; a lone half must show what follows it.
_IN_STRING = re.compile(
    rb'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|'
    + _HIGH
    + rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}|"
    + _HIGH
    + rb"(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F]))*"
)
# Values that are already written as the chain writes them, with the separator behind each.
# Up to fifteen digits and not below 0.0001: such a float's shortest spelling is its own.
_PLAIN = (
    rb"(?:0|-?[1-9][0-9]{0,17})(?![.0-9eE])"
    rb"|(?!-?0\.0000)-?(?:0|[1-9][0-9]{0,6})\.(?:0(?![0-9])|[0-9]{0,7}[1-9])"
    rb"|true|false|null|\[\]|\{\}"
)
_WRITTEN_RUN = re.compile(rb'(?:(?:"[ !#-\[\]-~]*+"|' + _PLAIN + rb"), (?=[^ \t\n\r]))*")
# The same without spaces and texts: the spaces can be put in at once.
_TIGHT_RUN = re.compile(rb"(?:(?:" + _PLAIN + rb"),(?=[^ \t\n\r]))*")
_AS_WRITTEN = json.JSONEncoder(ensure_ascii=False)


@dataclass(slots=True)
class LongLine:
    """One line as read; `body` is the canonical text of the value, for an object without its top-level `chain`."""

    problem: Code | None = None
    is_object: bool = False
    body: bytearray = field(default_factory=bytearray)
    written: bool = False
    """The bytes are those the format's writer gives the value, `chain` last."""
    duplicate: tuple[str, str, str] | None = None
    """The first key met twice in one object, and the beginning of the texts of both values."""
    constants: bool = False
    over: tuple[str, str] = ("", "")
    """What was found past a limit of one line, and that limit."""
    members: dict[str, Any] = field(default_factory=dict)
    """Top-level members that the walk asks for (`chain` and those of a declaration)."""


@dataclass(frozen=True, slots=True)
class LongValue:
    """A value that was not built: the beginning of its text stands for it."""

    text: str

    def __repr__(self) -> str:
        return self.text


class _NotJsonError(ValueError):
    """The line stops being JSON here."""


class _TooDeepError(ValueError):
    """The line nests deeper than the limit."""


class _TooMuchError(ValueError):
    """The line needs more memory or time than one line may; says what was found and the limit."""


def is_long(data: bytes) -> bool:
    """Tell whether a line is better read here than by building its values."""
    if len(data) <= LONG_LINE:
        return False
    values = data.count(b",") + data.count(b"[") + data.count(b"{")
    return len(data) * _BYTE_MEMORY + values * _VALUE_MEMORY > LONG_MEMORY


def stripped(data: bytes) -> tuple[int, int]:
    """Return start and end of a line without the Unicode white space around it; never decodes the whole line."""
    start, end = 0, len(data)
    # A character cut in two decodes to no white space, so it only ends a step, and the next step sees it whole.
    while start < end:
        text = data[start : start + PIECE].decode("utf-8", "replace")
        size = len(text[: len(text) - len(text.lstrip())].encode("utf-8"))
        if not size:
            break
        start += size
    while end > start:
        text = data[max(start, end - PIECE) : end].decode("utf-8", "replace")
        size = len(text[len(text.rstrip()) :].encode("utf-8"))
        if not size:
            break
        end -= size
    return start, end


def is_utf8(data: bytes) -> bool:
    """Tell whether bytes are UTF-8, piece by piece."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), PIECE):
            decoder.decode(data[start : start + PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def text_sha256(data: bytes, start: int, end: int) -> str:
    """Return the SHA-256 of the decoded text (invalid bytes replaced), as a declaration pins it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    digest = hashlib.sha256()
    for at in range(start, end, PIECE):
        digest.update(decoder.decode(data[at : min(at + PIECE, end)]).encode("utf-8"))
    digest.update(decoder.decode(b"", final=True).encode("utf-8"))
    return digest.hexdigest()


def read_long(data: bytes, start: int, end: int, *, nesting: int, ask: Callable[[], None]) -> LongLine:
    """Read one stripped line; `ask` is called often and may raise to stop. Never raises for any bytes."""
    scan = _Scan(data, start, end, nesting, ask)
    line = scan.line
    try:
        scan.run()
    except _TooDeepError:
        line.problem = TOO_DEEP
    except _TooMuchError as exc:
        line.problem = TOO_MUCH
        line.over = str(exc.args[0]), str(exc.args[1])
        scan.out = bytearray()
    except _NotJsonError:
        line.problem = UNPARSEABLE
    line.body = scan.out
    line.written = line.problem is None and line.is_object and scan.written and (start, end) == (0, len(data))
    return line


class _Scan:
    """Reads tokens and writes the body; containers are a list, not the interpreter's stack."""

    def __init__(self, data: bytes, start: int, end: int, nesting: int, ask: Callable[[], None]) -> None:
        self.data, self.at, self.end = data, start, end
        self.nesting, self.ask = nesting, ask
        self.out = bytearray()
        self.stack: list[OpenObject | None] = []  # None: a list
        self.written = True
        self.moved = 0
        self.line = LongLine()

    def run(self) -> None:
        steps, value_next = 0, True
        while value_next or self.stack:
            steps += 1
            if steps % _ASK_EACH == 0:
                self.ask()
            _at_most(len(self.out), MOST_BODY, "bytes to chain")
            value_next = self._value() if value_next else self._after()
        self._space(0)
        if self.at != self.end:
            raise _NotJsonError

    def _value(self) -> bool:
        """Read a scalar or open a container; return whether a value comes next."""
        match self._byte():
            case b'"':
                self._string()
            case b"[":
                return self._open(None, b"[", b"]")
            case b"{":
                self.line.is_object = self.line.is_object or not self.stack
                return self._open(OpenObject(len(self.out)), b"{", b"}")
            case _:
                self._scalar()
        return False

    def _byte(self) -> bytes:
        return self.data[self.at : self.at + 1] if self.at < self.end else b""

    def _open(self, opened: OpenObject | None, left: bytes, right: bytes) -> bool:
        if len(self.stack) >= self.nesting:
            raise _TooDeepError
        self.at += 1
        self.out += left
        self._space(0)
        if self._byte() == right:
            self.at += 1
            self.out += right
            return False
        self.stack.append(opened)
        if opened is None:
            self._run()
        else:
            self._key(opened)
        return True

    def _after(self) -> bool:
        """Read what follows a value inside a container; return whether another value comes next."""
        opened = self.stack[-1]
        self._space(0)
        found, right = self._byte(), b"]" if opened is None else b"}"
        if found == right:
            self.at += 1
            self.stack.pop()
            if opened is not None:
                self._close(opened)
            self.out += right
            return False
        if found != b",":
            raise _NotJsonError
        self.at += 1
        self._space(1)
        self.out += b", "
        if opened is None:
            self._run()
        else:
            self._key(opened)
        return True

    def _run(self) -> None:
        """Take list members that need no look at each, but for the last one."""
        if len(self.stack) >= self.nesting:  # an empty list in a run would be too deep
            return
        for pattern in (_WRITTEN_RUN, _TIGHT_RUN):
            found = pattern.match(self.data, self.at, min(self.at + PIECE, self.end))
            if found is None or found.end() == self.at:
                continue
            run = found.group()
            if pattern is _TIGHT_RUN:
                self.written = False
                run = run.replace(b",", b", ")
            self.out += run
            if len(run) > _ASK_EACH:
                self.ask()
            self.at = found.end()

    def _space(self, wanted: int) -> None:
        found = _SPACE.match(self.data, self.at, self.end)
        size = found.end() - self.at if found else 0
        if size != wanted or (size and self._byte() != b" "):
            self.written = False
        self.at += size

    def _key(self, opened: OpenObject) -> None:
        start = len(self.out)
        if self._byte() != b'"':
            raise _NotJsonError
        self._string()
        key_end = len(self.out)
        self._space(0)
        if self._byte() != b":":
            raise _NotJsonError
        self.at += 1
        self._space(1)
        self.out += b": "
        _at_most(key_end - start, MOST_TEXT, "bytes of a key")
        opened.member(self.out, start, key_end)
        _at_most(len(opened.starts), MOST_MEMBERS, "members of an object")

    def _close(self, opened: OpenObject) -> None:
        top = not self.stack
        if top:
            self.written = self.written and opened.last_key(self.out) == b"chain"
            found = opened.values(self.out, _WANTED, self.ask)
            if "chain" in found and self.out.startswith(b'"', found["chain"][0]):
                _at_most(found["chain"][1] - found["chain"][0], MOST_TEXT, "bytes of a chain value")
            self.line.members = {key: _member(self.out, start, end) for key, (start, end) in found.items()}
        if not opened.ascending:
            self.ask()
            self.moved += len(self.out) - opened.start
            _at_most(self.moved, MOST_MOVED, "bytes to put in order")
        duplicate = opened.reorder(self.out, without=b"chain" if top else None, ask=self.ask)
        if duplicate is not None:
            self.written = False
            self.line.duplicate = self.line.duplicate or duplicate

    def _string(self) -> None:
        self.at += 1
        self.out += b'"'
        while True:
            found = _IN_STRING.match(self.data, self.at, min(self.at + PIECE, self.end))
            end = found.end() if found else self.at
            if end == self.at:
                break
            end = self._whole_character(end)
            self._piece(self.data[self.at : end])
            _at_most(len(self.out), MOST_BODY, "bytes to chain")
            if end - self.at > _ASK_EACH:
                self.ask()
            self.at = end
        if self._byte() != b'"':
            raise _NotJsonError
        self.at += 1
        self.out += b'"'

    def _whole_character(self, end: int) -> int:
        """Move a cut in front of a character that it would split."""
        if end >= self.end or not _CONTINUES <= self.data[end] < _LEADS:
            return end
        for place in range(end - 1, max(self.at, end - 4), -1):
            if self.data[place] >= _LEADS:
                return place
            if self.data[place] < _CONTINUES:
                break
        return end

    def _piece(self, piece: bytes) -> None:
        if b"\\" in piece:
            text = json.loads('"' + piece.decode("utf-8", "replace") + '"')
            new = _AS_WRITTEN.encode(text)[1:-1].encode("utf-8", "surrogatepass")
            # The writer refuses lone surrogates, so a line with one is never as written.
            self.written = self.written and new == piece
        elif piece.isascii():
            new = piece
        else:
            new = piece.decode("utf-8", "replace").encode("utf-8")
            self.written = self.written and new == piece
        self.out += new

    def _scalar(self) -> None:
        for word in _WORDS:
            if self.data.startswith(word, self.at, self.end):
                self.line.constants = self.line.constants or word[-1:] in b"Ny"
                self.at += len(word)
                self.out += word
                return
        found = _NUMBER.match(self.data, self.at, self.end)
        if found is None:
            raise _NotJsonError
        token = found.group()
        new = _float(token) if found.group(1) else _integer(token)
        self.written = self.written and new == token
        self.at = found.end()
        self.out += new


def _at_most(found: int, limit: int, what: str) -> None:
    if found > limit:
        raise _TooMuchError(f"{found} {what}", f"{limit} {what}")


def _member(out: bytearray, start: int, end: int) -> Any:
    """Return a member's value; a long list or object only as the beginning of its text."""
    if end - start > MOST_TEXT:
        return LongValue(bytes(out[start : start + SHOWN]).decode("utf-8", "replace"))
    if out.startswith(b'"', start):
        if out.find(b"\\", start, end) < 0:
            with memoryview(out) as view:
                return str(view[start + 1 : end - 1], "utf-8", "surrogatepass")
    elif end - start > PIECE:
        return LongValue(bytes(out[start : start + SHOWN]).decode("utf-8", "replace"))
    return json.loads(bytes(out[start:end]).decode("utf-8", "surrogatepass"))


def _float(token: bytes) -> bytes:
    return json.dumps(float(token)).encode("ascii")


def _integer(token: bytes) -> bytes:
    try:
        return token if token != b"-0" and len(token) <= _SHORT_INTEGER else str(int(token)).encode("ascii")
    except ValueError as exc:  # more digits than the interpreter converts
        raise _NotJsonError from exc

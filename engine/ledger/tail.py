r"""Which chain value must the next row continue from?

Reads lines from the end backwards until one is a row, by the same line and parse rules as the walk over the whole
ledger: LF, CRLF and a lone CR separate, Unicode white space around a row does not count, and what is no row is
stepped over. After a last row without a chain the answer is `genesis`, as the format's own writer has it: a declared
break resumes there. It does not prove that the rows before are intact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.errors import RefusedError
from engine.ledger.report import GENESIS, Limits
from engine.lines.strict import TOO_DEEP, parse_exact
from engine.storage.files import read_range

_BLOCK_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class FileTail:
    """How a ledger ends: its size, the value to continue from, and whether the last line has an LF."""

    size: int
    previous: str
    ends_with_newline: bool


def read_tail(descriptor: int, size: int, limits: Limits) -> FileTail:
    """Find the value that the row after byte `size` must continue from.

    Raises `OSError` when the tail cannot be read (never taken for an empty ledger), `RefusedError` when the last row
    is past a limit, so that what it says is not known.
    """
    if not size:
        return FileTail(0, GENESIS, ends_with_newline=True)
    last = read_range(descriptor, size - 1, 1)
    for line in _lines_backwards(descriptor, size, limits):
        if len(line) > limits.line_bytes:
            raise _past_limit(f"is longer than {limits.line_bytes} bytes")
        text = line.decode("utf-8", "replace").strip()
        if not text:
            continue
        parsed = parse_exact(text, nesting=limits.nesting)
        if parsed.problem is TOO_DEEP:
            raise _past_limit(f"nests deeper than {limits.nesting}")
        if isinstance(parsed.value, dict):
            return FileTail(size, _continues(parsed.value.get("chain")), last == b"\n")
    return FileTail(size, GENESIS, last == b"\n")


def _continues(chain: object) -> str:
    # The walk goes on from an empty value after a chain that is no text, and from genesis after a row without one.
    if chain is None:
        return GENESIS
    return chain if isinstance(chain, str) else ""


def _lines_backwards(descriptor: int, size: int, limits: Limits) -> Iterator[bytes]:
    """Yield the lines from the last to the first (empty ones between CR and LF too), in bounded memory."""
    pieces: list[bytes] = []
    held, end = 0, size
    while end > 0:
        start = max(0, end - max(_BLOCK_BYTES, min(held, limits.line_bytes)))
        block = read_range(descriptor, start, end - start).replace(b"\r", b"\n")
        first, *lines = block.split(b"\n")
        if lines:
            yield b"".join([lines.pop(), *reversed(pieces)])
            yield from reversed(lines)
            pieces, held = [], 0
        pieces.append(first)
        held += len(first)
        if held > limits.line_bytes:
            raise _past_limit(f"is longer than {limits.line_bytes} bytes")
        end = start
    yield b"".join(reversed(pieces))


def _past_limit(reason: str) -> RefusedError:
    return RefusedError(
        "last_row_not_looked_at",
        f"the last line {reason}, so the chain cannot be continued; nothing was written",
        hint="raise the limit",
    )

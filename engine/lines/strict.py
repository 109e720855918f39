"""What does one line of JSON say, exactly?

The exact road: Python's own parser and number rules, with duplicate keys noticed at any depth and nesting counted
before parsing, so that the answer does not depend on the interpreter's recursion limit. Parsing proves nothing about
who wrote the line; a line with duplicate keys has no single meaning, and `value` is then the last-wins reading.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from engine.findings import Code, Severity

DEFAULT_NESTING = 512

UNPARSEABLE = Code(
    "unparseable", Severity.BREAK, "this line is not JSON", "open the file at this line and compare it with a backup"
)
TOO_DEEP = Code(
    "too_deep",
    Severity.LIMIT,
    "this line nests deeper than the limit and was not looked at",
    "raise the nesting limit to look at it",
)

TOO_MUCH = Code(
    "too_much_in_line",
    Severity.LIMIT,
    "this long line holds more members, longer keys, or more to put in order than the limit and was not looked at",
    "look at this line by other means",
)

# Either a whole string (brackets inside it do not nest) or one bracket; an unclosed string runs to the end.
# A possessive group may leave half a try behind before CPython 3.11.5 (gh-106052): here that is a last lone backslash.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?$)|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parsed:
    """One parsed line: the value (None on a problem), names of duplicate keys in order of meeting, and the problem.

    `depth` is the nesting counted before parsing (0 for a scalar).
    """

    value: Any
    duplicates: tuple[str, ...] = ()
    problem: Code | None = None
    depth: int = 0
    values: tuple[tuple[Any, Any], ...] = ()
    """For each duplicate key: its value before and the repeated one."""
    constants: bool = False
    """NaN, Infinity or -Infinity stands in the line."""


def nesting_depth(text: str, limit: int) -> int:
    """Count the deepest nesting of brackets outside strings; stops counting just past the limit."""
    if text.count("[") + text.count("{") <= limit:
        return 0  # cannot be deeper than it has opening brackets; the exact depth is not needed below the limit
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        bracket = match.group()
        if bracket in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
            if deepest > limit:
                return deepest
        elif bracket in ("]", "}"):
            depth -= 1
    return deepest


def parse_exact(text: str, *, nesting: int = DEFAULT_NESTING) -> Parsed:
    """Parse one line by Python's JSON rules; never raises.

    Accepts what the ledger's reference accepts (NaN, infinities, lone surrogate escapes, big integers up to the
    interpreter's digit limit); anything else is `UNPARSEABLE`, deeper than `nesting` is `TOO_DEEP`.
    """
    depth = nesting_depth(text, nesting)
    if depth > nesting:
        return Parsed(None, problem=TOO_DEEP, depth=depth)
    duplicates: list[str] = []
    values: list[tuple[Any, Any]] = []
    constants: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(members)
        if len(value) != len(members):
            seen: dict[str, Any] = {}
            for key, member in members:
                if key in seen:
                    duplicates.append(key)
                    values.append((seen[key], member))
                seen[key] = member
        return value

    def constant(token: str) -> float:
        constants.append(token)
        return float(token.replace("Infinity", "inf"))

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError):
        # Duplicates met before the fault still count: the reference notices them while parsing.
        return Parsed(None, tuple(duplicates), UNPARSEABLE, depth, tuple(values), bool(constants))
    return Parsed(value, tuple(duplicates), None, depth, tuple(values), bool(constants))

"""How is a foreign value shown in a finding?

Every text made here is short and can always be encoded; it is still foreign text that a screen must treat as hostile.
A shortened text proves nothing about what was cut off.
"""

from __future__ import annotations

from typing import Any

SHOWN_CHARACTERS = 120
_SHOWN_BITS = 256


def shown(value: Any) -> str:
    """Write any value as a short text without ever raising.

    Numbers too long to print, containers and lone surrogates are described or escaped instead of printed: a hostile
    row must not be able to stop the sweep through the text of its own finding.
    """
    if isinstance(value, str):
        return _clip(value.encode("utf-8", "backslashreplace").decode("utf-8"))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        # Printing a very long integer raises in CPython (limit 4300 digits) and fills the screen before that.
        return str(int(value)) if value.bit_length() <= _SHOWN_BITS else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return repr(float(value))
    return f"a value of type {kind_word(value)}"


def kind_word(value: Any) -> str:
    """Return the JSON word for a value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list() | tuple():
            return "list"
        case dict():
            return "object"
        case _:
            return type(value).__name__


def _clip(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"

"""Which facts about a row does the index keep, and in which columns?

Fixed-width columns, one file each, so that a million rows are filtered in milliseconds. What the columns say was read
once from the ledger; it says how to find a row, never whether the row is true, and no verdict is taken from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

FORMAT = 1
"""Raised with every change of the layout; an index of another format is built anew."""

NAME_COLUMNS = ("kind", "op", "schema", "compactor", "method")
"""Columns that hold a code for a text of the row."""
SORT_COLUMNS = ("time", "length", "dropped_count", "dropped_bytes")
"""Columns whose order is kept beside them."""
KEY_COLUMNS = ("chain_key", "receipt_key", "pre_key", "post_key")
"""Columns with the first 64 bits of a hex value; 0 when the row has none."""

COLUMNS: Mapping[str, str] = {
    "line": "<u4",
    "offset": "<i8",
    "length": "<i8",
    "form": "|u1",
    "time": "<i8",
    **dict.fromkeys(NAME_COLUMNS, "<u2"),
    **dict.fromkeys(KEY_COLUMNS, "<u8"),
    "dropped_count": "<i8",
    "dropped_bytes": "<i8",
    "equation": "|u1",
}
ORDER_DTYPE = "<u4"

ABSENT = 0
"""Code of a name that the row does not have (or has as null)."""
OTHER = 1
"""Code of a value that is no text, too long, or one name too many."""
FIRST_NAME = 2
MAX_NAMES = 4096
MAX_NAME_LENGTH = 200

NO_TIME = -(2**63)
NO_NUMBER = -1
KEY_DIGITS = 16


class Form(IntEnum):
    """What stands in a line, by its parse alone."""

    CHAINED_ROW = 0
    ROW_WITHOUT_CHAIN = 1
    ROW_WITH_ODD_CHAIN = 2
    """A chain value that is no text."""
    NOT_AN_OBJECT = 3
    UNPARSEABLE = 4
    NOT_LOOKED_AT = 5
    """Past the line or nesting limit."""


class EquationState(IntEnum):
    """Whether the byte and item counts of a receipt add up; says nothing about their truth."""

    NO_RECEIPT = 0
    CLOSES = 1
    LOWER_BOUND = 2
    """A v1 row with an introduction: the bytes dropped may be understated."""
    DOES_NOT_CLOSE = 3
    NOT_COMPUTED = 4
    """A number is missing or is no count."""


BAD_FORMS = (Form.ROW_WITH_ODD_CHAIN, Form.NOT_AN_OBJECT, Form.UNPARSEABLE, Form.NOT_LOOKED_AT)
BAD_EQUATIONS = (EquationState.DOES_NOT_CLOSE, EquationState.NOT_COMPUTED)

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class StateColumn:
    """One state for each row, found by a check after the index was built: names by code, which of them are bad."""

    name: str
    names: tuple[str, ...]
    bad: frozenset[str]
    values: Array
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LedgerIndex:
    """The open index of one ledger file, by the file's SHA-256; columns are mapped from disk, not held.

    `lines` counts every line, `rows` the lines that are not blank: each has one place in every column. `orders` give,
    for each sortable column, the places in rising order.
    """

    folder: str
    sha256: str
    size: int
    lines: int
    rows: int
    columns: Mapping[str, Array]
    orders: Mapping[str, Array]
    names: Mapping[str, tuple[str, ...]]
    """For each name column the texts of the codes from `FIRST_NAME` on."""
    counts: Mapping[str, tuple[int, ...]]
    """For each coded column the number of rows by code."""
    states: Mapping[str, StateColumn]

    def label(self, column: str, code: int) -> str:
        """Return the text for a code of a coded column; it is foreign text."""
        match column:
            case "form":
                return Form(code).name.lower()
            case "equation":
                return EquationState(code).name.lower()
            case _ if column in self.states:
                return self.states[column].names[code]
            case _ if code == ABSENT:
                return "(none)"
            case _ if code == OTHER:
                return "(other)"
            case _:
                return self.names[column][code - FIRST_NAME]

    def code(self, column: str, label: str) -> int | None:
        """Return the code of a label, or None when no row can have it."""
        return next((code for code in range(self.codes(column)) if self.label(column, code) == label), None)

    def codes(self, column: str) -> int:
        """Return how many codes a coded column has."""
        match column:
            case "form":
                return len(Form)
            case "equation":
                return len(EquationState)
            case _ if column in self.states:
                return len(self.states[column].names)
            case _:
                return FIRST_NAME + len(self.names[column])

    def coded(self, column: str) -> Array:
        """Return the values of a coded column."""
        return self.states[column].values if column in self.states else self.columns[column]

    def coded_columns(self) -> tuple[str, ...]:
        """Return the names of all coded columns, attached states included."""
        return ("form", *NAME_COLUMNS, "equation", *self.states)


def empty(dtype: str) -> Array:
    """Return a column without rows."""
    return np.zeros(0, dtype=dtype)

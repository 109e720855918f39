"""Which question does the address ask, and under which keys is anything remembered?

The address is the state: every page reads its query parameters here, checked and typed, so that a link shows another
person the same thing. An address is a claim of whoever sent it: a link that names a digest is compared with what
stands there now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

SECTION = "winnow"
MAX_PARAMETER = 400


class Parameter(StrEnum):
    """The names that may stand in an address."""

    LEDGER = "l"
    LINE = "line"
    DIGEST = "d"
    STATUS = "status"
    KIND = "kind"
    SEARCH = "q"
    SORT = "sort"
    PAGE = "p"
    TRANSCRIPT = "t"
    ROUND = "round"
    TAB = "tab"
    RECEIPT = "receipt"
    COMPACTOR = "compactor"
    DESCENDING = "desc"
    VIEW = "view"
    BACK = "back"
    PIN = "pin"
    VERDICT = "verdict"
    CLASS = "class"
    GROUP = "by"
    MEASURE = "measure"
    LOSS = "loss"
    MODEL = "model"
    METHOD = "method"
    PUBLISHED = "published"


LEDGER_FILTERS = (
    Parameter.STATUS,
    Parameter.RECEIPT,
    Parameter.KIND,
    Parameter.COMPACTOR,
    Parameter.SEARCH,
    Parameter.SORT,
    Parameter.DESCENDING,
    Parameter.PAGE,
)


@dataclass(frozen=True, slots=True)
class Opened:
    """What the server was started with."""

    workspace: Path
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class LedgerQuery:
    """One ledger and which of its rows are asked for."""

    ledger: str
    status: str = ""
    kind: str = ""
    search: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class ReceiptQuery:
    """One row of one ledger; `digest` is the receipt digest the link was made for, or empty."""

    ledger: str
    line: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptQuery:
    """One transcript and the round looked at (0: none chosen)."""

    transcript: str
    round: int = 0


@dataclass(frozen=True, slots=True)
class SpansQuery:
    """One session, the round looked at (0: none chosen) and the pin opened."""

    transcript: str
    round: int = 0
    pin: str = ""


def as_section(opened: Opened) -> dict[str, Any]:
    """Write the start arguments as the configuration section that `opened` reads."""
    return {"workspace": str(opened.workspace), "paths": [str(path) for path in opened.paths]}


def opened() -> Opened:
    """Return what the server was started with."""
    section: Mapping[str, Any] = st.secrets[SECTION]
    return Opened(Path(section["workspace"]), tuple(Path(path) for path in section["paths"]))


def text(name: Parameter) -> str:
    """Return a parameter as text, cut to a length; absent is empty."""
    return str(st.query_params.get(name.value, ""))[:MAX_PARAMETER]


def number(name: Parameter) -> int:
    """Return a parameter as a whole number of at least 1; anything else is 0."""
    value = text(name)
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else 0  # noqa: PLR2004 - digits


def choice(name: Parameter, allowed: Sequence[str]) -> str:
    """Return a parameter when it is one of the allowed words, else empty."""
    value = text(name)
    return value if value in allowed else ""


def ledger_query() -> LedgerQuery:
    """Read the address of the Ledger page."""
    return LedgerQuery(
        text(Parameter.LEDGER),
        text(Parameter.STATUS),
        text(Parameter.KIND),
        text(Parameter.SEARCH),
        text(Parameter.SORT),
    )


def receipt_query() -> ReceiptQuery:
    """Read the address of the Receipt page."""
    return ReceiptQuery(text(Parameter.LEDGER), number(Parameter.LINE), text(Parameter.DIGEST))


def transcript_query() -> TranscriptQuery:
    """Read the address of the Transcript page."""
    return TranscriptQuery(text(Parameter.TRANSCRIPT), number(Parameter.ROUND))


def spans_query() -> SpansQuery:
    """Read the address of the Spans page."""
    return SpansQuery(text(Parameter.TRANSCRIPT), number(Parameter.ROUND), text(Parameter.PIN))


def filters() -> str:
    """Write the filters of the Ledger page that stand in the address as one value, to be carried along to a row."""
    return urlencode({name.value: found for name in LEDGER_FILTERS if (found := text(name))})


def carried_filters() -> dict[Parameter, str | int]:
    """Return the filters that a link to a row carried along, for the way back to the list."""
    found = dict(parse_qsl(text(Parameter.BACK)))
    return {name: found[name.value] for name in LEDGER_FILTERS if name.value in found}


def query_key(prefix: str, *parts: object) -> str:
    """Return a widget key that holds the query.

    A selection is remembered by row number: under a fixed key a selected row silently becomes another row after a
    change of page or filter.
    """
    digest = hashlib.sha256("\x1f".join(map(repr, parts)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{prefix}:{digest[:16]}"

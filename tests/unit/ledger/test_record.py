"""A record becomes a row only when every reader will read it back as it was meant."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from arcaeon.record.ledger import Ledger
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RefusedError
from engine.ledger.append import append
from engine.ledger.record import draft_row
from engine.ledger.report import Limits
from tests.support.ledgers import frozen

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(TEXT, VALUES, max_size=4), min_size=1, max_size=4), st.booleans())
def test_the_bytes_are_those_of_the_reference_writer(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], with_authority: bool
) -> None:
    """Row style, time stamp, authority and a last chain: byte for byte what the reference writes."""
    folder = tmp_path_factory.mktemp("same")
    authority = {"principal": "é"} if with_authority else None
    for record in records:
        ours = append(folder / "ours", {"ts": "2026-01-01T00:00:00Z"} | record, authority=authority)
        theirs = Ledger(folder / "theirs").append({"ts": "2026-01-01T00:00:00Z"} | record, authority=authority)
        assert ours.chain == theirs
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()


def test_the_time_is_stamped_when_absent_and_kept_when_given(tmp_path: Path) -> None:
    """The clock is asked only for a record without its own time."""
    append(tmp_path / "l", {"a": 1, "chain": "mine"}, clock=frozen, authority={"who": "x"})
    append(tmp_path / "l", {"ts": "then"}, clock=frozen)
    first, second = (json.loads(line) for line in (tmp_path / "l").read_bytes().splitlines())
    assert list(first) == ["a", "authority", "ts", "chain"]
    assert (first["ts"], second["ts"]) == ("2026-01-01T12:00:00Z", "then")
    assert first["chain"] != "mine"


def deep(levels: int) -> Any:
    """Nest lists."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


CIRCLE: dict[str, Any] = {}
CIRCLE["self"] = CIRCLE

REFUSED: dict[str, tuple[dict[Any, Any], str]] = {
    "nan": ({"a": {"b": [math.nan]}}, "record_not_finite"),
    "infinity": ({"a": -math.inf}, "record_not_finite"),
    "surrogate value": ({"a": "\ud800"}, "record_lone_surrogate"),
    "surrogate key": ({"\udfff": 1}, "record_lone_surrogate"),
    "number as key": ({"a": {1: 2}}, "record_key_not_text"),
    "keys that cannot be sorted": ({1: 2, "a": 3}, "record_key_not_text"),
    "bytes": ({"a": b"x"}, "record_not_json"),
    "a set": ({"a": {1}}, "record_not_json"),
    "too deep": ({"a": deep(512)}, "record_too_deep"),
    "a circle": (CIRCLE, "record_too_deep"),
    "an integer past the digit limit": ({"a": 10**5000}, "record_not_json"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_reader_could_read_back_is_refused(tmp_path: Path, name: str) -> None:
    """Refused by code before a byte is written; not even the lock's file is made."""
    record, code = REFUSED[name]
    with pytest.raises(RefusedError) as refused:
        append(tmp_path / "l", record)
    assert refused.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_the_last_allowed_depth_is_written_and_verified(tmp_path: Path) -> None:
    """511 lists in a row object are 512 levels: the verifier's own limit."""
    assert append(tmp_path / "l", {"a": deep(511)}).chain


def test_a_row_longer_than_the_limit_is_refused() -> None:
    """A row that the verifier would pass over is not written."""
    with pytest.raises(RefusedError, match="longer than 1000 bytes"):
        draft_row({"a": "x" * 1000}, frozen, None, Limits(line_bytes=1000))

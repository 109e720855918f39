"""Do addresses hold the whole question?"""

from __future__ import annotations

import pytest

from dashboard import state
from dashboard.links import Page, address, query
from dashboard.state import Parameter


def test_address_escapes_and_leaves_out_the_empty() -> None:
    """A name with anything in it stands escaped in the address; empty parameters are left out."""
    made = address(Page.RECEIPT, {Parameter.LEDGER: "a b/ü&.jsonl", Parameter.LINE: 41, Parameter.DIGEST: ""})
    assert made == "/receipt?l=a+b%2F%C3%BC%26.jsonl&line=41"
    assert address(Page.OVERVIEW, {}) == "/"


def test_query_is_text() -> None:
    """Query parameters are text under their short names."""
    assert query({Parameter.PAGE: 3, Parameter.SEARCH: ""}) == {"p": "3"}


def test_query_key_changes_with_any_part_of_the_query() -> None:
    """A grid key differs whenever the rows under it may differ, lone surrogates included."""
    keys = {
        state.query_key("grid", *parts)
        for parts in (("a", 1), ("a", 2), ("b", 1), ("a", "1"), ("a\x1f1",), ("\ud800",))
    }
    assert len(keys) == 6
    assert state.query_key("grid", "a", 1) == state.query_key("grid", "a", 1)


def test_filters_are_carried_to_a_row_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The filters of a list go along in one value and come out again; anything else in it is left out."""
    address_now = {"status": "broken", "q": "a&b=c", "p": "3", "l": "x"}
    monkeypatch.setattr(state.st, "query_params", address_now)
    carried = state.filters()
    monkeypatch.setattr(state.st, "query_params", {"back": carried + "&evil=1&l=other"})
    assert state.carried_filters() == {Parameter.STATUS: "broken", Parameter.SEARCH: "a&b=c", Parameter.PAGE: "3"}

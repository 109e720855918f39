"""Drive the page script without a browser."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dashboard.state import SECTION, Opened, as_section

SCRIPT = Path(__file__).parents[2] / "dashboard" / "app.py"


def open_page(address: str, workspace: Path, paths: Sequence[Path], **query: str) -> AppTest:
    """Draw one page by its address and run until no job is going on."""
    test = AppTest.from_file(str(SCRIPT), default_timeout=60)
    test.secrets[SECTION] = as_section(Opened(workspace, tuple(paths)))
    # switch_page finds files only; our views are functions, found by the hash of their address.
    test._page_hash = calc_hash(address)
    for name, value in query.items():
        test.query_params[name] = value
    return settle(test)


def settle(test: AppTest, seconds: float = 60) -> AppTest:
    """Run again while a job's progress is shown."""
    deadline = time.monotonic() + seconds
    test.run()
    while any(button.key and button.key.startswith("cancel:") for button in test.button):
        assert time.monotonic() < deadline, "a job did not end"
        test.run()
    return test


def shown(test: AppTest) -> str:
    """Return the words of the whole page, markup taken away."""
    words = _Words()
    for element in test.main:
        for text in _texts(element):
            words.feed(text)
            words.feed("\n")
    words.close()
    return "".join(words.parts)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def _texts(element: Any) -> Iterator[str]:
    found = [getattr(element, name, None) for name in ("label", "value", "body")]
    found.append(getattr(getattr(element, "proto", None), "body", None))
    yield from dict.fromkeys(text for text in found if isinstance(text, str))


@contextmanager
def clean_caches() -> Iterator[None]:
    """Start and end without kept jobs."""
    st.cache_resource.clear()
    try:
        yield
    finally:
        st.cache_resource.clear()

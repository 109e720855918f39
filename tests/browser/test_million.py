"""Is a ledger of a million rows as quick to look at as a small one?

The full million with `CI` set or `--sweep 1000000`; at a desk a hundred thousand rows go through the same steps.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.big_ledger import write_ledger
from tests.support.browser import choose_row, serving, settled, watched
from tests.support.samples import link_to

pytestmark = pytest.mark.browser

SECONDS = 10.0
"""Longest time from a click until the answer stands on the page; the figure itself is a benchmark's
(`tests/benchmarks/dashboard_million.py`), so that a busy machine fails no test."""
SERVER_MEBIBYTES = 300
GRID = "One page of ledger rows"


@pytest.fixture
def ledger(tmp_path: Path, sweep: Callable[[int], int]) -> Path:
    """Write the ledger."""
    return write_ledger(tmp_path / "big.jsonl", sweep(1_000_000 if os.environ.get("CI") else 100_000))


@pytest.fixture
def page(browser: Browser, ledger: Path, tmp_path: Path) -> Iterator[Page]:
    """Serve the ledger and open its page; the check and the index run as jobs with progress."""
    with serving(tmp_path / "workspace", [ledger]) as url, watched(browser, url) as found:
        found.goto(f"/ledger?l={link_to(ledger)}")
        expect(found.get_by_role("heading", name="Rows", exact=True)).to_be_visible(timeout=300_000)
        settled(found)
        expect(found.get_by_role("region", name=GRID).locator("canvas table")).to_be_attached(timeout=60_000)
        yield found


def _quickest(act: Callable[[int], None]) -> float:
    found = []
    for turn in range(3):
        begun = time.monotonic()
        act(turn)
        found.append(time.monotonic() - begun)
    return min(found)


def _first_cell(page: Page, expected: str) -> None:
    cell = page.get_by_role("region", name=GRID).locator("canvas table tbody tr").first.locator("td")
    expect(cell.filter(has_text=expected).first).to_be_attached(timeout=30_000)


def test_page_filter_and_row_answer_over_a_million_rows(page: Page, capsys: pytest.CaptureFixture[str]) -> None:
    """Turning a page, filtering and opening a row each answer; the server stays small."""

    def turn_page(turn: int) -> None:
        page.get_by_role("button", name="Next page").click()
        _first_cell(page, str((turn + 1) * 100 + 1))

    paged = _quickest(turn_page)

    def search_line(turn: int) -> None:
        box = page.get_by_role("textbox", name="Find a line")
        box.fill(str(90_000 + turn))
        box.press("Enter")
        _first_cell(page, str(90_000 + turn))

    filtered = _quickest(search_line)
    settled(page)

    opened = []
    for _ in range(3):
        begun = time.monotonic()
        choose_row(page, GRID, 0)
        expect(page.get_by_role("heading", name="Line 90,002")).to_be_visible(timeout=30_000)
        opened.append(time.monotonic() - begun)
        page.get_by_role("link", name="All rows").click()
        _first_cell(page, "90002")
        settled(page)
    with capsys.disabled():
        print(f"\npage {paged:.2f} s, filter {filtered:.2f} s, open a row {min(opened):.2f} s")
    assert max(paged, filtered, min(opened)) < SECONDS
    held = max(child.memory_info().rss for child in psutil.Process().children() if _serves(child))
    with capsys.disabled():
        print(f"server {held / 2**20:.0f} MiB")
    assert held < SERVER_MEBIBYTES * 2**20


def _serves(process: psutil.Process) -> bool:
    return any("dashboard.serve" in part for part in process.cmdline())

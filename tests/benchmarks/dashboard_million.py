"""Is the screen quick and small over a ledger of a million rows?

Run as `python -m tests.benchmarks.dashboard_million [ROWS]`; ends with 1 when a figure is short. Each act is timed in
the browser by the wall clock from the click until the page shows its answer, as the median of several. The server's
memory is its resident size after all of them, with the files it maps counted in.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.conftest import FLAGS
from tests.support.bench import Bars, small_rows, write_ledger
from tests.support.browser import cells, choose_row, serving, settled
from tests.support.samples import link_to

ACT_SECONDS = 1.0
SERVER_MIB = 300
RUNS = 5
KINDS = ("call", "call", "note")


def mixed_rows(count: int) -> Iterator[dict[str, Any]]:
    """Yield rows of the kinds in turn."""
    return ({**row, "kind": KINDS[number % len(KINDS)]} for number, row in enumerate(small_rows(count)))


def timed(act: Callable[[int], None]) -> float:
    """Return the median seconds of an act over several runs."""
    seconds = []
    for run in range(RUNS):
        start = time.monotonic()
        act(run)
        seconds.append(time.monotonic() - start)
    return statistics.median(seconds)


def server_mib() -> float:
    """Return the resident size of the server started by this process."""
    servers = [child for child in psutil.Process().children() if "dashboard.serve" in " ".join(child.cmdline())]
    return float(sum(server.memory_info().rss for server in servers)) / 2**20


def measure(page: Page, ledger: str, rows: int, bars: Bars) -> None:
    """Time each act on the page of the ledger."""
    start = time.monotonic()
    page.goto(ledger)
    expect(page.get_by_text(f"1 to 100 of {rows:,} rows")).to_be_visible(timeout=300_000)
    settled(page)
    cells(page, "One page of ledger rows")
    print(f"      first look, checked and indexed: {time.monotonic() - start:.1f} s; server {server_mib():.0f} MiB")

    def next_page(run: int) -> None:
        page.get_by_role("button", name="Next page").click()
        expect(page.get_by_text(f"{(run + 1) * 100 + 1:,} to {(run + 2) * 100:,} of {rows:,} rows")).to_be_visible()
        settled(page)

    bars.at_most("next page", timed(next_page), ACT_SECONDS, "s")

    def to_line(run: int) -> None:
        line = rows // 2 + run
        box = page.get_by_label("Find a line, digest, chain value, time, name or text")
        box.fill(str(line))
        box.press("Enter")
        expect(page.get_by_text(f'recognised: "{line}"')).to_be_visible()
        expect(page.get_by_text("1 to 1 of 1 row", exact=True)).to_be_visible()
        settled(page)

    bars.at_most("filter to a line", timed(to_line), ACT_SECONDS, "s")

    matching = Counter(KINDS[number % len(KINDS)] for number in range(rows))

    def by_facet(run: int) -> None:
        kind = ("call", "note")[run % 2]
        page.get_by_role("combobox", name="Kind").click()
        page.get_by_role("option", name=kind).click()
        expect(page.get_by_text(f"1 to 100 of {matching[kind]:,} rows")).to_be_visible()
        settled(page)

    page.goto(ledger)
    expect(page.get_by_text(f"1 to 100 of {rows:,} rows")).to_be_visible()
    settled(page)
    bars.at_most("filter by a facet", timed(by_facet), ACT_SECONDS, "s")

    bars.at_most("open a row", statistics.median(_opened(page, ledger, rows)), ACT_SECONDS, "s")
    bars.at_most("server", server_mib(), SERVER_MIB, "MiB")


def _opened(page: Page, ledger: str, rows: int) -> list[float]:
    """Return the seconds from choosing a row in the middle of the ledger to its page."""
    opened = []
    for row in range(RUNS):
        page.goto(f"{ledger}&p={rows // 200}")
        settled(page)
        cells(page, "One page of ledger rows")
        start = time.monotonic()
        choose_row(page, "One page of ledger rows", row)
        expect(page.get_by_role("heading", name=f"Line {(rows // 200 - 1) * 100 + row + 1:,}")).to_be_visible()
        expect(page.get_by_text("Digest of the bytes of this row")).to_be_visible()
        opened.append(time.monotonic() - start)
    return opened


def main() -> None:
    """Make the ledger, serve it, and measure."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    bars = Bars()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        write_ledger(path, mixed_rows(rows))
        with serving(Path(folder) / "workspace", [path]) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
            page = browser.new_page(base_url=url, viewport={"width": 1360, "height": 2000})
            measure(page, f"/ledger?l={link_to(path)}", rows, bars)
            browser.close()
    bars.end()


if __name__ == "__main__":
    main()

"""Can a long check be watched, stopped and made again in a browser?"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.support.bench import small_rows, write_ledger
from tests.support.browser import serving, watched

pytestmark = pytest.mark.browser

LONG = 60_000


def test_long_check_can_be_cancelled_and_made_again(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A long verification shows its progress; cancelled, it says that nothing is known; made again, it ends."""
    folder = tmp_path_factory.mktemp("long")
    paths = [folder / f"long-{number}.jsonl" for number in range(6)]
    write_ledger(paths[0], small_rows(LONG))
    for path in paths[1:]:
        path.write_bytes(paths[0].read_bytes())
    with serving(folder / "workspace", paths) as address, watched(browser, address) as page:
        page.goto("/")
        cancel = page.get_by_role("button", name="Cancel", exact=True)
        expect(cancel).to_be_visible(timeout=30_000)
        expect(page.get_by_role("progressbar")).to_be_visible()
        cancel.click()
        expect(page.get_by_text("NOT CHECKED: this check was cancelled")).to_be_visible(timeout=10_000)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_text("Nothing stands out")).to_be_visible(timeout=120_000)

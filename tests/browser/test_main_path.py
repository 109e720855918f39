"""Does the whole first path work in a browser, from a dropped file to the text that was dropped?"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.support.bench import small_rows, write_ledger
from tests.support.browser import grid_rows, select_row, serving, settled, watched
from tests.support.samples import link_to, samples

pytestmark = pytest.mark.browser

ROWS = "One page of ledger rows"
LONG = 60_000
OUR_PART = {"exclude": [["[data-testid=stSidebarNavItems]"]]}
"""The framework puts the headings of its navigation into a list, where we have no say."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the samples for reading."""
    return samples(tmp_path_factory.mktemp("opened"))


@pytest.fixture(scope="module")
def url(opened: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the samples."""
    with serving(tmp_path_factory.mktemp("workspace"), [opened]) as address:
        yield address


def _download(page: Page, name: str) -> bytes:
    with page.expect_download() as caught:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(caught.value.path()).read_bytes()


def test_uploaded_tampered_ledger_leads_to_its_receipt(
    browser: Browser, opened: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Upload, break on the overview, rows around it, the altered receipt: each one step from the other."""
    with serving(tmp_path_factory.mktemp("empty"), []) as address, watched(browser, address) as page:
        page.goto("/")
        settled(page)
        expect(page.get_by_text("Nothing is open yet")).to_be_visible()
        page.get_by_text("Add ledgers, sessions or content files").click()
        page.locator("input[type=file]").set_input_files(opened / "edited_row_fails" / "receipts.jsonl")
        page.get_by_role("button", name="Add and check").click()
        expect(page.get_by_text("BROKEN at line 4").first).to_be_visible(timeout=30_000)
        settled(page)
        page.get_by_role("link", name="Open 1", exact=True).click()
        expect(page.get_by_text("line 4 (this finding)")).to_be_visible(timeout=30_000)
        settled(page)
        assert [row[0] for row in grid_rows(page, ROWS)] == ["1", "2", "3", "4", "5", "6"]
        select_row(page, ROWS, 3)
        expect(page.get_by_role("heading", name="Line 4")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("the row was altered after it was sealed").first).to_be_visible()


def test_pasted_content_is_found(browser: Browser, url: str, opened: Path) -> None:
    """A pasted message is found as dropped, one that survived as kept."""
    before, after = (
        json.loads((opened / "honest_holds" / name).read_bytes()) for name in ("before.json", "after.json")
    )
    gone = next(item for item in before if item not in after)
    kept = next(item for item in before if item in after)
    with watched(browser, url) as page:
        page.goto("/find")
        settled(page)
        for words, answer in ((gone, "Found: dropped by"), (kept, "whose content is held")):
            page.get_by_label("Content, exactly as it stood in the context").fill(words)
            page.get_by_role("button", name="Find", exact=True).click()
            expect(page.get_by_text(answer).first).to_be_visible(timeout=30_000)


def test_exports_hold_what_the_filter_shows(browser: Browser, url: str, opened: Path) -> None:
    """CSV, JSON and report come down with the filter of the address, the digest of the file and the stamp."""
    file = opened / "edited_row_fails" / "receipts.jsonl"
    with watched(browser, url) as page:
        page.goto(f"/ledger?l={link_to(file)}&status=broken")
        expect(page.get_by_text("1 to 1 of 1 row", exact=True)).to_be_visible(timeout=60_000)
        settled(page)
        head, body = _download(page, "Rows as CSV").decode().split("\r\n", 1)
        manifest = json.loads(head.removeprefix("# "))
        assert manifest["filter"] == {"chain_state": "broken"}
        assert [row["line"] for row in csv.DictReader(io.StringIO(body))] == ["4"]
        document = json.loads(_download(page, "Rows as JSON"))
        assert document["manifest"]["sources"][0]["sha256"].startswith(link_to(file))
        assert document["manifest"]["stamp"].startswith("THE CHAIN OF THIS LEDGER IS BROKEN")
        report = _download(page, "Report").decode()
        assert '<p class="stamp">' in report
        assert "<script" not in report


def test_keys_go_from_receipt_to_receipt(browser: Browser, url: str, opened: Path) -> None:
    """J and K go on and back; the address follows, so that it can be sent."""
    link = link_to(opened / "honest_holds" / "receipts.jsonl")
    with watched(browser, url) as page:
        page.goto(f"/receipt?l={link}&line=2")
        expect(page.get_by_role("heading", name="Line 2")).to_be_visible(timeout=60_000)
        settled(page)
        page.keyboard.press("j")
        expect(page.get_by_role("heading", name="Line 3")).to_be_visible()
        assert "line=3" in page.url
        settled(page)
        page.keyboard.press("k")
        expect(page.get_by_role("heading", name="Line 2")).to_be_visible()


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


@pytest.mark.parametrize("address", ["/", "/ledgers", "/find", "/transcript", "/limits", "ledger", "receipt", "round"])
def test_page_has_no_serious_barrier(browser: Browser, url: str, opened: Path, address: str) -> None:
    """The accessibility rules find nothing serious or critical on a page."""
    asked = {
        "ledger": f"/ledger?l={link_to(opened / 'edited_row_fails' / 'receipts.jsonl')}",
        "receipt": f"/receipt?l={link_to(opened / 'planted_lie_fails' / 'receipts.jsonl')}&line=1",
        "round": f"/transcript?t={link_to(opened / 'decaying_rule_holds' / 'session.jsonl')}&round=2",
    }.get(address, address)
    with watched(browser, url) as page:
        page.goto(asked)
        expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=60_000)
        settled(page)
        found = Axe().run(page, context=OUR_PART).response["violations"]
        serious = [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in {"serious", "critical"}]
        assert serious == []

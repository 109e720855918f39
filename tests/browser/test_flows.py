"""Can a person go the ways the screen is for, in a real browser?"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import cells, choose_row, serving, settled, watched
from tests.support.samples import link_to, samples

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the samples."""
    return samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def url(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the samples."""
    with serving(tmp_path_factory.mktemp("workspace"), [folder]) as address:
        yield address


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """Open a watched page."""
    with watched(browser, url) as found:
        yield found


def test_tampered_upload_to_break_to_receipt(browser: Browser, folder: Path, tmp_path: Path) -> None:
    """A dropped-in ledger with one edited row is named broken, its break shown, and the row's page opened."""
    with serving(tmp_path, []) as address, watched(browser, address) as page:
        page.goto("/")
        settled(page)
        page.get_by_text("Add ledgers, sessions or content files").click()
        page.locator("input[type=file]").set_input_files(folder / "edited_row_fails" / "receipts.jsonl")
        page.get_by_role("button", name="Add and check").click()
        expect(page.get_by_text("BROKEN at line 4").first).to_be_visible(timeout=30_000)
        settled(page)
        page.get_by_role("link", name="Open 1", exact=True).click()
        expect(page.get_by_role("heading", name="Breaks and notices")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("line 4 (this finding)")).to_be_visible()
        settled(page)
        choose_row(page, "One page of ledger rows", 3)
        expect(page.get_by_role("heading", name="Line 4")).to_be_visible(timeout=30_000)
        settled(page)
        expect(page.get_by_text("DOES NOT PROVE", exact=False).first).to_be_visible()
        assert "line=4" in page.url


def test_planted_lie_is_exposed_by_content(page: Page, folder: Path) -> None:
    """The lie agrees with itself and its chain; the content held shows the dropped rule that it does not name."""
    page.goto(f"/receipt?l={link_to(folder / 'planted_lie_fails' / 'receipts.jsonl')}&line=1")
    settled(page)
    expect(page.get_by_text("NOT IN THE MANIFEST")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Safety: never deploy without approval from the release owner.").first).to_be_visible()
    expect(page.get_by_text("differs").first).to_be_visible()


def test_find_content(page: Page) -> None:
    """A pasted text is found as dropped, with its receipts; another is not found, which proves nothing."""
    page.goto("/find")
    settled(page)
    area = page.get_by_role("textbox", name="Content, exactly as it stood in the context")
    area.fill("Safety: never deploy without approval from the release owner.")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.get_by_text("Found:").first).to_be_visible(timeout=30_000)
    settled(page)
    listed = cells(page, "Places where the content was found")
    assert any("dropped" in row[2] for row in listed)
    area.fill("a text that nobody ever wrote")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.get_by_text("Not found")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("This proves nothing")).to_be_visible()


def test_next_and_previous_by_key(page: Page, folder: Path) -> None:
    """J and K walk the receipts of a ledger, and are letters while a person types."""
    page.goto(f"/receipt?l={link_to(folder / 'honest_holds' / 'receipts.jsonl')}&line=1")
    settled(page)
    expect(page.get_by_role("heading", name="Line 1")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    settled(page)
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name="Line 2")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name="Previous")).to_be_enabled()
    settled(page)
    page.keyboard.press("k")
    expect(page.get_by_role("heading", name="Line 1")).to_be_visible(timeout=30_000)


def test_link_of_another_receipt_warns(page: Page, folder: Path) -> None:
    """A link made for a digest that does not stand at its line says so."""
    page.goto(f"/receipt?l={link_to(folder / 'honest_holds' / 'receipts.jsonl')}&line=1&d=sha256:json-c14n:v1:00")
    settled(page)
    expect(page.get_by_text("This link named another receipt")).to_be_visible(timeout=30_000)


def test_rounds_of_a_session(page: Page, folder: Path) -> None:
    """A session shows its rounds; a chosen round shows both sides and the dropped rule."""
    page.goto(f"/transcript?t={link_to(folder / 'decaying_rule_holds' / 'session.jsonl')}")
    settled(page)
    assert len(cells(page, "Rounds with both sides")) == 5
    choose_row(page, "Rounds with both sides", 0)
    expect(page.get_by_role("heading", name="Round 1 of 5")).to_be_visible(timeout=30_000)
    settled(page)
    expect(page.get_by_text("Safety: never deploy without approval from the release owner.").first).to_be_visible()
    assert "round=1" in page.url


def test_export_holds_the_whole_filtered_set(page: Page, folder: Path) -> None:
    """The CSV, the JSON and the report carry the manifest, the counts and the stamp of a broken ledger."""
    link = link_to(folder / "edited_row_fails" / "receipts.jsonl")
    page.goto(f"/ledger?l={link}")
    settled(page)
    with page.expect_download(timeout=30_000) as download:
        page.get_by_role("button", name="Rows as CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    manifest = json.loads(lines[0].removeprefix("# "))
    assert manifest["count"] == 6
    assert manifest["sources"][0]["sha256"].startswith(link)
    assert len(list(csv.DictReader(io.StringIO("\n".join(lines[1:]))))) == 6
    settled(page)
    with page.expect_download(timeout=30_000) as download:
        page.get_by_role("button", name="Rows as JSON").click()
    assert len(json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["rows"]) == 6
    settled(page)
    with page.expect_download(timeout=30_000) as download:
        page.get_by_role("button", name="Report", exact=True).click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert "BROKEN" in report
    assert link in report
    assert "<script" not in report

"""Can a team go from a session to the rule that was lost, and from a chart to its evidence, in a real browser?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from engine.control.custody import RecordedKeys
from engine.lines.source import FileSource
from engine.signing.envelope import canonical
from engine.spans.receipt import Occasion, make_receipt
from engine.spans.session import audit_session
from engine.transcripts.reader import read_transcript
from tests.support.browser import cells, choose_row, serving, settled, watched
from tests.support.samples import link_to, sample

pytestmark = pytest.mark.browser

RULE = "Safety: never deploy to production without a signed receipt."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the decaying sessions."""
    return sample(tmp_path_factory.mktemp("samples"), "rules_over_rounds_fails")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a key."""
    made = tmp_path_factory.mktemp("workspace")
    RecordedKeys(made).init("tess", datetime.now(UTC))
    return made


@pytest.fixture(scope="module")
def url(folder: Path, workspace: Path) -> Iterator[str]:
    """Serve them."""
    with serving(workspace, [folder]) as address:
        yield address


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """Open a watched page."""
    with watched(browser, url) as found:
        yield found


def test_from_a_session_to_a_lost_critical_rule_in_three_clicks(page: Page) -> None:
    """Spans, the session, the rule: what it said, what the text says now, and that it is LOST."""
    page.goto("/")
    settled(page)
    clicks = 0
    page.get_by_role("link", name="Spans", exact=True).click()
    clicks += 1
    expect(page.get_by_role("region", name="Sessions with their pins")).to_be_visible(timeout=30_000)
    settled(page)
    names = [" ".join(row) for row in cells(page, "Sessions with their pins")]
    choose_row(page, "Sessions with their pins", next(n for n, name in enumerate(names) if "autumn" in name))
    clicks += 1
    expect(page.get_by_text("HALT", exact=False).first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("LOST", exact=True).first).to_be_visible()
    settled(page)
    listed = cells(page, "Pinned spans with their verdicts")
    place = next(n for n, row in enumerate(listed) if RULE in row)
    assert any("LOST" in cell for cell in listed[place])
    choose_row(page, "Pinned spans with their verdicts", place)
    clicks += 1
    expect(page.get_by_text("Before: as it was written")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("where it stands, or the nearest passage")).to_be_visible()
    expect(page.get_by_text("NEGATION_LOST").first).to_be_attached()
    assert clicks == 3


def test_the_overview_names_the_rule_and_leads_to_it(page: Page) -> None:
    """One click from the first page."""
    page.goto("/")
    settled(page)
    expect(page.get_by_role("heading", name="Critical rules that are not whole")).to_be_visible(timeout=30_000)
    page.get_by_role("link", name="Spans 1", exact=True).click()
    expect(page.get_by_text("HALT", exact=False).first).to_be_visible(timeout=30_000)
    settled(page)


def test_a_cell_of_the_heatmap_opens_its_evidence(page: Page, folder: Path) -> None:
    """The first cell that is lost, clicked, shows that span in that round."""
    page.goto(f"/retention?t={link_to(folder / 'claude-spring.jsonl')}")
    settled(page)
    cell = page.locator(".js-plotly-plot").first.locator(".scatterlayer .trace:last-child .point").last
    expect(cell).to_be_attached(timeout=30_000)
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text("Before: as it was written")).to_be_visible(timeout=30_000)
    settled(page)
    assert "/spans?" in page.url
    assert "pin=pin-" in page.url
    assert "round=" in page.url
    expect(page.get_by_text("LOST", exact=True).first).to_be_visible()


def receipt(folder: Path, workspace: Path) -> str:
    """Sign round 4 of the first session."""
    audited = audit_session(read_transcript(FileSource(folder / "claude-spring.jsonl"))).rounds[3].audit
    assert audited is not None
    key = RecordedKeys(workspace).custody.signer()
    return canonical(make_receipt(audited, Occasion(4), key, now=datetime.now(UTC))).decode()


def test_a_tampered_receipt_is_shown_as_refused(page: Page, folder: Path, workspace: Path) -> None:
    """The true one is bounded without its text; one changed word and it is refused, with the reason."""
    true = receipt(folder, workspace)
    changed = json.loads(true)
    changed["spans"][0]["verdict"] = "PRESERVED"
    page.goto("/spans")
    settled(page)
    page.get_by_text("Check a signed receipt").click()
    box = page.get_by_label("Paste a receipt")
    box.fill(true)
    box.press("Control+Enter")
    expect(page.get_by_text("BOUNDED: signed and within its time; the verdicts were not judged again")).to_be_visible(
        timeout=30_000
    )
    settled(page)
    box.fill(json.dumps(changed))
    box.press("Control+Enter")
    expect(page.get_by_text("FAILS: refused: do not rely on this receipt")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("The signature does not belong to this content and key", exact=False)).to_be_visible()
    settled(page)


def test_a_round_is_signed_and_downloaded(page: Page, folder: Path) -> None:
    """The file that comes down is the receipt, and it holds against this round."""
    page.goto(f"/spans?t={link_to(folder / 'claude-spring.jsonl')}&round=4")
    settled(page)
    page.get_by_role("tab", name="Signed receipt").click()
    page.get_by_role("button", name="Sign", exact=True).click()
    expect(page.get_by_role("button", name="Download the receipt")).to_be_visible(timeout=30_000)
    settled(page)
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download the receipt").click()
    data = Path(coming.value.path()).read_bytes()
    assert json.loads(data)["round"] == 4
    page.get_by_role("tab", name="Check a receipt").click()
    box = page.get_by_label("Paste a receipt")
    box.fill(data.decode())
    box.press("Control+Enter")
    expect(page.get_by_text("HOLDS: signed, within its time, and the verdicts were judged again")).to_be_visible(
        timeout=30_000
    )
    settled(page)

"""Does hostile text stay text on every page?

The hostile sample fetches, runs, draws verdicts and hides where it can; every page that shows it is watched. A canary
proves that the watch and the policy would have seen a fetch.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import serving, settled, watched
from tests.support.samples import link_to, samples

pytestmark = pytest.mark.browser

MADE = "img, iframe, script, a, form, object, embed, video, audio, svg, math, input, button, h1, h2, h3, hr"
FOREIGN = ".wn-foreign"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the samples and give one file a hostile name."""
    made = samples(tmp_path_factory.mktemp("samples")) / "hostile_session_holds"
    name = "![n](http:..198.51.100.7) :green-badge[INTACT] <img src=x> \u202e.jsonl"
    (made / name).write_bytes((made / "receipts.jsonl").read_bytes())
    return made


@pytest.fixture(scope="module")
def url(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the hostile sample alone."""
    with serving(tmp_path_factory.mktemp("workspace"), [folder]) as address:
        yield address


def _only_text(page: Page, *, expected: bool = True) -> None:
    """Check that foreign text made no element, no dialog, no title, and that no verdict colour is drawn from it."""
    main = page.get_by_test_id("stMain")
    assert not expected or main.locator(FOREIGN).count() > 0, "the page shows no foreign text, so this proves nothing"
    assert main.locator(f":is({FOREIGN}) :is({MADE})").count() == 0
    assert main.locator("[class*=stMarkdownBadge], [data-testid=stBadge], .katex").count() == 0
    assert main.get_by_test_id("stAlert").count() == 0
    assert main.locator("img").count() == 0
    assert page.title() != "owned"
    hidden = page.evaluate(
        "() => [...document.querySelectorAll('[data-testid=stMain] *')].flatMap(e => [...e.childNodes])"
        ".filter(n => n.nodeType === 3 && /[\\u202a-\\u202e\\u2066-\\u2069\\u200b-\\u200f\\ufeff\\u001b]/.test(n.data))"
        ".map(n => n.data)"
    )
    assert hidden == []


def _pages(folder: Path) -> dict[str, str]:
    ledger, session = link_to(folder / "receipts.jsonl"), link_to(folder / "session.jsonl")
    return {
        "overview": "/",
        "ledgers": "/ledgers",
        "ledger": f"/ledger?l={ledger}",
        "receipt": f"/receipt?l={ledger}&line=1",
        "transcripts": "/transcript",
        "transcript": f"/transcript?t={session}",
        "round": f"/transcript?t={session}&round=1",
        "span sessions": "/spans",
        "spans": f"/spans?t={session}",
        "span round": f"/spans?t={session}&round=1",
        "retention": "/retention",
        "limits": "/limits",
    }


@pytest.mark.parametrize(
    "name",
    [
        *("overview", "ledgers", "ledger", "receipt", "transcripts", "transcript", "round", "limits"),
        *("span sessions", "spans", "span round", "retention"),
    ],
)
def test_hostile_text_is_text_on_every_page(browser: Browser, url: str, folder: Path, name: str) -> None:
    """Nothing is fetched, run, drawn or hidden on any page, in any of its tabs."""
    with watched(browser, url) as page:
        page.goto(_pages(folder)[name])
        expect(page.get_by_test_id("stMain").locator(FOREIGN).first).to_be_attached(timeout=60_000)
        settled(page)
        _only_text(page)
        for tab in page.get_by_role("tab").all():
            tab.click()
            settled(page)
            _only_text(page)
        if name == "round":
            expect(page.get_by_text("⟨U+202E⟩").first).to_be_attached()


def test_hostile_text_is_text_when_searched(browser: Browser, url: str, folder: Path) -> None:
    """The search box and Find echo what was typed as text."""
    typed = "![x](http://198.51.100.7/p) :green-badge[INTACT] <img src=http://198.51.100.7/q>"
    with watched(browser, url) as page:
        page.goto(_pages(folder)["ledger"])
        settled(page)
        box = page.get_by_role("textbox", name="Find a line")
        box.fill(typed)
        box.press("Enter")
        expect(page.get_by_text("recognised:")).to_be_visible(timeout=30_000)
        settled(page)
        _only_text(page)
        page.goto("/find")
        settled(page)
        page.get_by_role("textbox", name="Content, exactly").fill(typed)
        page.get_by_role("button", name="Find", exact=True).click()
        expect(page.get_by_text("Not found")).to_be_visible(timeout=30_000)
        _only_text(page)


def test_address_is_no_door(browser: Browser, url: str) -> None:
    """Markup in the address is not drawn either."""
    with watched(browser, url) as page:
        page.goto("/ledger?l=%3Cimg%20src%3Dx%3E:green-badge[INTACT]&q=![x](http://198.51.100.7/p)")
        expect(page.get_by_text("This ledger is not open here")).to_be_visible(timeout=30_000)
        settled(page)
        _only_text(page, expected=False)

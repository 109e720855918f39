"""Do the labels of a hostile ledger stay text: kind, compactor, schema, and the name of the file?"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sample_ledgers.sessions import HOSTILE
from tests.support.browser import serving, settled, watched
from tests.support.ledgers import chained
from tests.support.samples import link_to

pytestmark = pytest.mark.browser

NAME = ":green-badge[INTACT] ![x](x) <img src=x onerror=alert(1)> \u202eb.jsonl"
MADE = """() => ({
  badges: document.querySelectorAll('[class*=stMarkdownBadge], [data-testid=stBadge], .katex').length,
  images: document.querySelectorAll('[data-testid=stMain] img').length,
  frames: document.querySelectorAll('iframe').length,
  links: [...document.querySelectorAll('a[href]')].filter(a => new URL(a.href).host !== location.host).length,
  handlers: document.querySelectorAll('[onerror],[onload],[onclick]').length,
  owned: document.title.includes('owned'),
})"""


def _made(page: Page) -> dict[str, int | bool]:
    found: dict[str, int | bool] = page.evaluate(MADE)
    return {name: value for name, value in found.items() if value}


def test_hostile_labels_make_nothing(browser: Browser, tmp_path: Path) -> None:
    """On the ledger, in its facets, in a search and on a row nothing is fetched, drawn or run."""
    ledger = tmp_path / NAME
    labels = [{"kind": text, "compactor": text, "op": text, "schema": text, "note": text} for text in HOSTILE]
    ledger.write_bytes(b"".join(chained(labels)))
    link = link_to(ledger)
    with serving(tmp_path / "workspace", [ledger]) as url, watched(browser, url) as page:
        page.goto(f"/ledger?l={link}")
        title = page.locator("[data-testid=stMain] h1")
        expect(title).to_have_text(NAME.replace("\u202e", "⟨U+202E⟩"), timeout=60_000)
        for address in ("", "&q=:green-badge[PRESERVED]", "&kind=:green-badge[PRESERVED]", "&status=<b>"):
            page.goto(f"/ledger?l={link}{address}")
            expect(title).to_be_visible(timeout=60_000)
            settled(page)
            assert _made(page) == {}, address
        page.get_by_role("combobox", name="Kind").click()
        assert page.get_by_role("option").count() > 1
        assert _made(page) == {}
        for line in range(1, len(HOSTILE) + 1):
            page.goto(f"/receipt?l={link}&line={line}&d=:green-badge[OK]")
            expect(page.get_by_role("heading", name=f"Line {line}")).to_be_visible(timeout=60_000)
            settled(page)
            assert _made(page) == {}, line
        page.evaluate(
            "document.querySelector('[data-testid=stMain]').insertAdjacentHTML('beforeend',"
            " '<img><iframe></iframe><a href=\"http://198.51.100.7/\">x</a>')"
        )
        assert _made(page) == {"images": 1, "frames": 1, "links": 1}, "the look would not have seen anything"

"""Does the screen work under its own policy, with nothing fetched from elsewhere?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import is_foreign, serving, settled, watched

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve an empty workspace."""
    with serving(tmp_path_factory.mktemp("workspace"), []) as address:
        yield address


def test_page_draws_under_the_policy(browser: Browser, url: str) -> None:
    """The Limits page draws with fonts and icons, breaks no rule of the policy and fetches nothing foreign."""
    with watched(browser, url) as page:
        violations: list[str] = []
        page.on("console", lambda message: violations.append(message.text) if "Content Security" in message.text else 0)
        page.goto("/limits")
        settled(page)
        expect(page.get_by_role("heading", name="Limits")).to_be_visible()
        expect(page.get_by_text("CANNOT CHECK")).to_be_visible()
        assert violations == []


def test_policy_stops_a_planted_image(browser: Browser, url: str) -> None:
    """Should markup ever slip through, the policy stops the fetch: a planted image is refused by the browser."""
    context = browser.new_context(base_url=url)
    page = context.new_page()
    page.goto("/limits")
    settled(page)
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://canary.invalid/pixel.png'}))")
    page.wait_for_function("() => document.querySelector('img[src*=canary]').complete")
    assert any("Content Security Policy" in text and "canary.invalid" in text for text in refused)
    context.close()


def test_the_watch_knows_a_foreign_address() -> None:
    """The zero-foreign-requests check would see a foreign host, another port and a foreign stream."""
    own = "http://127.0.0.1:8501"
    assert not is_foreign(f"{own}/static/x.js", own)
    assert not is_foreign("data:image/png;base64,AA", own)
    assert not is_foreign("ws://127.0.0.1:8501/_stcore/stream", own)
    for address in ("http://evil.example/x", "http://127.0.0.1:9999/", "ws://evil.example/", "https://fonts.example/f"):
        assert is_foreign(address, own)

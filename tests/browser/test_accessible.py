"""Can the pages be used by more than eyes and mouse?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.support.browser import serving, settled, watched
from tests.support.samples import link_to, samples

pytestmark = pytest.mark.browser

SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the samples."""
    return samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def url(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the samples."""
    with serving(tmp_path_factory.mktemp("workspace"), [folder]) as address:
        yield address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier_on_any_page(browser: Browser, url: str, folder: Path, scheme: str) -> None:
    """The checker of accessibility rules finds nothing serious in our part of any page, in light and in dark."""
    broken = link_to(folder / "edited_row_fails" / "receipts.jsonl")
    lie = link_to(folder / "planted_lie_fails" / "receipts.jsonl")
    session = link_to(folder / "decaying_rule_holds" / "session.jsonl")
    study = link_to(folder / "rules_over_rounds_fails" / "claude-spring.jsonl")
    pages = {
        "/": "Overview",
        f"/ledger?l={broken}": "Rows",
        f"/receipt?l={lie}&line=1": "Line 1",
        f"/transcript?t={session}&round=1": "Round 1 of 5",
        f"/spans?t={study}&round=4": "Round 4 of 5",
        f"/spans?t={study}": "Pins",
        "/retention": "Retention",
        "/activity": "Activity",
        "/find": "Find my content",
        "/limits": "Limits",
    }
    found: list[str] = []
    with watched(browser, url) as page:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        for address, heading in pages.items():
            page.goto(address)
            expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible(timeout=60_000)
            settled(page)
            checked = Axe().run(page, context="[data-testid=stMain]")
            assert checked.response["passes"], "the checker looked at nothing"
            found += [
                f"{address}: {each['id']}: {node['html'][:160]}"
                for each in checked.response["violations"]
                if each["impact"] in SERIOUS
                for node in each["nodes"]
            ]
    assert found == []

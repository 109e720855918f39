"""A server of our own in a process, and a browser page that is watched for foreign requests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

ROOT = Path(__file__).parents[2]
START = """
import sys
from pathlib import Path
from dashboard.serve import run
run(Path(sys.argv[1]), [Path(path) for path in sys.argv[3:]], int(sys.argv[2]), False)
"""


@contextmanager
def serving(workspace: Path, paths: Sequence[Path]) -> Iterator[str]:
    """Run a server in a process of its own until the block ends; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-c", START, str(workspace), str(port), *map(str, paths)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        _await_health(url, process)
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    assert b"Traceback" not in output, output.decode("utf-8", "replace")


def _await_health(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended"
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as reply:  # noqa: S310 - our own server
                if reply.status == 200:
                    return
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail("the server did not start within a minute")


def is_foreign(address: str, own: str) -> bool:
    """Tell whether a requested address leads anywhere but to our own server or to bytes the page holds."""
    parts = urlsplit(address)
    if parts.scheme in {"data", "blob", "about"}:
        return False
    return parts.netloc != urlsplit(own).netloc


@contextmanager
def watched(browser: Browser, url: str) -> Iterator[Page]:
    """Open a page of its own; at the end no request may have left and no dialog opened."""
    context = browser.new_context(base_url=url, viewport={"width": 1360, "height": 2400}, accept_downloads=True)
    page = context.new_page()
    requested: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("websocket", lambda stream: requested.append(stream.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    try:
        yield page
    finally:
        context.close()
    assert requested, "the watch saw no request at all, so its silence would mean nothing"
    assert [address for address in requested if is_foreign(address, url)] == []
    assert dialogs == []


def settled(page: Page) -> Page:
    """Wait until the script has run and no job is going on."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=60_000)
    page.get_by_role("button", name="Cancel", exact=True).wait_for(state="detached", timeout=60_000)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=60_000)
    return page


def cells(page: Page, name: str) -> list[list[str]]:
    """Return the cells of a grid, read from the accessible table that its canvas holds."""
    table = page.get_by_role("region", name=name).locator("canvas table")
    expect(table).to_be_attached(timeout=30_000)
    return [row.locator("td").all_text_contents() for row in table.locator("tbody tr").all()]


def choose_row(page: Page, name: str, place: int) -> None:
    """Click the mark at the left of a grid row; the canvas has no element for it."""
    region = page.get_by_role("region", name=name)
    expect(region.locator("canvas table")).to_be_attached(timeout=30_000)
    canvas = region.locator("canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 12, box["y"] + 35 * (place + 1) + 17)

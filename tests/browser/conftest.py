"""Fixtures of the browser tests: the system's Chromium, never a downloaded one.

With `CI` set a missing browser is a failure; at a desk it is a skip that says so.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str:
    """Return the browser's path; without one fail in CI and skip elsewhere."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found is None:
        reason = "chromium not found: install the system package, or set CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the system's browser; nothing is downloaded."""
    return {**browser_type_launch_args, "executable_path": chromium(), "args": list(FLAGS)}

"""Fixtures of the page tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.screen import clean_caches


@pytest.fixture(autouse=True)
def _no_kept_jobs() -> Iterator[None]:
    with clean_caches():
        yield


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return an empty workspace folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder

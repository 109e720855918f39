"""Does the Limits page say what is proven, what is not, and which limits hold?"""

from __future__ import annotations

from pathlib import Path

from dashboard import settings
from dashboard.views import limits
from tests.support.screen import open_page, shown


def test_limits_names_every_verdict_and_limit(workspace: Path) -> None:
    """All words, proofs, residues and settings stand on the page, without any input open."""
    page = open_page("limits", workspace, [])
    assert not page.exception
    words = shown(page)
    for verdict in ("HOLDS", "BOUNDED", "FAILS", "CANNOT CHECK"):
        assert verdict in words
    for answer, proves, does_not in limits.PROOFS:
        assert answer in words
        assert proves in words
        assert does_not in words
    assert "512 levels" in words
    assert "16.0 MiB" in words
    assert f"{settings.MAX_UPLOAD_MIB} MiB" in words

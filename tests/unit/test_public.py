"""What `import engine` offers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import engine


def test_every_public_name_is_there() -> None:
    """Each name of the package resolves, and nothing else is offered."""
    assert {name: callable(getattr(engine, name)) for name in engine.__all__} == dict.fromkeys(engine.__all__, True)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = engine.nonsense


def test_the_engine_starts_without_the_screen() -> None:
    """Using every public name loads no screen library."""
    code = (
        "import engine, sys, json; [getattr(engine, n) for n in engine.__all__]; print(json.dumps(list(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"streamlit", "pandas", "plotly"}.isdisjoint(json.loads(done.stdout))


def test_a_path_may_be_text(tmp_path: Path) -> None:
    """A file source takes a path as text, and a missing ledger is an answer."""
    report = engine.verify_ledger(engine.FileSource(str(tmp_path / "missing.jsonl")))  # type: ignore[arg-type]
    assert report.result.value == "COULD_NOT_LOOK"

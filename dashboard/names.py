"""Under which short names are files shown and linked?

A file is shown by its place below what was opened; a link carries the beginning of its SHA-256, so that it names the
bytes, not the place. A short name is for reading: two files may share one.
"""

from __future__ import annotations

from pathlib import Path

from dashboard.state import Opened
from engine.load import Input

LINK_DIGITS = 16


def shown(name: str, opened: Opened) -> str:
    """Return a path relative to the folder it was opened with, or its file name."""
    path = Path(name)
    for base in (*opened.paths, opened.workspace):
        folder = base if base.is_dir() else base.parent
        if path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return path.name


def link(file: Input) -> str:
    """Return what a link calls a file: the beginning of its digest, or its name when it was never read."""
    return file.sha256[:LINK_DIGITS] or file.name

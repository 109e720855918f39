"""The samples, copied into a folder where a test may change them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dashboard.names import LINK_DIGITS
from sample_ledgers.build import copy_to


def samples(folder: Path) -> Path:
    """Copy every sample into a folder and return it."""
    return copy_to(folder / "samples")


def sample(folder: Path, name: str) -> Path:
    """Copy every sample and return the folder of one."""
    return samples(folder) / name


def link_to(file: Path) -> str:
    """Return what an address calls a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:LINK_DIGITS]

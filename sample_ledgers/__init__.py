"""Which ledgers and sessions show what Winnow says?

One folder a case, with one defect each and the verdict at the end of its name: inputs, a README line why, and
`expected.json`. `build.py` makes them byte for byte. That the samples are judged as expected does not prove that other
files are.
"""

from __future__ import annotations

import shutil
from pathlib import Path

FOLDER = Path(__file__).parent


def sample_folders() -> tuple[Path, ...]:
    """Return the folder of every sample in order."""
    return tuple(sorted(path.parent for path in FOLDER.glob("*/expected.json")))


def copy_samples(target: Path) -> Path:
    """Copy every sample below a folder, replacing older copies of the same samples; returns the folder."""
    for folder in sample_folders():
        shutil.copytree(folder, target / folder.name, dirs_exist_ok=True)
    return target

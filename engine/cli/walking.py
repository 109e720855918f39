"""How is one ledger walked from the command line: alone, side by side, or from what is remembered?

All three give the same answer. What is remembered is as trustworthy as the folder it lies in: whoever can write there
can make it lie, so it is only kept where the user says.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from engine.cli.progress import progress_line
from engine.ledger.report import ChainReport, Limits
from engine.ledger.state import VerifyState, verify_again
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from engine.storage.files import atomic_write
from engine.storage.outcome import not_stored


def walk(path: Path, *, strict: bool, limits: Limits, jobs: int, remember: Path | None) -> ChainReport:
    """Verify one ledger; `jobs` processes side by side, or again from the folder `remember`.

    Raises `NotStoredError` when the folder cannot be written; the answer is then lost, not the ledger.
    """
    source = FileSource(path)
    if remember is not None:
        place = remember / f"{hashlib.sha256(str(path.resolve()).encode('utf-8', 'surrogateescape')).hexdigest()}.json"
        report, state = verify_again(source, _known(place), strict=strict, limits=limits, on_progress=progress_line())
        _make_folder(remember)
        atomic_write(place, json.dumps(state.as_json()).encode())
        return report
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            return verify_chain(source, strict=strict, limits=limits, executor=pool, on_progress=progress_line())
    return verify_chain(source, strict=strict, limits=limits, on_progress=progress_line())


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise not_stored(str(folder), exc) from exc


def _known(place: Path) -> VerifyState | None:
    try:
        return VerifyState.from_json(json.loads(place.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        return None  # damaged or unreadable: everything is walked anew, which is always right

"""What can the screen change?

The only changes: keeping an uploaded file in the workspace. Audited files are never written to. An upload is kept
under its digest and a cleaned name; the name a browser sends proves nothing.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from engine.storage.files import atomic_write

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARACTERS = 80


def keep_upload(folder: Path, name: str, data: bytes) -> Path:
    """Keep the bytes of an upload and return where; equal bytes under an equal name are kept once.

    Raises `NotStoredError` when the disk is full or the folder cannot be written; then nothing was kept.
    """
    plain = _NOT_PLAIN.sub("-", Path(name).name)[-_NAME_CHARACTERS:].lstrip(".-") or "upload"
    place = folder / hashlib.sha256(data).hexdigest()[:16] / plain
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(place, data)
    return place

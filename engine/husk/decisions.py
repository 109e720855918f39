"""Where do the decisions on a plan lie?

One file a decision beside the store, named by its digest; putting the same one there twice is no change. What a file
says is judged when it is read (`engine.husk.approve`), so a foreign or edited file counts for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import CannotLookError
from engine.husk.approve import statement_name
from engine.signing.envelope import canonical, read_statement
from engine.storage.files import atomic_write

FOLDER = "approvals"
MOST = 1_000


def keep(folder: Path, plan_id: str, statement: Mapping[str, Any]) -> Path:
    """Keep a decision and return where; raises as `atomic_write`."""
    place = folder / FOLDER / plan_id
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = place / f"{statement_name(statement)}.json"
    if not path.exists():
        atomic_write(path, canonical(statement) + b"\n")
    return path


def kept(folder: Path, plan_id: str) -> tuple[dict[str, Any], ...]:
    """Return the decisions on a plan in the order in which they say they were issued.

    What is no statement comes back as an empty one, which is then refused by name. Raises `CannotLookError`.
    """
    place = folder / FOLDER / plan_id
    if not place.is_dir():
        return ()
    try:
        paths = sorted(place.glob("*.json"))[:MOST]
        found = [read_statement(path.read_bytes()) or {} for path in paths]
    except OSError as error:
        raise CannotLookError("DECISIONS_UNREADABLE", error.strerror or str(error), where=str(place)) from error
    return tuple(sorted(found, key=lambda each: (str(each.get("issued_at", "")), str(each.get("nonce", "")))))

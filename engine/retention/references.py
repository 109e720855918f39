"""What have others published about rules over rounds?

Context for a chart, not a norm: results differ by product, version, prompt, budget and by what was counted. The points
are data with their sources; they are shown only when asked for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

SCHEMA = "winnow:references:v1"


@dataclass(frozen=True, slots=True)
class Reference:
    """One published series: where it stands, what it is of, how it was obtained, and (round, share) pairs."""

    source: str
    label: str
    note: str
    rounds: tuple[tuple[int, float], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {"source": self.source, "label": self.label, "note": self.note, "rounds": [list(p) for p in self.rounds]}


def read_references(data: Any) -> tuple[Reference, ...]:
    """Read the data file; raises `ValueError` for another schema and for a share outside 0 to 1."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f"expected the schema {SCHEMA}")
    made = tuple(
        Reference(
            str(each["source"]),
            str(each["label"]),
            str(each["note"]),
            tuple((int(number), float(share)) for number, share in each["rounds"]),
        )
        for each in data["points"]
    )
    if any(number < 1 or not 0 <= share <= 1 for each in made for number, share in each.rounds):
        raise ValueError("a point is a round from 1 on and a share from 0 to 1")
    return made


@cache
def references() -> tuple[Reference, ...]:
    """Return the published series that come with the program."""
    text = files("engine.retention").joinpath("references.json").read_text(encoding="utf-8")
    return read_references(json.loads(text))

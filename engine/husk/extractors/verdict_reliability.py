"""How well is a judge's verdict explained: how many dimensions carry a rationale, and of how many words?

Counts words; it does not weigh whether a rationale is right.
"""

from __future__ import annotations

from typing import Any

from engine.husk.view import PayloadView

VERSION = "1.0.0"
READS = ("/surface/dimensions",)
CONFIG: dict[str, Any] = {"hedges": ["maybe", "perhaps", "unclear", "unsure", "might"], "most_dimensions": 40}


def extract(view: PayloadView, config: dict[str, Any]) -> dict[str, Any] | None:
    """Return counts over all dimensions and words by dimension; None for an event without dimensions."""
    dimensions = view.get("/surface/dimensions")
    match dimensions:
        case dict():
            named = [(str(name), each) for name, each in sorted(dimensions.items())]
        case list():
            named = [(str(number), each) for number, each in enumerate(dimensions)]
        case _:
            return None
    words: dict[str, int] = {}
    hedged = 0
    for name, each in named:
        rationale = each.get("rationale") if isinstance(each, dict) else None
        if isinstance(rationale, str):
            found = rationale.lower().split()
            words[name[:32]] = len(found)
            hedged += any(word.strip(".,;:!?") in config["hedges"] for word in found)
    most = int(config["most_dimensions"])
    return {
        "dimensions": len(named),
        "with_rationale": len(words),
        "hedged": hedged,
        "rationale_words": dict(list(words.items())[:most]),
    }

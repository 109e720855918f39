"""The given cases of span audits, with generated texts written out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.spans.snapshot import Pin, snapshot

CASES: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "spans.json").read_text(encoding="utf-8")
)


def texts_of(case: dict[str, Any]) -> tuple[str, str]:
    """Return span and post text of a verdict case."""
    made = case.get("post_text_gen")
    if made is None:
        return case["span"], case["post_text"]
    span = case["span"] or "".join(text * times for text, times in made["span_parts"])
    return span, "".join((span if text == "@span" else text) * times for text, times in made["parts"])


def pins_of(*spans: str) -> tuple[Pin, ...]:
    """Pin spans with the class their text gets."""
    return snapshot("evt-1", spans).pins

"""Which tools did a call use, in which order?

Names and order only; arguments and results are not kept, and that a tool did what it says is not known.
"""

from __future__ import annotations

import hashlib
from typing import Any

from engine.husk.view import PayloadView

VERSION = "1.0.0"
READS = ("/light/toolCalls",)
CONFIG: dict[str, Any] = {"most_tools": 24}


def extract(view: PayloadView, config: dict[str, Any]) -> dict[str, Any] | None:
    """Return the number of steps, how often each tool was called, and the first and last; None without calls."""
    calls = view.get("/light/toolCalls")
    if not isinstance(calls, list) or not calls:
        return None
    names = [str(call.get("name", "")) if isinstance(call, dict) else "" for call in calls]
    counts: dict[str, int] = {}
    for name in names:
        counts[name[:48]] = counts.get(name[:48], 0) + 1
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[: int(config["most_tools"])]
    order = hashlib.sha256("\x1f".join(names).encode("utf-8", "surrogatepass")).hexdigest()
    return {"steps": len(names), "tools": dict(most), "first": names[0][:48], "last": names[-1][:48], "order": order}

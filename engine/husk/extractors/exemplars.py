"""Could an event serve as an example, judged by what it holds: sizes and parts, never its text?

The text itself is only in the archive; this says how much there is to unseal.
"""

from __future__ import annotations

from typing import Any

from engine.husk.view import PayloadView, texts_of

VERSION = "1.0.0"
READS = ("/light/rawRequest", "/light/rawResponse", "/light/reasoning")
CONFIG: dict[str, Any] = {}


def extract(view: PayloadView, config: dict[str, Any]) -> dict[str, Any] | None:  # noqa: ARG001 - one shape for all
    """Return characters of text by part; None for an event without any."""
    parts = {path: view.get(path) for path in READS}
    sizes = {path.rsplit("/", 1)[1]: sum(map(len, texts_of(part))) for path, part in parts.items() if part is not None}
    return {"characters": sizes} if any(sizes.values()) else None

"""How much of an answer stands in what it was asked with: distinct words of the response found in the request?

Counts shared words; it does not judge whether an answer is grounded in meaning.
"""

from __future__ import annotations

import re
from typing import Any

from engine.husk.view import PayloadView, texts_of

VERSION = "1.0.0"
READS = ("/light/rawRequest", "/light/rawResponse")
CONFIG: dict[str, Any] = {"least_letters": 4}

_WORD = re.compile(r"\w+")


def extract(view: PayloadView, config: dict[str, Any]) -> dict[str, Any] | None:
    """Return counts of distinct words; None for an event without a response."""
    request, response = view.get("/light/rawRequest"), view.get("/light/rawResponse")
    if response is None:
        return None
    least = int(config["least_letters"])
    asked, said = (
        {word for text in texts_of(part) for word in _WORD.findall(text.lower()) if len(word) >= least}
        for part in (request, response)
    )
    return {"response_words": len(said), "shared": len(said & asked), "request_words": len(asked)}

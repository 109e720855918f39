"""Events of real shape for the tests of the husk pipeline."""

from __future__ import annotations

import json
from typing import Any


def event(event_id: str = "e-1", kind: str = "light_call", *, text: int = 4000, **more: Any) -> dict[str, Any]:
    """Return one event value with every part that a projection knows; `text` sizes the bulk."""
    return {
        "id": event_id,
        "kind": kind,
        "occurredAt": "2026-01-02T03:04:05Z",
        "session": "run-1",
        "substrate": {"task": "ship the export button", "seed": 7},
        "surface": {
            "grading": "graded",
            "dimensions": {
                "safety": {"score": 0.75, "rationale": "It asked first. " * 8},
                "style": {"score": 1, "rationale": "Plain words."},
            },
        },
        "judge": {"id": "judge-2", "model": "small"},
        "claims": [{"id": "c-1", "says": "tests pass"}],
        "gates": {"release": "open"},
        "light": {
            "id": "call-9",
            "provider": "local",
            "model": "m-1",
            "tokens": {"in": 900, "out": 120},
            "cost": 0.0012,
            "latencyMs": 812,
            "status": "ok",
            "rawRequest": {"messages": [{"role": "user", "content": "x" * text}]},
            "rawResponse": {"content": "y" * (text // 4)},
            "reasoning": "because " * 20,
            "toolCalls": [{"name": "search", "arguments": {"q": "z"}}],
            "vendorMetadata": {"region": "eu"},
            "error": {"code": "none", "message": "nothing went wrong"},
        },
        "error": {"type": "none", "message": "nothing"},
        "sideEffects": [{"kind": "write", "target": "a.txt", "outcome": "ok", "details": "wrote 12 bytes"}],
        "note": "small",
        **more,
    }


def raw(value: dict[str, Any]) -> bytes:
    """Write an event as its producer would: no canonical form."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8")

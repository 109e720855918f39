"""What would the format's own packages say?

The one door to the reference packages. They are asked in tests, in benchmarks and where a user wants the reference's
answer beside ours; our answers never come from them. An answer of the reference proves what its documentation says,
no more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arcaeon.record.ledger import verify_file


def reference_verify(path: Path, *, strict: bool = False) -> dict[str, Any] | None:
    """Return the reference verifier's fields for a file, or None for a file it raises on."""
    try:
        found = verify_file(path, strict=strict)
    except ValueError:  # a duplicate key followed by junk escapes it as a JSON error
        return None
    return {
        "ok": found.ok,
        "rows": found.rows,
        "chained": found.chained,
        "prechain": found.prechain,
        "first_break": found.first_break,
        "breaks": found.breaks,
        "verified_scope": found.verified_scope,
        "declared_breaks": found.declared_breaks,
        "declared": list(found.declared),
    }

"""Write a large honest ledger quickly, row by row in the format writer's own style."""

from __future__ import annotations

import hashlib
from pathlib import Path

KINDS = ("tool_call", "tool_result", "note", "reply")
_BLOCK = 20_000


def write_ledger(path: Path, rows: int) -> Path:
    """Write a chained ledger of so many rows of about 200 bytes; the keys stand sorted, so the row is its own body."""
    previous = "genesis"
    pending: list[str] = []
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for number in range(1, rows + 1):
            day, minute = divmod(number // 60, 1440)
            moment = (
                f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}T{minute // 60:02}:{minute % 60:02}:{number % 60:02}Z"
            )
            body = (
                f'{{"actor": "worker-{number % 7}", "kind": "{KINDS[number % len(KINDS)]}", "n": {number}, '
                f'"text": "step {number} of the long run", "ts": "{moment}"}}'
            )
            previous = hashlib.sha256((previous + body).encode()).hexdigest()[:32]
            pending.append(f'{body[:-1]}, "chain": "{previous}"}}\n')
            if len(pending) == _BLOCK:
                stream.write("".join(pending))
                pending.clear()
        stream.write("".join(pending))
    return path

"""What did the compaction throw away, and can it be proven?

The embedded engine: pure checks over bytes, and a few named acts that touch disk. It opens no network connection
and imports no screen library. It does not prove that dropping was wise, nor that the input of a compaction was
complete.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.ledger.append import append
    from engine.ledger.pin_check import check_pins
    from engine.ledger.verify import verify_ledger
    from engine.lines.source import FileSource, MemorySource
    from engine.receipts.link import link_receipts
    from engine.receipts.seal import CompactionReceipt
    from engine.receipts.sweep import sweep_ledger
    from engine.receipts.verify import verify_receipt
    from engine.transcripts.reader import read_transcript

try:
    __version__ = version("winnow-audit")
except PackageNotFoundError:  # running from an unpacked tree without installation
    __version__ = "0+unknown"

_HOMES = {
    "CompactionReceipt": "engine.receipts.seal",
    "FileSource": "engine.lines.source",
    "MemorySource": "engine.lines.source",
    "append": "engine.ledger.append",
    "check_pins": "engine.ledger.pin_check",
    "link_receipts": "engine.receipts.link",
    "read_transcript": "engine.transcripts.reader",
    "sweep_ledger": "engine.receipts.sweep",
    "verify_ledger": "engine.ledger.verify",
    "verify_receipt": "engine.receipts.verify",
}
__all__ = [
    "CompactionReceipt",
    "FileSource",
    "MemorySource",
    "append",
    "check_pins",
    "link_receipts",
    "read_transcript",
    "sweep_ledger",
    "verify_ledger",
    "verify_receipt",
]


def __getattr__(name: str) -> Any:
    """Load a public function when it is first asked for, so that a small use of the engine starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

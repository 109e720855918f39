"""Writes extractor modules that misbehave, each in its own way."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

BODIES = {
    "hangs": "    while True:\n        pass",
    "raises": "    raise RuntimeError('secret text of the payload')",
    "eats_memory": "    return {'n': len(bytearray(10 * 1024**3))}",
    "says_too_much": "    return {str(n): n for n in range(10_000)}",
    "returns_payload": "    return {'text': view.get('/light')['rawRequest']['messages'][0]['content']}",
    "reads_undeclared": "    return {'n': len(view.get('/surface'))}",
    "prints": "    print('x' * 5_000_000, flush=True)\n    return {'n': 1}",
    "exits": "    import os\n    os._exit(3)",
    "connects": "    import socket\n    socket.create_connection(('127.0.0.1', 9))\n    return {'n': 1}",
    "returns_nan": "    return {'n': float('nan')}",
    "returns_a_set": "    return {'n': {1}}",
}


def write(folder: Path, name: str, *, version: str = "1", body: str = "") -> ModuleType:
    """Write and import one extractor module."""
    path = folder / f"{name}_extractor.py"
    text = f"VERSION = {version!r}\nREADS = ('/light',)\nCONFIG = {{}}\n\n\ndef extract(view, config):\n"
    path.write_text(text + (body or BODIES[name]) + "\n", encoding="utf-8")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    sys.modules.pop(path.stem, None)
    return importlib.import_module(path.stem)

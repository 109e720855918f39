"""Runs commands as they are typed, in this process, through the same door as the installed command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any

from engine.cli.main import run


@dataclass(frozen=True, slots=True)
class Typed:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the one object a command with `--json` printed."""
        return json.loads(self.out)


def typed(*words: object) -> Typed:
    """Run `winnow` with these words."""
    argv, out, err = ["winnow", *map(str, words)], StringIO(), StringIO()
    code = -1
    with _streams(argv, out, err):
        try:
            run()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else -1
    return Typed(code, out.getvalue(), err.getvalue())


@contextmanager
def _streams(argv: list[str], out: StringIO, err: StringIO) -> Iterator[None]:
    kept = sys.argv, sys.stdout, sys.stderr
    sys.argv, sys.stdout, sys.stderr = argv, out, err
    try:
        yield
    finally:
        sys.argv, sys.stdout, sys.stderr = kept

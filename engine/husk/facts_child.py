"""How are facts computed so that a bad extractor can do no harm?

In a child process of their own: bounded memory, a time limit for each event, no way to open a connection, and whatever
it prints goes nowhere. A child that hangs or dies is ended and started again, and its event has no facts. This keeps
mistakes in; it is no prison for an extractor written to break out.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Any, Self

from engine.husk.facts import EXTRACTORS, Extractor, Fact, FactOutcome, extractor_of, facts_of

MEMORY_BYTES = 1024 * 1024 * 1024
EVENT_SECONDS = 10.0
MAX_ANSWER_BYTES = 64 * 1024
_LENGTH = struct.Struct("<I")


class FactsChild:
    """A running child; use as a context manager. Not safe for several threads."""

    def __init__(self, extractors: Sequence[Extractor] = EXTRACTORS, *, seconds: float = EVENT_SECONDS) -> None:
        self._extractors = tuple(extractors)
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def facts(self, raw: bytes) -> dict[str, Fact]:
        """Return the facts of one admitted event; a failure of the child is an ERROR fact of every extractor."""
        process = self._process or self._start()
        self._process = process
        answer = self._ask(process, raw)
        if isinstance(answer, str):
            self._end()
            return {each.name: Fact(each.identity(), FactOutcome.ERROR, error=answer) for each in self._extractors}
        return {
            each.name: Fact(each.identity(), FactOutcome(found["outcome"]), found["value"], found["error"])
            for each, found in zip(self._extractors, answer, strict=True)
        }

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "engine.husk.facts_child", *(each.module for each in self._extractors)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module names
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )

    def _ask(self, process: subprocess.Popen[bytes], raw: bytes) -> list[dict[str, Any]] | str:
        if process.stdin is None or process.stdout is None:
            raise AssertionError("the child was started with pipes")
        try:
            process.stdin.write(_LENGTH.pack(len(raw)) + raw)
            process.stdin.flush()
        except BrokenPipeError:
            return "the extractors' process ended"
        head = _read(process.stdout, _LENGTH.size, self._seconds)
        if head is None:
            return f"no answer within {self._seconds:g} s"
        size = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else 0
        if not 0 < size <= MAX_ANSWER_BYTES:
            return "the extractors' process ended"
        data = _read(process.stdout, size, self._seconds)
        if data is None or len(data) != size:
            return "the extractors' process ended"
        found: list[dict[str, Any]] = json.loads(data)
        return found

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait()


def _read(pipe: IO[bytes], size: int, seconds: float) -> bytes | None:
    """Read exactly `size` bytes; fewer at the end of the pipe, None when nothing came in time."""
    data = b""
    while len(data) < size:
        ready, _, _ = select.select([pipe], [], [], seconds)
        if not ready:
            return None
        piece = os.read(pipe.fileno(), size - len(data))
        if not piece:
            return data
        data += piece
    return data


def _refuse(*_: object, **__: object) -> None:
    raise PermissionError("extractors may not open connections")


def _serve(names: Sequence[str]) -> None:
    """Answer events from standard input until it ends; runs in the child."""
    answers, events = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # what an extractor prints must not look like an answer
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    socket.socket.connect = _refuse  # type: ignore[method-assign]
    extractors = tuple(extractor_of(importlib.import_module(name)) for name in names)
    while len(head := events.read(_LENGTH.size)) == _LENGTH.size:
        raw = events.read(_LENGTH.unpack(head)[0])
        made = facts_of(json.loads(raw), extractors)
        answer = [{"outcome": f.outcome.value, "value": f.value, "error": f.error} for f in made.values()]
        data = json.dumps(answer).encode("utf-8")
        answers.write(_LENGTH.pack(len(data)) + data)
        answers.flush()


if __name__ == "__main__":
    _serve(sys.argv[1:])

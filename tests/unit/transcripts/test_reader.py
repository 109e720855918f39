"""Choosing a reader."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engine.errors import CannotLookError, UsageError
from engine.lines.source import MemorySource, Source
from engine.transcripts import reader
from engine.transcripts.options import ReadOptions
from engine.transcripts.reader import READERS, choose_reader, read_transcript, sniff_format
from engine.transcripts.rounds import Transcript
from tests.support.sessions import ClaudeSession, CodexSession, Lines, PiSession, copilot, openhands_new, openhands_old


def claude() -> Lines:
    """Write one exchange."""
    session = ClaudeSession()
    session.chat("1")
    return session


@pytest.mark.parametrize(
    ("session", "name"),
    [
        (claude(), "claude-code"),
        (CodexSession(), "codex"),
        (PiSession(), "pi"),
        (openhands_old(), "openhands"),
        (openhands_new(), "openhands"),
        (copilot(), "copilot-cli"),
    ],
)
def test_content_decides(session: Lines, name: str) -> None:
    """Each format is recognised under any name and by one reader only."""
    for file_name in ("x", "x.jsonl", "rollout.json"):
        found = sniff_format(MemorySource(file_name, session.data()))
        assert [r.name for r, _ in found] == [name]
    assert choose_reader(MemorySource("x", session.data().decode().encode("utf-16"))).name == name


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b'{"sessionId":"s","uuid":"u","type":"user","message":{}}', "claude-code"),
        (b'{"record_type":"state"}\n{"type":"message","role":"user","content":[]}', "codex"),
        (b'{"timestamp":"t","type":"event_msg","payload":{}}', "codex"),
        (b'{"type":"session","id":"1","cwd":"/w"}', "pi"),
        (b'{"id":"e","type":"assistant.turn_start","data":{}}', "copilot-cli"),
    ],
)
def test_a_head_without_the_strongest_mark_is_still_recognised(head: bytes, name: str) -> None:
    """Older and cut files lack the row that names the tool."""
    assert choose_reader(MemorySource("x", head)).name == name


def test_a_fork_with_other_contents_is_not_taken_for_the_original() -> None:
    """The same tree with another message form must not be read as if it were empty."""
    head = b'{"sessionId":"s","uuid":"u","parentUuid":null,"message":{"role":"user","parts":[]}}'
    assert read_transcript(MemorySource("x.jsonl", head)).format == "qwen-code"


def test_names_are_unique_and_described() -> None:
    """The registry can be listed to a user."""
    assert len({r.name for r in READERS}) == len(READERS)
    assert all(r.describes and r.extensions for r in READERS)


@pytest.mark.parametrize("data", [b"", b"hello", b"\0" * 9, b'{"a":1}\n', b"PK\x05\x06"])
def test_what_no_reader_knows_is_refused_by_name(data: bytes) -> None:
    """An unknown file is wrong use with the list of formats, not an empty transcript."""
    with pytest.raises(UsageError, match="known format") as caught:
        read_transcript(MemorySource("x", data))
    assert "claude-code" in caught.value.hint


def test_an_unknown_format_name_is_wrong_use() -> None:
    """The names that exist stand in the message."""
    with pytest.raises(UsageError, match="claude-code"):
        read_transcript(MemorySource("x", b""), format="nonsense")


@dataclass(frozen=True)
class Eager:
    """A reader that claims every file and fails on it."""

    name: str
    extensions: tuple[str, ...] = (".abc",)
    describes: str = "eager"
    error: type[Exception] = KeyError

    def sniff(self, head: bytes, name: str) -> int:
        """Claim it."""
        return 100 if head is not name else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Fail."""
        raise self.error(source.name, options)


def test_a_tie_is_put_to_the_user_unless_the_name_breaks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two readers with one score are named; a matching extension decides."""
    monkeypatch.setattr(reader, "READERS", (Eager("one"), Eager("two", (".xyz",))))
    with pytest.raises(UsageError, match="one, two"):
        choose_reader(MemorySource("file", b"x"))
    assert choose_reader(MemorySource("file.xyz", b"x")).name == "two"


@pytest.mark.parametrize("error", [KeyError, TypeError, RecursionError, OSError])
def test_a_failing_reader_is_a_named_refusal(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    """What a reader did not foresee could not be looked at; it is no traceback."""
    monkeypatch.setattr(reader, "READERS", (Eager("one", error=error),))
    with pytest.raises(CannotLookError):
        read_transcript(MemorySource("file", b"x"))

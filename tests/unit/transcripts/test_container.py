"""Packed files: the same items as unpacked, and no file that unpacks past its limit."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from engine.errors import CannotLookError, LimitError
from engine.findings import CancelledError
from engine.lines.source import FileSource, MemorySource
from engine.load import InputKind, classify, load_inputs
from engine.review import hold
from engine.transcripts import content
from engine.transcripts.container import unpacked
from engine.transcripts.content import read_content
from engine.transcripts.options import TranscriptLimits
from engine.transcripts.reader import read_transcript
from tests.support.sessions import PiSession

BOMB = gzip.compress(b"\0" * 4_000_000)
LIMIT = 1_000_000


def session() -> bytes:
    """Write a session with one compaction."""
    pi = PiSession()
    pi.user("u1", "one: x")
    pi.entry("compaction", "k1", summary="sum: x", firstKeptEntryId="u1", tokensBefore=1)
    return pi.data()


def test_a_packed_session_reads_like_the_plain_one(tmp_path: Path) -> None:
    """Items, rounds and the digest of the source are those of the unpacked bytes."""
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(gzip.compress(session()))
    packed = read_transcript(FileSource(path))
    plain = read_transcript(MemorySource("s.jsonl", session()))
    assert len(packed.rounds) == 1
    assert list(packed.items) == list(plain.items)
    assert packed.sources[0].sha256 == plain.sources[0].sha256


def test_a_plain_file_is_handed_on_untouched() -> None:
    """What is not packed is the same source, not a copy in memory."""
    source = MemorySource("s.jsonl", session())
    assert unpacked(source, LIMIT) is source


def test_a_bomb_is_refused_at_the_limit_whatever_it_claims() -> None:
    """A few kilobytes that unpack to more than the limit are refused, with the limit in the message."""
    assert len(BOMB) < LIMIT // 100
    with pytest.raises(LimitError, match=str(LIMIT)):
        read_transcript(MemorySource("s.gz", BOMB), limits=TranscriptLimits(document_bytes=LIMIT))


def test_content_has_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed content file holds the same items, and a bomb is refused there as well."""
    assert read_content(MemorySource("c.json.gz", gzip.compress(b'["a", "b"]'))).items == ("a", "b")
    monkeypatch.setattr(content, "MAX_BYTES", LIMIT)
    with pytest.raises(LimitError):
        read_content(MemorySource("c.gz", BOMB))


@pytest.mark.parametrize("cut", [2, 9, 15, -9, -1])
def test_a_cut_packed_file_cannot_be_looked_at(cut: int) -> None:
    """A packed file that ends early is a named refusal wherever it was cut."""
    with pytest.raises(CannotLookError, match="gzip"):
        unpacked(MemorySource("s.gz", gzip.compress(session())[:cut]), LIMIT)


def test_damage_inside_a_packed_file_cannot_pass() -> None:
    """Every single changed byte is a refusal or leaves the content as it was (names and times in the header)."""
    packed = gzip.compress(session(), mtime=0)
    refused = 0
    for at in range(2, len(packed)):
        damaged = bytearray(packed)
        damaged[at] ^= 0x55
        try:
            source = unpacked(MemorySource("s.gz", bytes(damaged)), LIMIT)
        except CannotLookError:
            refused += 1
            continue
        with source.open() as stream:
            assert stream.read() == session()
    assert refused > len(packed) // 2


def test_unpacking_can_be_cancelled() -> None:
    """The caller is asked while bytes are unpacked."""
    with pytest.raises(CancelledError):
        read_transcript(MemorySource("s.gz", BOMB), is_cancelled=lambda: True)


def test_a_folder_with_packed_files_is_reviewed(tmp_path: Path) -> None:
    """Sessions and content files are held; a packed ledger is named, not read."""
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(session() + b" " * 100_000))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b'["x"]'))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"chain": "x"}\n'))
    inputs = load_inputs([tmp_path])
    assert [each.kind for each in inputs] == [InputKind.TRANSCRIPT, InputKind.CONTENT, InputKind.OTHER]
    held = hold(inputs)
    assert [len(read.rounds) for _, read in held.transcripts] == [1]
    assert [content.items for _, content in held.contents] == [("x",)]
    assert classify(b"\x1f\x8b\x00", "x.gz") == (InputKind.OTHER, "")

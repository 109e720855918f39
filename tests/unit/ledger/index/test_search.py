"""The search box says what it recognised, and finds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.findings import CancelledError, Watch
from engine.ledger.index import search
from engine.ledger.index.build import build_index
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.search import Recognised, find_key, find_text, recognise
from engine.lines.source import MemorySource
from tests.support.ledgers import chain_of, chained, numbered

DIGEST = "04f2" * 16
CASES: list[tuple[str, Recognised, str]] = [
    ("12", Recognised.LINE, "12"),
    (" line 7 ", Recognised.LINE, "7"),
    ("#7", Recognised.LINE, "7"),
    ("0", Recognised.TEXT, "0"),
    ("99999", Recognised.CHAIN_OR_DIGEST, "99999"),
    ("482332dd", Recognised.CHAIN_OR_DIGEST, "482332dd"),
    ("0x482332DD", Recognised.CHAIN_OR_DIGEST, "482332dd"),
    (DIGEST, Recognised.DIGEST, DIGEST),
    ("sha256:json-c14n:v1:04F2", Recognised.DIGEST, "04f2"),
    ("2026-01-02", Recognised.TIME, "2026-01-02"),
    ("2026-01-02T03:04:05Z", Recognised.TIME, "2026-01-02T03:04:05Z"),
    ("9999-12-31", Recognised.TIME, "9999-12-31"),
    ("2026-13-02", Recognised.TEXT, "2026-13-02"),
    ("compactor: a b", Recognised.NAME, "a b"),
    ("refund", Recognised.TEXT, "refund"),
    ("facade", Recognised.TEXT, "facade"),
    ("  ", Recognised.NOTHING, ""),
]


@pytest.mark.parametrize(("text", "kind", "value"), CASES, ids=[repr(case[0]) for case in CASES])
def test_a_query_is_recognised(text: str, kind: Recognised, value: str) -> None:
    """For a ledger of a hundred lines."""
    query = recognise(text, 100)
    assert (query.kind, query.value) == (kind, value)


def test_a_day_reaches_from_its_first_to_its_last_moment() -> None:
    """Both ends are inside."""
    query = recognise("2026-01-02", 0)
    assert query.since is not None
    assert query.until is not None
    assert (query.since.isoformat(), query.until.isoformat()) == (
        "2026-01-02T00:00:00+00:00",
        "2026-01-02T23:59:59.999999+00:00",
    )


def indexed(folder: Path, *rows: dict[str, Any]) -> tuple[LedgerIndex, MemorySource]:
    """Chain and index rows."""
    source = MemorySource("m", b"".join(chained(rows)))
    return build_index(source, folder), source


def test_a_chain_value_is_found_by_any_beginning(tmp_path: Path) -> None:
    """From four digits to all thirty-two, in either case; a wrong last digit finds nothing."""
    index, source = indexed(tmp_path, *numbered(30))
    chain = chain_of(source.data.splitlines()[16])
    for length in range(4, 33):
        hits = find_key(index, source, recognise("0x" + chain[:length].upper(), 0))
        assert (17, "chain") in [(hit.row.line, hit.field) for hit in hits]
    other = chain[:-1] + ("0" if chain[-1] != "0" else "1")
    assert find_key(index, source, recognise("0x" + other, 0)) == ()


def test_receipt_and_side_digests_are_found(tmp_path: Path) -> None:
    """Each with the name of its field; a digest query does not look at chain values."""
    digest = "sha256:json-c14n:v1:"
    row = {
        "schema": "arcaeon-compact:receipt:v2",
        "receipt_digest": digest + "ab12" * 16,
        "pre": {"digest": digest + "cd34" * 16},
        "post": {"digest": digest + "ef56" * 16},
    }
    index, source = indexed(tmp_path, {"i": 0}, row)
    for digits, field in (("ab12", "receipt_digest"), ("cd34" * 16, "pre.digest"), ("ef56" * 5, "post.digest")):
        hits = find_key(index, source, recognise(digest + digits, 0))
        assert [(hit.row.line, hit.field) for hit in hits] == [(2, field)]
    chain = chain_of(source.data.splitlines()[0])
    assert find_key(index, source, search.Query(Recognised.DIGEST, chain)) == ()


TEXTS = ["Refund window", "café 🔒", 'quote " and \\ slash', "line\nbreak", "plain"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_text_is_found_raw_and_escaped(tmp_path: Path, text: str, ascii_only: bool) -> None:
    """However the JSON writer spelled it, and in either case of ASCII letters."""
    rows = [json.dumps({"t": f"<{t}>"}, ensure_ascii=ascii_only) for t in TEXTS]
    source = MemorySource("m", "\n".join(rows).encode())
    index = build_index(source, tmp_path)
    hits = find_text(index, source, text.upper() if text.isascii() and "\n" not in text else text)
    assert [row.line for row in hits.rows] == [TEXTS.index(text) + 1]
    assert hits.next_offset is None


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64, 4096])
def test_text_across_blocks_and_budgets_is_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Whatever the block and however small the budget, going on finds every row once."""
    monkeypatch.setattr(search, "_BLOCK_BYTES", block)
    source = MemorySource("m", b"".join(b'{"t": "%s needle needle"}\n' % (b"x" * n) for n in range(9)))
    index = build_index(source, tmp_path)
    for budget in (5, 17, 100, 10_000):
        found: list[int] = []
        offset: int | None = 0
        while offset is not None:
            hits = find_text(index, source, "needle", offset=offset, budget=budget, limit=2)
            found += [row.line for row in hits.rows]
            offset = hits.next_offset
        assert list(dict.fromkeys(found)) == list(range(1, 10))


def test_a_search_can_be_watched_and_cancelled(tmp_path: Path) -> None:
    """Progress names the step; a cancel ends it."""
    index, source = indexed(tmp_path, *numbered(3))
    with pytest.raises(CancelledError):
        find_text(index, source, "i", watch=Watch(is_cancelled=lambda: True))

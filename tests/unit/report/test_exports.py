"""Do exports hold the whole filtered set, name what was checked, and stay inert in whatever opens them?"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from dashboard.loaders import RECEIPT_STATE
from engine.ledger.index.build import ledger_index
from engine.ledger.index.layout import LedgerIndex
from engine.ledger.index.query import EVERYTHING, Filter, Pick, Sort
from engine.ledger.index.states import CHAIN_STATE, attach_chain
from engine.report.manifest import Manifest
from engine.report.page import report_page
from engine.report.rows import PAGE, exported_columns, exported_rows, ledger_manifest
from engine.report.table import csv_cell, csv_lines, json_document
from engine.review import Review, review
from tests.support.ledgers import chained, numbered
from tests.support.samples import sample

ORDER = Sort("line", descending=False)


def _opened(folder: Path, path: Path) -> tuple[Review, LedgerIndex]:
    found = review([path])
    (ledger,) = found.ledgers
    index = ledger_index(ledger.input.source, folder / "index", ledger.chain.sha256)
    return found, attach_chain(index, ledger.chain)


def _ledger(folder: Path, count: int, **more: object) -> Path:
    path = folder / "ledger.jsonl"
    path.write_bytes(b"".join(chained(numbered(count, **more))))
    return path


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", '=HYPERLINK("http://198.51.100.7/")', "=cmd|' /C calc'!A0"]
)
def test_no_cell_is_a_formula(cell: str) -> None:
    """A text that a spreadsheet would run gets an apostrophe in front."""
    assert csv_cell(cell).startswith("'")


@pytest.mark.parametrize(("value", "written"), [(None, ""), (-5, "-5"), ("plain", "plain"), (0, "0")])
def test_numbers_and_plain_text_stay(value: object, written: str) -> None:
    """A negative number is a number; nothing is put in front of what is harmless."""
    assert csv_cell(value) == written


def test_hidden_characters_are_written_visibly() -> None:
    """Control and direction characters cannot hide in a cell."""
    assert csv_cell("a\u202eb\x1b[31m") == "a\\u202eb\\u001b[31m"


def test_whole_set_leaves_not_one_page(tmp_path: Path) -> None:
    """More rows than one reading page leave complete and in order, under a manifest that counts them."""
    rows = PAGE + 7
    found, index = _opened(tmp_path, _ledger(tmp_path, rows))
    manifest = ledger_manifest(found.ledgers[0], index)
    text = "".join(csv_lines(manifest, exported_columns(index), exported_rows(index, EVERYTHING, ORDER)))
    head, body = text.split("\r\n", 1)
    told = json.loads(head.removeprefix("# "))
    assert told["count"] == rows
    assert told["sources"][0]["sha256"] == found.ledgers[0].input.sha256
    assert told["heads"] == {found.ledgers[0].input.name: found.ledgers[0].chain.head}
    assert [int(row["line"]) for row in csv.DictReader(io.StringIO(body))] == list(range(1, rows + 1))


def test_filter_is_applied_and_named(tmp_path: Path) -> None:
    """A filtered export holds the matching rows only, says the filter in words, and counts them."""
    folder = sample(tmp_path, "edited_row_fails")
    found, index = _opened(tmp_path, folder / "receipts.jsonl")
    code = index.code(CHAIN_STATE, "broken")
    assert code is not None
    flt = Filter(picks=(Pick(CHAIN_STATE, frozenset({code})),), first_line=2)
    manifest = ledger_manifest(found.ledgers[0], index, flt)
    document = json.loads(json_document(manifest, exported_columns(index), exported_rows(index, flt, ORDER)))
    assert [row["line"] for row in document["rows"]] == [4]
    assert document["manifest"]["count"] == 1
    assert document["manifest"]["filter"] == {CHAIN_STATE: "broken", "first_line": "2"}
    assert document["manifest"]["stamp"].startswith("THE CHAIN OF THIS LEDGER IS BROKEN")


def test_intact_ledger_has_no_stamp(tmp_path: Path) -> None:
    """Only a broken ledger is stamped."""
    found, index = _opened(tmp_path, _ledger(tmp_path, 3))
    assert ledger_manifest(found.ledgers[0], index).stamp == ""


def test_hostile_values_stay_text_in_csv_and_json(tmp_path: Path) -> None:
    """A kind that is a formula is quoted in the CSV and unchanged in the JSON."""
    kind = '=HYPERLINK("http://198.51.100.7/","x")'
    found, index = _opened(tmp_path, _ledger(tmp_path, 2, kind=kind))
    manifest, columns = ledger_manifest(found.ledgers[0], index), exported_columns(index)
    text = "".join(csv_lines(manifest, columns, exported_rows(index, EVERYTHING, ORDER)))
    first = next(csv.DictReader(io.StringIO(text.split("\r\n", 1)[1])))
    assert first["kind"] == "'" + kind
    document = json.loads(json_document(manifest, columns, exported_rows(index, EVERYTHING, ORDER)))
    assert document["rows"][0]["kind"] == kind


def test_json_bears_a_lone_surrogate() -> None:
    """A character that cannot be encoded is escaped, so that the document is UTF-8."""
    manifest = Manifest("ledger rows", (("a\ud800.jsonl", "", 0),), 1)
    document = json_document(manifest, ["kind"], [["\udfff"]])
    assert json.loads(document.encode("utf-8"))["rows"] == [{"kind": "\udfff"}]


def test_report_on_hostile_files_is_inert(tmp_path: Path) -> None:
    """No tag, attribute or address of the content becomes one of the page; hidden characters are marked."""
    folder = sample(tmp_path, "hostile_session_holds")
    found = review([folder])
    page = report_page(found, ledger_manifest(found.ledgers[0]))
    assert "<script" not in page
    assert "<img" not in page
    assert "<iframe" not in page
    assert "href=" not in page
    assert "src=" not in page.replace("src=x onerror", "").replace("src=&#39;", "")
    assert "&lt;script&gt;" in page
    assert "⟨U+202E⟩" in page
    assert "\u202e" not in page
    assert "default-src 'none'" in page


def test_report_on_a_broken_ledger_is_stamped(tmp_path: Path) -> None:
    """The stamp and the break with both values stand on the page; an intact one has no stamp."""
    found = review([sample(tmp_path, "edited_row_fails")])
    (ledger,) = found.ledgers
    page = report_page(found, ledger_manifest(ledger), [ledger])
    assert '<p class="stamp">THE CHAIN OF THIS LEDGER IS BROKEN' in page
    assert ledger.chain.findings[0].claimed in page
    assert ledger.chain.findings[0].found in page
    assert ledger.input.sha256 in page
    found = review([sample(tmp_path / "b", "honest_holds")])
    assert '<p class="stamp">' not in report_page(found, ledger_manifest(found.ledgers[0]))


def test_columns_name_the_attached_states(tmp_path: Path) -> None:
    """What the screen shows of a row's state leaves with it."""
    _, index = _opened(tmp_path, _ledger(tmp_path, 2))
    assert CHAIN_STATE in exported_columns(index)
    assert RECEIPT_STATE not in exported_columns(index)

"""A whole ledger of receipts swept with its chain."""

from __future__ import annotations

import copy
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from engine.findings import CancelledError, Progress, Result
from engine.ledger.report import GENESIS, Limits
from engine.lines import fast
from engine.lines.canonical import chain_body, chain_value
from engine.lines.source import FileSource, MemorySource
from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.quick import quick_summary
from engine.receipts.summary import ReceiptSummary, summarise
from engine.receipts.sweep import SweepReport, sweep_ledger, sweep_receipts
from engine.receipts.verify import verify_receipt
from tests.support.receipts import POST, PRE, as_v1, random_case, receipt_row, reseal

LIE = receipt_row(PRE, PRE, compactor="liar")
HONEST = receipt_row([*PRE, *(f"turn {number}" for number in range(150))], POST)


def ledger(*rows: Any, name: str = "receipts.jsonl") -> MemorySource:
    """Chain rows into a ledger as the format's writer does; a bytes row is put in as it is."""
    previous, lines = GENESIS, []
    for row in rows:
        if isinstance(row, bytes):
            lines.append(row)
            continue
        chained = {key: value for key, value in row.items() if key != "chain"}
        previous = chain_value(previous, chain_body(chained))
        lines.append(json.dumps({**chained, "chain": previous}, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return MemorySource(name, b"".join(line + b"\n" for line in lines))


def swept(source: MemorySource, **options: Any) -> tuple[SweepReport, list[ReceiptSummary]]:
    """Sweep a ledger and keep every summary."""
    summaries: list[ReceiptSummary] = []
    return sweep_ledger(source, on_receipt=summaries.append, **options), summaries


def test_chain_and_receipts_come_from_one_reading() -> None:
    """Honest rows, a lie and rows that are no receipts give one report with both answers."""
    source = ledger({"op": "start"}, HONEST, LIE, as_v1(HONEST), {"op": "end"})
    report, summaries = swept(source)
    assert (report.chain.result, report.receipts_result, report.result) == (
        Result.HOLDS,
        Result.BOUNDED,
        Result.BOUNDED,
    )
    assert (report.totals.rows, report.totals.receipts, report.totals.passed_over) == (5, 3, 2)
    assert [summary.line for summary in summaries] == [2, 3, 4]
    assert report.totals.by_version == {"v2": 2, "v1": 1}
    assert report.totals.dropped_items == 2 * HONEST["dropped"]["count"]
    assert report.totals.by_code == {"receipt_no_content": 3, "receipt_v1_lower_bound": 1}
    assert summaries == list(sweep_receipts(source))


def test_offsets_lead_back_to_the_row() -> None:
    """Offset and length of a summary cut the row's line out of the file, blank lines and CRLF counted."""
    source = ledger({"op": "x"}, b"", HONEST, LIE)
    crlf = MemorySource("crlf", source.data.replace(b"\n", b"\r\n"))
    for each in (source, crlf):
        _, summaries = swept(each)
        assert len(summaries) == 2
        for summary in summaries:
            row = json.loads(each.data[summary.offset : summary.offset + summary.length])
            assert row["compactor"] == summary.compactor


def test_the_sweep_goes_on_after_every_bad_row() -> None:
    """Malformed, ambiguous, surrogate-carrying, unknown and unreadable rows get a verdict each; the last is reached."""
    twice = json.dumps({**HONEST, "chain": "0" * 32}).replace("{", '{"method": "x", ', 1).encode()
    source = ledger(
        HONEST,
        b"[]",
        {**HONEST, "pre": {**HONEST["pre"], "count": "3"}},
        {**HONEST, "compactor": "\ud800"},
        {**HONEST, "schema": "arcaeon-compact:receipt:v9"},
        twice,
        b'{"schema": "arcaeon-compact:receipt:v2"',
        {**HONEST, "method": "edited"},
        HONEST,
    )
    report, summaries = swept(source)
    assert [(summary.line, summary.result, summary.codes[0]) for summary in summaries] == [
        (1, Result.BOUNDED, "receipt_no_content"),
        (3, Result.FAILS, "receipt_malformed"),
        (4, Result.FAILS, "receipt_core_altered"),
        (5, Result.COULD_NOT_LOOK, "receipt_unknown_schema"),
        (6, Result.FAILS, "receipt_ambiguous"),
        (8, Result.FAILS, "receipt_core_altered"),
        (9, Result.BOUNDED, "receipt_no_content"),
    ]
    assert [summary.line for summary in report.failing] == [3, 4, 5, 6, 8]
    assert report.chain.result is Result.FAILS


def test_an_escaped_surrogate_or_nan_in_a_label_gets_a_verdict() -> None:
    """What the digest recipe refuses does not stop the sweep."""
    for value in ('"\\ud800"', "NaN"):
        line = json.dumps(HONEST).replace('"golden-fixture"', value, 1).encode()
        _, (summary,) = swept(MemorySource("x", line + b"\n"))
        assert summary.result is Result.FAILS
        assert "receipt_core_unhashable" in summary.codes


def test_no_receipts_is_never_a_pass() -> None:
    """A ledger without receipts has nothing to say about receipts."""
    report, _ = swept(ledger({"op": "x"}))
    assert report.receipts_result is Result.COULD_NOT_LOOK
    assert report.chain.result is Result.HOLDS
    assert swept(MemorySource("none", b""))[0].result is Result.COULD_NOT_LOOK


def test_a_missing_ledger_is_a_result(tmp_path: Path) -> None:
    """What cannot be opened could not be looked at."""
    assert sweep_ledger(FileSource(tmp_path / "none")).result is Result.COULD_NOT_LOOK


def test_quick_and_thorough_answers_are_the_same(sweep: Any) -> None:
    """Over generated rows the quick summary, where there is one, is the thorough one."""
    rng = random.Random(9)
    quick = 0
    for _ in range(sweep(1200)):
        row, _, _ = random_case(rng)
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")
        proved = fast.prove(line)
        summary = quick_summary(proved, 3, 5, 7) if proved is not None else None
        if summary is None:
            continue
        quick += 1
        thorough = verify_receipt_line(line, line=3)
        assert summary == summarise(thorough, row, line=3, offset=5, length=7)
        assert thorough.result is Result.BOUNDED
    assert quick > 100


@pytest.mark.parametrize("place", ["pre.bytes", "post.count", "dropped.bytes", "introduced.bytes", "dropped.count"])
@pytest.mark.parametrize("change", [1, -1, 10**20])
def test_any_changed_number_is_found_by_the_sweep(place: str, change: int) -> None:
    """A forger who changes one number of a long receipt and reseals it is found in the sweep."""
    row = copy.deepcopy(HONEST)
    section, name = place.split(".")
    row[section][name] += change
    report, _ = swept(ledger(HONEST, reseal(row)))
    assert (report.chain.result, report.receipts_result) == (Result.HOLDS, Result.FAILS)
    assert [summary.line for summary in report.failing] == [2]


def test_failing_receipts_are_kept_up_to_the_limit() -> None:
    """A ledger of lies does not fill the memory: the first ones are kept, all are counted."""
    bad = {**HONEST, "method": "edited"}
    report, _ = swept(ledger(*[bad] * 30), limits=Limits(findings=5))
    assert len(report.failing) == 5
    assert report.totals.by_result[Result.FAILS] == 30


def test_memory_stays_flat(tmp_path: Path) -> None:
    """Sweeping ten times the receipts takes no more memory."""
    peaks = []
    for times in (40, 400):
        path = tmp_path / f"{times}.jsonl"
        path.write_bytes(ledger(*[HONEST] * times).data)
        tracemalloc.start()
        sweep_ledger(FileSource(path))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert path.stat().st_size > 5_000_000
    assert peaks[1] < peaks[0] + 1_500_000


def test_a_sweep_reports_progress_and_can_be_cancelled() -> None:
    """Progress comes in bytes of the ledger; a cancel ends both kinds of sweep."""
    source = ledger(*[HONEST] * 50)
    seen: list[Progress] = []
    swept(source, on_progress=seen.append)
    assert seen[-1].total == source.size()
    assert {report.step for report in seen} >= {"verifying"}
    with pytest.raises(CancelledError):
        sweep_ledger(source, is_cancelled=lambda: True)
    with pytest.raises(CancelledError):
        list(sweep_receipts(source, is_cancelled=lambda: True))


def test_the_thorough_road_agrees_about_the_honest_row() -> None:
    """The honest row of these tests is quick, so that the comparisons above compare something."""
    proved = fast.prove(ledger(HONEST).data[:-1])
    assert proved is not None
    assert proved.digests is not None
    assert quick_summary(proved, 1, 0, 0) is not None
    assert verify_receipt(HONEST).result is Result.BOUNDED

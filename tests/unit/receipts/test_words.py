"""The words said of a checked receipt, and its equations."""

from __future__ import annotations

from typing import Any

import pytest

from engine.findings import Result
from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.equation import byte_equation, count_equation
from engine.receipts.verify import verify_receipt
from engine.receipts.words import ReceiptWord, sentence_of, word_of
from tests.support.receipts import POST, PRE, as_line, as_v1, receipt_row, reseal

ROW = receipt_row(PRE, POST)


@pytest.mark.parametrize(
    ("row", "pre", "post", "word"),
    [
        (ROW, PRE, POST, ReceiptWord.VERIFIED),
        (ROW, PRE, None, ReceiptWord.ONE_SIDE),
        (ROW, None, POST, ReceiptWord.ONE_SIDE),
        (ROW, None, None, ReceiptWord.SELF_CONSISTENT),
        (ROW, PRE, PRE, ReceiptWord.MISMATCH),
        ({**ROW, "method": "other"}, None, None, ReceiptWord.INCONSISTENT),
        ({**ROW, "pre": None}, PRE, POST, ReceiptWord.MALFORMED),
        ([], PRE, POST, ReceiptWord.MALFORMED),
        ({"schema": "x"}, None, None, ReceiptWord.NOT_CHECKED),
    ],
)
def test_each_outcome_has_its_word(row: Any, pre: Any, post: Any, word: ReceiptWord) -> None:
    """Every outcome has one word, and only both contents recomputed earn the word verified."""
    report = verify_receipt(row, pre, post)
    assert word_of(report) is word
    assert sentence_of(report).startswith(word.value)
    assert ("verified" in sentence_of(report)) == (report.result is Result.HOLDS)


def test_an_ambiguous_row_is_called_so() -> None:
    """Two readings are refused before anything else is said."""
    line = as_line(ROW).replace(b"{", b'{"method": "x", ', 1)
    assert word_of(verify_receipt_line(line, PRE, POST)) is ReceiptWord.AMBIGUOUS


def test_the_planted_lie_alone_is_never_called_verified() -> None:
    """A lie that agrees with itself is self-consistent only; a v1 row says its lower bound as well."""
    lie = receipt_row(PRE, PRE, compactor="liar")
    assert "verified" not in sentence_of(verify_receipt(lie))
    assert "v1 lower bound" in sentence_of(verify_receipt(as_v1(ROW)))
    assert "v1 lower bound" not in sentence_of(verify_receipt(as_v1(lie)))


def test_equations_are_exact_for_v2_and_bounded_for_v1_introductions() -> None:
    """The bytes of v2 are pinned, those of a v1 row with an introduction are bounded from below."""
    claim = verify_receipt(ROW).claim
    assert claim is not None
    assert str(byte_equation(claim)) == "57 - 38 + 24 = 43 bytes"
    assert str(count_equation(claim)) == "3 - 2 + 1 = 2 items"
    bounded = verify_receipt(as_v1(ROW)).claim
    assert bounded is not None
    assert str(byte_equation(bounded)).startswith("57 - 38 ≤ 43 bytes (lower bound only")
    truncated = verify_receipt(as_v1(receipt_row(PRE, PRE[:1]))).claim
    assert truncated is not None
    assert byte_equation(truncated).exact


def test_an_equation_that_does_not_hold_shows_it() -> None:
    """Broken arithmetic is shown with the unequal sign."""
    lie = reseal({**ROW, "dropped": {**ROW["dropped"], "bytes": 1}})
    claim = verify_receipt(lie).claim
    assert claim is not None
    assert str(byte_equation(claim)) == "57 - 1 + 24 ≠ 43 bytes"

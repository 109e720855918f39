"""The self-test: green as frozen, red for any changed byte, and equal to the reference's own vectors."""

from __future__ import annotations

import copy
import json
import string
from collections.abc import Iterator
from typing import Any

import pytest
from arcaeon.prove.compact import selftest as compact_selftest
from arcaeon.record.ledger import selftest as ledger_selftest

from engine.digests import item_digest, json_digest, raw_digest
from engine.findings import Result
from engine.receipts.consistency import core_body
from engine.receipts.golden import selftest
from engine.receipts.vectors import check_vectors, compare_file, recompute_vectors, vector_bytes
from engine.receipts.verify import verify_receipt
from tests.support.receipts import as_v1, receipt_row, reseal

DATA = vector_bytes()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every text and number of a value with its path."""
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(member, (*path, key))
    else:
        yield path, value


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a value with one leaf replaced."""
    copied = copy.deepcopy(value)
    body = copied
    for key in path[:-1]:
        body = body[key]
    body[path[-1]] = new
    return copied


def red(data: bytes) -> bool:
    """Tell whether recomputing finds a vector file wrong, leaving the frozen file's digest out."""
    return any(check.result is Result.FAILS for check in recompute_vectors(data))


def test_the_selftest_is_green() -> None:
    """Frozen vectors and planted lie hold on this machine."""
    report = selftest()
    assert report.failed == ()
    assert report.result is Result.HOLDS
    assert len(report.checks) > 60
    assert report.as_json()["checks"][0]["result"] == "HOLDS"


def test_every_single_byte_of_the_vector_file_counts() -> None:
    """Changing any byte of the file makes the check of the file red."""
    assert {check.result for check in check_vectors(DATA)} == {Result.HOLDS}
    for place in range(len(DATA)):
        changed = DATA[:place] + bytes([DATA[place] ^ 1]) + DATA[place + 1 :]
        assert compare_file(changed).result is Result.FAILS
    assert selftest(DATA.replace(b"quick", b"quack", 1)).result is Result.FAILS
    assert compare_file(DATA) in selftest(DATA).checks


def test_every_value_of_every_vector_counts() -> None:
    """Changing one character of any input or digest makes its recomputation red, whatever the file's digest says."""
    vectors = json.loads(DATA)
    changed = 0
    for path, leaf in leaves(vectors):
        if path[-1] == "name":
            continue
        if isinstance(leaf, int):
            assert red(json.dumps(put(vectors, path, leaf + 1)).encode()), path
            changed += 1
            continue
        for place in range(0, len(leaf), max(1, len(leaf) // 12)):
            if leaf[place] in string.whitespace:
                continue  # white space between tokens of a row's text changes nothing
            other = "1" if leaf[place] != "1" else "2"
            new = leaf[:place] + other + leaf[place + 1 :]
            assert red(json.dumps(put(vectors, path, new)).encode()), (path, new)
            changed += 1
    assert changed > 800


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"schema": 1}', DATA[:-40]])
def test_a_vector_file_that_cannot_be_read_is_red(data: bytes) -> None:
    """A damaged file is a failed check, not an exception."""
    assert red(data)
    assert selftest(data).result is Result.FAILS


def test_the_references_own_receipt_vectors_agree() -> None:
    """Every frozen digest of the reference's receipt self-test is ours too."""
    for _, item, expected in compact_selftest.GOLDEN_ITEMS:
        assert item_digest(item).digest == expected
    row = receipt_row(compact_selftest.PRE, compact_selftest.POST)
    assert row["pre"]["digest"] == compact_selftest.GOLDEN_PRE_DIGEST
    assert row["receipt_digest"] == compact_selftest.GOLDEN_RECEIPT_DIGEST_V2
    assert json_digest(core_body(as_v1(row))) == compact_selftest.GOLDEN_RECEIPT_DIGEST_V1


def test_the_references_own_digest_vectors_agree() -> None:
    """Every frozen digest of the reference's ledger self-test is ours too, and NaN is refused by both."""
    ours = (
        json_digest({"b": 2, "a": 1}),
        json_digest({"claim": "X said Y", "unicode": "éü—🔒"}),
        json_digest([1, "two", None, True, {"k": [3.5]}]),
        raw_digest(b"arcaeon selftest vector 1"),
        raw_digest(b""),
    )
    assert ours == tuple(expected for _, _, expected in ledger_selftest.GOLDEN)
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_digest({"bad": float("nan")})


@pytest.mark.parametrize("plant", ledger_selftest.PLANTS, ids=lambda plant: plant[2])
def test_the_references_planted_recipes_are_refused_in_a_receipt(plant: Any) -> None:
    """A digest that cannot be recomputed is never passed, whether its recipe, version, algorithm or length is odd."""
    digest = json_digest({"claim": "the agent read the page", "price": 42})
    planted = plant[1]({"digest": digest, "recipe": digest.rsplit(":", 1)[0]})["digest"]
    assert planted != digest
    row = receipt_row(["a", "b"], ["b"])
    row["dropped"]["items"] = [planted]
    assert verify_receipt(reseal(row)).result in {Result.FAILS, Result.COULD_NOT_LOOK}


def test_the_references_selftests_pass_here(capsys: pytest.CaptureFixture[str]) -> None:
    """The reference itself agrees with its vectors on this machine, so agreement with it means something."""
    assert compact_selftest.run() == 0
    assert ledger_selftest.run() == 0
    assert "FAIL " not in capsys.readouterr().out

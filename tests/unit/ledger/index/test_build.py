"""Every line that is not blank has a place in the index, and a damaged index is made again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import UsageError
from engine.findings import CancelledError, Progress, Watch
from engine.ledger.index import build, query, states, store
from engine.ledger.index.layout import MAX_NAMES, EquationState, Form, LedgerIndex
from engine.ledger.report import Limits
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource, MemorySource
from tests.support.ledgers import chained, numbered


def indexed(folder: Path, data: bytes, limits: Limits = build.DEFAULT_LIMITS) -> LedgerIndex:
    """Index bytes."""
    return build.build_index(MemorySource("m", data), folder, limits=limits)


def rows(index: LedgerIndex) -> tuple[query.IndexRow, ...]:
    """Return all rows."""
    return query.page(index, limit=index.rows).rows


LINES: list[tuple[bytes, Form]] = [
    (b'{"kind": "a", "chain": "00"}', Form.CHAINED_ROW),
    (b"", Form.CHAINED_ROW),
    ("\u2003 \u00a0".encode(), Form.CHAINED_ROW),
    (b'{"kind": "b"}', Form.ROW_WITHOUT_CHAIN),
    (b'{"chain": null}', Form.ROW_WITHOUT_CHAIN),
    (b'{"chain": 5}', Form.ROW_WITH_ODD_CHAIN),
    (b'{"chain": ["a"]}', Form.ROW_WITH_ODD_CHAIN),
    (b"42", Form.NOT_AN_OBJECT),
    (b"null", Form.NOT_AN_OBJECT),
    (b"[" * 100_000, Form.NOT_LOOKED_AT),
    (b'{"a":"' + b"x" * 2000 + b'"}', Form.NOT_LOOKED_AT),
    (b"\xef\xbb\xbf{}", Form.UNPARSEABLE),
    (b'{"a": NaN, "chain": "x"}', Form.CHAINED_ROW),
    (b'{"kind": "\\ud800"}', Form.ROW_WITHOUT_CHAIN),
    ("\u2003{}\u2003".encode(), Form.ROW_WITHOUT_CHAIN),
    (b'{"torn', Form.UNPARSEABLE),
]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_unreadable_lines_have_rows_too(tmp_path: Path, ending: bytes) -> None:
    """Line numbers, offsets and lengths are those of the file; blank lines alone have no place."""
    data = ending.join(line for line, _ in LINES)
    index = indexed(tmp_path, data, Limits(line_bytes=1000))
    found = rows(index)
    kept = [(n, line, form) for n, (line, form) in enumerate(LINES, 1) if line.decode("utf-8", "replace").strip()]
    assert [(r.line, r.length) for r in found] == [(n, len(line)) for n, line, _ in kept]
    forms = [Form.NOT_LOOKED_AT if len(line) > 1000 else form for _, line, form in kept]
    assert [row.form for row in found] == forms
    for row, (_, line, _) in zip(found, kept, strict=True):
        assert query.row_bytes(MemorySource("m", data), row) == line
    assert index.lines == len(LINES)


def test_values_of_wrong_types_are_other(tmp_path: Path) -> None:
    """A number, a list or an object in place of a name is counted as other; null is none."""
    values: list[Any] = [None, 5, True, 1.5, [], {"a": 1}, "x", "y" * 201]
    data = b"".join(json.dumps({"kind": v, "ts": v, "schema": v}).encode() + b"\n" for v in values)
    index = indexed(tmp_path, data)
    labels = [row.labels["kind"] for row in rows(index)]
    assert labels == ["(none)", "(other)", "(other)", "(other)", "(other)", "(other)", "x", "(other)"]
    assert {(f.label, f.count) for f in query.facets(index, "kind")} == {("(other)", 6), ("(none)", 1), ("x", 1)}
    assert all(row.time is None for row in rows(index))


def test_a_flood_of_names_does_not_fill_the_memory(tmp_path: Path) -> None:
    """The names past the limit are counted as other."""
    data = b"".join(b'{"op": "%d"}\n' % n for n in range(MAX_NAMES + 10))
    index = indexed(tmp_path, data)
    assert query.facets(index, "op")[0].label == "(other)"
    assert query.facets(index, "op")[0].count == 10


def receipt(**changes: Any) -> dict[str, Any]:
    """Return a receipt whose numbers add up, with changes."""
    row = {
        "schema": "arcaeon-compact:receipt:v2",
        "pre": {"count": 4, "bytes": 121, "digest": "sha256:json-c14n:v1:" + "0fa1" * 16},
        "post": {"count": 2, "bytes": 49, "digest": "sha256:json-c14n:v1:" + "2623" * 16},
        "dropped": {"count": 3, "bytes": 84, "items": ["sha256:raw-bytes:v1:" + "9e" * 32] * 3},
        "introduced": {"count": 1, "bytes": 12},
        "compactor": "c",
        "kind": "compaction_receipt",
        "receipt_digest": "sha256:json-c14n:v1:" + "04F2" * 16,
    }
    return row | changes


V1 = {"schema": "arcaeon-compact:receipt:v1"}
EQUATIONS: list[tuple[dict[str, Any], EquationState]] = [
    (receipt(), EquationState.CLOSES),
    (receipt(dropped={"count": 3, "bytes": 83}), EquationState.DOES_NOT_CLOSE),
    (receipt(dropped={"count": 2, "bytes": 84}), EquationState.DOES_NOT_CLOSE),
    (receipt(**V1, introduced={"count": 1}), EquationState.LOWER_BOUND),
    (receipt(**V1, introduced={"count": 1}, post={"count": 2, "bytes": 3}), EquationState.DOES_NOT_CLOSE),
    (receipt(**V1, introduced={"count": 0}, post={"count": 1, "bytes": 37}), EquationState.CLOSES),
    (receipt(pre=5), EquationState.NOT_COMPUTED),
    (receipt(pre=None), EquationState.NOT_COMPUTED),
    (receipt(dropped={"count": True, "bytes": 84}), EquationState.NOT_COMPUTED),
    (receipt(dropped={"count": "3", "bytes": 84}), EquationState.NOT_COMPUTED),
    (receipt(dropped={"count": 3, "bytes": 2**70}), EquationState.NOT_COMPUTED),
    (receipt(introduced=[]), EquationState.NOT_COMPUTED),
    (receipt(compactor=float("nan")), EquationState.CLOSES),
    ({"kind": "compaction_receipt"}, EquationState.NOT_COMPUTED),
    ({"kind": "note", "dropped": 5}, EquationState.NO_RECEIPT),
]


def test_the_equation_of_a_receipt_is_computed(tmp_path: Path) -> None:
    """v2 exactly, v1 with an introduction as a lower bound, numbers that are none as not computed."""
    index = indexed(tmp_path, b"".join(json.dumps(row).encode() + b"\n" for row, _ in EQUATIONS))
    found = rows(index)
    assert [row.equation for row in found] == [state for _, state in EQUATIONS]
    assert (found[0].dropped_count, found[0].dropped_bytes) == (3, 84)
    assert found[6].is_bad
    assert not found[0].is_bad


def test_an_index_is_found_again_and_not_built_twice(tmp_path: Path) -> None:
    """The second opening reads no ledger at all."""
    data = b"".join(chained(numbered(50)))
    index = indexed(tmp_path, data)
    again = build.ledger_index(MemorySource("gone", b""), tmp_path, index.sha256)
    assert rows(again) == rows(index)
    assert sorted(p.name for p in tmp_path.iterdir()) == [index.sha256]


def damages(home: Path) -> list[Path]:
    """Return the files of an index."""
    return sorted(home.iterdir())


def test_any_damaged_file_makes_the_index_be_built_again(tmp_path: Path) -> None:
    """A flipped bit, a missing tail and a missing file in each part are noticed; the rebuilt index is whole."""
    source = MemorySource("m", b"".join(chained(numbered(20))))
    index = build.build_index(source, tmp_path)
    home = Path(index.folder)
    count = 0
    for part in damages(home):
        good = part.read_bytes()
        for bad in (bytes([good[0] ^ 1]) + good[1:], good[:-1], good + b"\0", None):
            if bad is None:
                part.unlink()
            else:
                part.write_bytes(bad)
            assert store.open_index(tmp_path, index.sha256) is None, (part, bad)
            again = build.ledger_index(source, tmp_path, index.sha256)
            assert query.count(again) == 20
            count += 1
    assert count == 4 * (1 + len(index.columns) + len(index.orders))
    assert [p.name for p in tmp_path.iterdir()] == [index.sha256]


def test_an_index_of_another_format_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raising the format number makes old folders be built again."""
    index = indexed(tmp_path, b"{}\n")
    monkeypatch.setattr(store, "FORMAT", -1)
    assert store.open_index(tmp_path, index.sha256) is None


@pytest.mark.parametrize("data", [b"", b"\n\n  \n"])
def test_a_ledger_without_rows_has_an_index(tmp_path: Path, data: bytes) -> None:
    """Nothing to show is an answer, not an error."""
    index = indexed(tmp_path, data)
    assert query.page(index).total == query.count(index) == 0
    assert query.facets(index, "kind") == ()
    assert query.row_at_line(index, 1) is None


def test_a_cancelled_build_leaves_nothing(tmp_path: Path) -> None:
    """The hidden folder goes with the builder."""
    steps: list[Progress] = []
    watch = Watch(steps.append, lambda: len(steps) > 2)
    data = b"".join(chained(numbered(40_000)))
    with pytest.raises(CancelledError):
        build.build_index(MemorySource("m", data), tmp_path, watch=watch)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from engine.findings import Watch
from engine.ledger.index.build import build_index
from engine.lines.source import FileSource
def die(step):
    if step.step == "sorting":
        os.kill(os.getpid(), signal.SIGKILL)
build_index(FileSource(Path(sys.argv[1])), Path(sys.argv[2]), watch=Watch(die))
"""


def test_what_a_killed_builder_left_is_removed(tmp_path: Path) -> None:
    """A real kill in the middle leaves a hidden folder; it is never opened, and the next build removes it."""
    ledger, folder = tmp_path / "l", tmp_path / "index"
    ledger.write_bytes(b"".join(chained(numbered(20))))
    done = subprocess.run([sys.executable, "-c", KILLED, ledger, folder], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(folder.glob(".building-*"))) == 1
    index = build.build_index(FileSource(ledger), folder)
    assert [p.name for p in folder.iterdir()] == [index.sha256]


def test_a_building_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    """The folder of a builder that still holds its lock is not removed by another one."""
    with store.building(tmp_path) as work:
        index = indexed(tmp_path, b"{}\n")
        assert sorted(p.name for p in tmp_path.iterdir()) == [work.name, index.sha256]


def test_chain_states_name_the_broken_rows(tmp_path: Path) -> None:
    """Broken, unreadable and outside rows get the state of the walk; the rest is linked."""
    lines = chained(numbered(6))
    lines[2] = lines[2].replace(b'"i": 2', b'"i": 9')
    data = b'{"old": 1}\n' + b"".join(lines) + b"42\n"
    source = MemorySource("m", data)
    index = states.attach_chain(build.build_index(source, tmp_path), verify_chain(source))
    labels = [row.labels["chain_state"] for row in rows(index)]
    linked, broken = states.LINKED, states.BROKEN
    assert labels == [states.OUTSIDE, linked, linked, broken, linked, linked, linked, broken]
    assert [row.line for row in query.page(index, query.Filter(bad_only=True)).rows] == [4, 8]
    reopened = store.open_index(tmp_path, index.sha256)
    assert reopened is not None
    assert query.facets(reopened, "chain_state")[0] == query.Facet(0, linked, 5)


def test_rows_past_the_kept_findings_are_not_called_linked(tmp_path: Path) -> None:
    """When the report keeps only the first findings, later rows are not listed rather than green."""
    data = b"".join(chained(numbered(9))).replace(b'"i"', b'"j"')
    source = MemorySource("m", data)
    index = states.attach_chain(build.build_index(source, tmp_path), verify_chain(source, limits=Limits(findings=3)))
    labels = [row.labels["chain_state"] for row in rows(index)]
    assert labels == [states.BROKEN] * 3 + [states.NOT_LISTED] * 6


def test_a_state_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """A report on other bytes, too few values, an unknown name and a column's name are wrong use."""
    index = indexed(tmp_path, b"{}\n{}\n")
    wrong: list[Any] = [
        lambda: states.attach_chain(index, verify_chain(MemorySource("m", b"{}\n"))),
        lambda: store.attach(index, "s", ("a",), np.zeros(1, "u1"), bad=frozenset()),
        lambda: store.attach(index, "s", ("a",), np.ones(2, "u1"), bad=frozenset()),
        lambda: store.attach(index, "kind", ("a",), np.zeros(2, "u1"), bad=frozenset()),
        lambda: store.attach(index, "../s", ("a",), np.zeros(2, "u1"), bad=frozenset()),
        lambda: states.attach_by_line(index, "s", {1: "b"}, names=("a",), bad=frozenset()),
    ]
    for act in wrong:
        with pytest.raises(UsageError):
            act()


def test_a_damaged_state_is_not_shown(tmp_path: Path) -> None:
    """Its check is run again instead; the rest of the index stays."""
    index = states.attach_by_line(indexed(tmp_path, b"{}\n{}\n"), "s", {2: "b"}, names=("a", "b"), bad=frozenset())
    path = Path(index.folder) / "s.state"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    reopened = store.open_index(tmp_path, index.sha256)
    assert reopened is not None
    assert dict(reopened.states) == {}


def test_the_engine_does_not_import_pandas() -> None:
    """A fresh process that indexes holds no pandas."""
    script = "import sys, engine.ledger.index.build, engine.ledger.index.search; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False, env=dict(os.environ)).returncode == 0

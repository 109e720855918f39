"""Where does an index lie, and is it whole?

One folder for each ledger file, named by the file's SHA-256: a file for each column and one that lists their sizes and
checksums. An index that is missing, cut off, altered or of another format is not opened; it is made again from the
ledger. Checksums find damage, not malice: whoever can write to the folder can make a false index.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from engine.errors import BusyError, CannotLookError, UsageError
from engine.findings import Watch
from engine.ledger.index.layout import (
    COLUMNS,
    FORMAT,
    NAME_COLUMNS,
    ORDER_DTYPE,
    SORT_COLUMNS,
    Array,
    LedgerIndex,
    StateColumn,
    empty,
)
from engine.storage.files import FileLock, atomic_write

_ABOUT = "about.json"
_WORK = ".building-"
_LOCK = "lock"
_STATE_SUFFIX = ".state"
_STATE_DTYPE = "|u1"
_MAX_STATES = 256
_CHECKED_BYTES = 4 * 1024 * 1024


@contextmanager
def building(folder: Path) -> Iterator[Path]:
    """Give a hidden folder to build in; what is left of builders that were killed is removed first."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{_WORK}*"):
        _remove_if_left(left)
    work = folder / f"{_WORK}{secrets.token_hex(8)}"
    work.mkdir()
    try:
        with FileLock(work / _LOCK):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _remove_if_left(work: Path) -> None:
    if not (work / _LOCK).exists():
        return
    try:
        with FileLock(work / _LOCK, timeout=0):
            shutil.rmtree(work, ignore_errors=True)
    except (BusyError, CannotLookError):
        return  # its builder lives, or has just removed it


class ColumnWriter:
    """Writes columns piece by piece and closes them with a list of sizes and checksums."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = 0
        self.files: dict[str, BinaryIO] = {}
        self.sums = dict.fromkeys(COLUMNS, 0)
        self.stack = ExitStack()

    def __enter__(self) -> Self:
        for name in COLUMNS:
            self.files[name] = self.stack.enter_context((self.folder / f"{name}.bin").open("wb"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stack.close()

    def write(self, columns: Mapping[str, Any]) -> None:
        """Append the same number of rows to every column."""
        for name, dtype in COLUMNS.items():
            data = np.asarray(columns[name], dtype=dtype).tobytes()  # without the type, big integers become floats
            self.sums[name] = zlib.crc32(data, self.sums[name])
            self.files[name].write(data)
        self.rows += len(columns["line"])

    def finish(self, sha256: str, size: int, lines: int, names: Mapping[str, list[str]], watch: Watch) -> None:
        """Add the orders and the list; the index is whole after this."""
        parts = {f"{name}.bin": self._part(name) for name in COLUMNS}
        for done, name in enumerate(SORT_COLUMNS):
            watch.step("sorting", done, len(SORT_COLUMNS), "columns")
            order = np.argsort(_mapped(self.folder / f"{name}.bin", COLUMNS[name]), kind="stable")
            data = order.astype(ORDER_DTYPE).tobytes()
            (self.folder / f"{name}.order").write_bytes(data)
            parts[f"{name}.order"] = [len(data), zlib.crc32(data)]
        counts = {}
        for name in ("form", *NAME_COLUMNS, "equation"):
            least = 2 + len(names[name]) if name in names else 8
            column = _mapped(self.folder / f"{name}.bin", COLUMNS[name])
            counts[name] = np.bincount(column, minlength=least).tolist()
        about = {
            "format": FORMAT,
            "sha256": sha256,
            "size": size,
            "lines": lines,
            "rows": self.rows,
            "names": names,
            "counts": counts,
            "parts": parts,
        }
        (self.folder / _ABOUT).write_bytes(_sealed(about))

    def _part(self, name: str) -> list[int]:
        return [self.rows * np.dtype(COLUMNS[name]).itemsize, self.sums[name]]


def _sealed(about: Mapping[str, Any]) -> bytes:
    body = json.dumps(about, sort_keys=True).encode("ascii")
    return hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body


def publish(work: Path, folder: Path, sha256: str) -> LedgerIndex:
    """Give a whole index its name; when another builder was first, the one that is there counts."""
    target = folder / sha256
    (work / _LOCK).unlink(missing_ok=True)
    for _ in range(3):
        try:
            work.rename(target)
        except OSError:
            found = open_index(folder, sha256)
            if found is not None:
                return found
            shutil.rmtree(target, ignore_errors=True)  # damaged
            continue
        break
    index = open_index(folder, sha256)
    if index is None:
        raise CannotLookError("index_not_built", "the index could not be read back", where=str(target))
    return index


def open_index(folder: Path, sha256: str) -> LedgerIndex | None:
    """Open the index of the ledger with this SHA-256; None when there is none that is whole."""
    home = folder / sha256
    try:
        seal, _, body = (home / _ABOUT).read_bytes().partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode("ascii") != seal:
            return None
        about = json.loads(body)
        if about["format"] != FORMAT or about["sha256"] != sha256:
            return None
        if not all(_is_whole(home / name, *part) for name, part in about["parts"].items()):
            return None
        index = LedgerIndex(
            folder=str(home),
            sha256=sha256,
            size=about["size"],
            lines=about["lines"],
            rows=about["rows"],
            columns={name: _mapped(home / f"{name}.bin", dtype) for name, dtype in COLUMNS.items()},
            orders={name: _mapped(home / f"{name}.order", ORDER_DTYPE) for name in SORT_COLUMNS},
            names={name: tuple(texts) for name, texts in about["names"].items()},
            counts={name: tuple(counts) for name, counts in about["counts"].items()},
            states={},
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # missing or damaged: the caller builds it again from the ledger
    return replace(index, states=_open_states(home, index.rows))


def _is_whole(path: Path, size: int, checksum: int) -> bool:
    if path.stat().st_size != size:
        return False
    found = 0
    with path.open("rb") as stream:
        while data := stream.read(_CHECKED_BYTES):
            found = zlib.crc32(data, found)
    return found == checksum


def _mapped(path: Path, dtype: str, offset: int = 0) -> Array:
    if path.stat().st_size <= offset:
        return empty(dtype)
    return np.memmap(path, dtype=dtype, mode="r", offset=offset).view(np.ndarray)


def attach(index: LedgerIndex, name: str, names: tuple[str, ...], values: Array, *, bad: frozenset[str]) -> LedgerIndex:
    """Keep a state for each row beside the index, and return the index with it.

    `values` holds a code into `names` for each row of the index. Replaces a state of the same name. Raises `UsageError`
    when the values do not fit the index.
    """
    if not name.isidentifier() or name in COLUMNS:
        raise UsageError("state_name", f"expected a name that is no column, found {name!r}")
    if len(names) > _MAX_STATES or not bad.issubset(names):
        raise UsageError("state_names", f"expected at most {_MAX_STATES} names, the bad ones among them")
    if len(values) != index.rows or (len(values) and int(values.max()) >= len(names)):
        raise UsageError("state_values", f"expected a code for each of {index.rows} rows, found {len(values)}")
    data = np.asarray(values).astype(_STATE_DTYPE, copy=False).tobytes()
    head = {"names": names, "bad": sorted(bad), "size": len(data), "checksum": zlib.crc32(data)}
    path = Path(index.folder) / f"{name}{_STATE_SUFFIX}"
    atomic_write(path, _sealed(head) + b"\n" + data)
    state = _open_state(path, index.rows)
    if state is None:
        raise CannotLookError("state_not_kept", "the state could not be read back", where=str(path))
    return replace(index, states={**index.states, name: state})


def _open_states(home: Path, rows: int) -> dict[str, StateColumn]:
    found = (_open_state(path, rows) for path in sorted(home.glob(f"*{_STATE_SUFFIX}")))
    return {state.name: state for state in found if state is not None}


def _open_state(path: Path, rows: int) -> StateColumn | None:
    """Open an attached state; None when it is damaged, so that its check is run again."""
    try:
        with path.open("rb") as stream:
            seal, body = stream.readline().rstrip(b"\n"), stream.readline().rstrip(b"\n")
            offset = stream.tell()
            data = stream.read()
        head = json.loads(body)
        whole = hashlib.sha256(body).hexdigest().encode("ascii") == seal and zlib.crc32(data) == head["checksum"]
        if not whole or len(data) != head["size"] or len(data) != rows:
            return None
        values = _mapped(path, _STATE_DTYPE, offset)
        counts = np.bincount(values, minlength=len(head["names"])).tolist()
        return StateColumn(path.stem, tuple(head["names"]), frozenset(head["bad"]), values, tuple(counts))
    except (OSError, ValueError, KeyError, TypeError):
        return None

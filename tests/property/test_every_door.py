"""Every hostile input through every door gives a verdict or a named refusal, soon, and never more than was shown."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.errors import WinnowError
from engine.findings import Result
from engine.ledger.pin_check import check_pins
from engine.ledger.pins import read_pin_file
from engine.ledger.verify import verify_ledger
from engine.lines.source import MemorySource, Source
from engine.receipts.find import probes_of
from engine.receipts.link import receipts_of
from engine.receipts.sweep import sweep_ledger
from engine.report.manifest import Manifest
from engine.report.page import report_page
from engine.report.table import csv_lines, json_document
from engine.review import review
from engine.transcripts.content import read_content
from engine.transcripts.reader import read_transcript
from tests.support.commands import Typed, typed
from tests.support.hostile import use
from tests.support.hostile_bytes import HONEST, RECEIPT, TEXTS, files, large_files

SOON = 5.0
FILES = dict(files())
PICKED = [name for place, name in enumerate(FILES) if place % 9 == 0 or ("receipt" not in name and place % 4 == 0)]
"""One of every few, for the doors that start a whole command; `--sweep` takes all."""


def _read(source: Source) -> None:
    use(read_transcript(source))


def _swept(source: Source) -> None:
    seen: list[Any] = []
    sweep_ledger(source, on_receipt=seen.append)
    assert not any(summary.result is Result.HOLDS for summary in seen), "nothing was held against it"
    list(receipts_of(source))


def _pinned(source: Source) -> None:
    pins = read_pin_file(source)
    for name in pins.namespaces() or (None,):
        for report in check_pins(MemorySource("l.jsonl", HONEST), pins, namespace=name):
            assert report.result is not Result.HOLDS or b"482332" in source.open().read()


def _probed(source: Source) -> None:
    probes_of(source.open().read())


DOORS: dict[str, Callable[[Source], object]] = {
    "verify": verify_ledger,
    "verify_strict": lambda source: verify_ledger(source, strict=True),
    "sweep": _swept,
    "transcript": _read,
    "content": read_content,
    "pins": _pinned,
    "find": _probed,
}


def _through(door: Callable[[Source], object], name: str, data: bytes) -> None:
    try:
        door(MemorySource(name, data))
    except WinnowError as refusal:
        if not (refusal.code and refusal.message):
            pytest.fail(f"{name}: a refusal without words")


@pytest.mark.parametrize("door", DOORS)
def test_every_file_through_every_function(door: str) -> None:
    """No bytes raise anything but a named refusal, and none take long."""
    for name, data in FILES.items():
        began = time.process_time()
        _through(DOORS[door], name, data)
        assert time.process_time() - began < SOON, name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds every hostile file, and what is no file."""
    root = tmp_path_factory.mktemp("hostile")
    for name, data in FILES.items():
        (root / name).write_bytes(data)
    os.mkfifo(root / "fifo.jsonl")
    (root / "loop.jsonl").symlink_to("loop.jsonl")
    (root / "here").symlink_to(".")
    (root / "folder.jsonl").mkdir()
    return root


COMMANDS: dict[str, Callable[[Path, Path], Sequence[object]]] = {
    "verify": lambda path, _: ("verify", path, "--json"),
    "verify text": lambda path, _: ("verify", "--strict", path),
    "verify --pin": lambda path, work: ("verify", work / "ledger.jsonl", "--pin", path),
    "check": lambda path, _: ("check", path, "--json"),
    "check text": lambda path, _: ("check", path),
    "check --pre": lambda path, work: ("check", work / "receipt.jsonl", "--pre", path, "--post", path),
    "check --content": lambda path, work: ("check", work / "receipt.jsonl", "--content", path, "--json"),
    "check --transcript": lambda path, work: ("check", work / "receipt.jsonl", "--transcript", path),
    "rounds": lambda path, _: ("rounds", path, "--json"),
    "rounds --format": lambda path, _: ("rounds", path, "--format", "messages", "--round", 1),
    "seal": lambda path, work: ("seal", "--pre", path, "--post", path, "--ledger", work / "new.jsonl"),
    "seal --transcript": lambda path, work: ("seal", "--transcript", path, "--ledger", work / "new.jsonl", "--partial"),
    "pin": lambda path, _: ("pin", path, "--json"),
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with an honest ledger and a receipt."""
    (tmp_path / "ledger.jsonl").write_bytes(HONEST)
    (tmp_path / "receipt.jsonl").write_text(RECEIPT + "\n", encoding="utf-8")
    (tmp_path / "one.json").write_text('["one"]', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_file_through_every_command(command: str, folder: Path, work: Path, sweep: Callable[[int], int]) -> None:
    """A command answers 0 to 3 with words, draws nothing on the terminal and writes to no file it was shown."""
    others = [folder / "fifo.jsonl", folder / "loop.jsonl", folder / "folder.jsonl", folder / "none.jsonl"]
    for path in [*(folder / name for name in (FILES if sweep(0) else PICKED)), *others]:
        (work / "new.jsonl").unlink(missing_ok=True)
        began = time.process_time()
        answer = typed(*COMMANDS[command](path, work))
        _well_spoken(answer, path.name)
        assert time.process_time() - began < SOON, path.name
        if command.startswith("check"):
            assert "verified against content" not in answer.out, path.name
        if path.is_file():
            assert path.read_bytes() == FILES[path.name], path.name


def _well_spoken(answer: Typed, name: str) -> None:
    assert answer.code in {0, 1, 2, 3}, (name, answer.err)
    assert answer.out or answer.err, name
    assert "Traceback" not in answer.err, name
    drawn = [c for c in answer.out + answer.err if not (c.isprintable() or c == "\n")]
    assert not drawn, (name, drawn[:3])


WRITING: dict[str, Callable[[Path, Path], Sequence[object]]] = {
    "seal": lambda path, work: ("seal", "--pre", work / "one.json", "--post", work / "one.json", "--ledger", path),
    "pin --store": lambda path, work: ("pin", work / "ledger.jsonl", "--store", path, "--namespace", "n"),
    "pin --out": lambda path, work: ("pin", work / "ledger.jsonl", "--out", path),
}


@pytest.mark.parametrize("command", WRITING)
def test_a_file_of_another_kind_is_never_written_to(command: str, folder: Path, work: Path) -> None:
    """What a user gives by mistake as the file to write is as it was, unless the act is allowed on it."""
    for name in PICKED:
        path = work / "given.jsonl"
        shutil.copyfile(folder / name, path)
        answer = typed(*WRITING[command](path, work))
        _well_spoken(answer, name)
        if answer.code or not _may_write(command, name):
            assert path.read_bytes() == FILES[name], (name, answer.out)
            assert answer.code in {1, 3}, name


def _may_write(command: str, name: str) -> bool:
    data = FILES[name]
    blank = not data.strip()
    if command == "seal":
        return blank or verify_ledger(MemorySource(name, data)).reference.chained > 0
    return blank or name.startswith("pin_")


def test_names_that_are_no_place_to_write(folder: Path, work: Path) -> None:
    """A folder, a FIFO, a device and a loop are refused by name and stay what they are."""
    (work / "device").symlink_to("/dev/full")
    places = [folder / "fifo.jsonl", folder / "loop.jsonl", folder / "folder.jsonl", work / "device"]
    for path in places:
        was = path.lstat().st_mode
        for make in (*WRITING.values(), _remembering):
            words = make(path, work)
            # A link in place of a pin is replaced, and a folder is what --remember asks for.
            if path.name == "loop.jsonl" and "--out" in words:
                continue
            if path.name == "folder.jsonl" and "--remember" in words:
                continue
            answer = typed(*words)
            _well_spoken(answer, f"{words}")
            assert answer.code in {1, 3}, words
        assert path.lstat().st_mode == was, path


def test_a_folder_that_is_missing_is_named(work: Path) -> None:
    """Writing below a folder that does not exist is refused and makes nothing."""
    path = work / "none" / "x"
    for make in WRITING.values():
        answer = typed(*make(path, work))
        _well_spoken(answer, f"{path}")
        assert answer.code in {1, 3}
    assert not path.parent.exists()


def _remembering(path: Path, work: Path) -> Sequence[object]:
    return "verify", work / "ledger.jsonl", "--remember", path


def test_a_folder_of_everything_is_reviewed_to_its_end(folder: Path) -> None:
    """Each file is judged or listed with a reason; nothing is green that was not held; every export can be written."""
    began = time.process_time()
    found = review([folder])
    assert time.process_time() - began < 6 * SOON
    names = {Path(each.name).name for each in found.inputs}
    assert set(FILES) <= names
    assert "fifo.jsonl" in {Path(each.name).name for each, _ in found.refused}
    assert found.result is Result.FAILS
    for ledger in found.ledgers:
        assert ledger.result is not Result.HOLDS or ledger.sweep.totals.receipts == 0, ledger.input.name
    manifest = Manifest("review", tuple((i.name, i.sha256, i.size) for i in found.inputs), len(found.inputs))
    page = report_page(found, manifest)
    page.encode("utf-8")
    assert "<img src=http" not in page
    assert "<script>alert" not in page


def test_every_text_leaves_as_a_cell() -> None:
    """No cell of an export is a formula, and every text can be written as CSV and as JSON."""
    rows = [(text, number) for number, text in enumerate(TEXTS.values())]
    manifest = Manifest("rows", ((TEXTS["lone_surrogate"], "", 0),), len(rows), {"text": TEXTS["lone_surrogate"]})
    for line in csv_lines(manifest, ("text", "number"), rows):
        assert not line.startswith(("=", "+", "-", "@", '"='))
        line.encode("utf-8")
    assert len(json.loads(json_document(manifest, ("text", "number"), rows))["rows"]) == len(rows)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a right up and take it back")
def test_what_may_not_be_read_is_named(tmp_path: Path, lowered: None) -> None:
    """A file and a folder without the right to read are listed with the reason, never passed over."""
    (tmp_path / "good.jsonl").write_bytes(HONEST)
    shut = [tmp_path / "shut.jsonl", tmp_path / "closed"]
    shut[0].write_bytes(HONEST)
    shut[1].mkdir()
    (shut[1] / "inside.jsonl").write_bytes(HONEST)
    for path in shut:
        path.chmod(0)
    found = review([tmp_path])
    assert {each.name for each, _ in found.refused} == {str(path) for path in shut}
    inside = review([shut[1] / "inside.jsonl"])
    assert [each.name for each, _ in inside.refused] == [str(shut[1] / "inside.jsonl")]
    assert typed("verify", shut[1] / "inside.jsonl").code == 3
    shut[1].chmod(0o700)


@pytest.fixture
def lowered(tmp_path: Path) -> Iterator[None]:
    """Give up root for a test, in the test's own folder."""
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        parent.chmod(0o755)
    os.chown(tmp_path, 65534, 65534)
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.mark.parametrize("door", ["verify", "sweep", "content", "transcript"])
def test_large_files_through_the_functions(door: str, sweep: Callable[[int], int]) -> None:
    """Size alone breaks nothing: a million keys, ten megabytes on one line, a packed bomb (a few by default)."""
    for name, data in large_files():
        if not sweep(0) and name not in {"ten_megabytes.jsonl", "bomb.jsonl", "digits_million.jsonl"}:
            continue
        began = time.process_time()
        _through(DOORS[door], name, data)
        assert time.process_time() - began < 2 * SOON, name

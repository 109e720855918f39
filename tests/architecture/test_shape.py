"""The shape of the tree: sizes, names, errors and words that the project agreed on."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import socket
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import engine
from engine.findings import Code

ROOT = Path(__file__).resolve().parents[2]
TRACKED = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    if (ROOT / name).is_file()
]
SOURCES = [path for path in TRACKED if path.suffix == ".py"]
OURS = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
MODULE_LINES = 400
WISHED_LINES = 300
LONG_SHARE = 0.08
FUNCTION_LINES = 60
TOP_LEVEL = {"dashboard", "engine", "sample_ledgers", "tests", "pyproject.toml", "README.md"}
BANNED_NAMES = {"utils", "helpers", "common", "util", "helper"}
OPEN_WORK = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK")) + r")\b")
MACHINE_PATH = re.compile(r"(?<![\w./])/(work|farm|root)/[\w.]")
REGISTRY = re.compile(
    "|".join(("pypi" + r"\.org", "python" + r"hosted\.org", "deb" + r"\.debian\.org", "npm" + r"js\.org"))
)


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_the_sources_are_found() -> None:
    """The other tests of this file look at something."""
    assert len(OURS) > 20


def test_modules_and_functions_are_small() -> None:
    """No module is longer than 400 lines, no function longer than 60 lines of code."""
    long = [str(p) for p in SOURCES if p.read_text(encoding="utf-8").count("\n") > MODULE_LINES]
    for path, tree in TREES.items():
        for function in _functions(tree):
            body = function.body[1:] if ast.get_docstring(function) else function.body
            size = (function.end_lineno or 0) - body[0].lineno + 1 if body else 0
            if size > FUNCTION_LINES:
                long.append(f"{path}:{function.name} ({size})")
    assert long == []


def test_every_module_says_what_it_does() -> None:
    """Each module has a docstring."""
    assert [
        str(p) for p, t in TREES.items() if p.read_text(encoding="utf-8").strip() and not ast.get_docstring(t)
    ] == []


def test_every_test_has_a_sentence() -> None:
    """Each test function has a docstring."""
    bare = [
        f"{path}:{f.name}"
        for path, tree in TREES.items()
        if "tests" in path.parts
        for f in _functions(tree)
        if f.name.startswith("test_") and not ast.get_docstring(f)
    ]
    assert bare == []


def test_nothing_is_swallowed_or_left_open() -> None:
    """No bare except, no pass-only handler, no not-implemented, no open work in comments."""
    found = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            silent = isinstance(node, ast.ExceptHandler) and (
                node.type is None or all(isinstance(n, ast.Pass) for n in node.body)
            )
            missing = isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node)
            if silent or missing:
                found.append(f"{path}:{node.lineno}")
        found += [
            f"{path}:{n}" for n, x in enumerate(path.read_text(encoding="utf-8").split("\n"), 1) if OPEN_WORK.search(x)
        ]
    assert found == []


def test_no_module_is_a_drawer() -> None:
    """A module is named after its subject."""
    assert [str(p) for p in OURS if p.stem in BANNED_NAMES] == []


def test_the_top_level_stays_as_it_is() -> None:
    """Only the agreed folders and files stand at the top, besides dot-files."""
    top = {path.relative_to(ROOT).parts[0] for path in TRACKED}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL
    assert not any(path.name == "uv.lock" for path in TRACKED)


def test_no_file_carries_an_address_of_the_build() -> None:
    """No tracked text names a package registry's host or a path of the machine it was written on."""
    found = []
    for path in TRACKED:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if REGISTRY.search(text) or MACHINE_PATH.search(text):
            found.append(str(path))
    assert found == []


def test_finding_codes_are_unique() -> None:
    """One name means one kind of finding in the whole engine."""
    codes: dict[int, str] = {}
    for info in pkgutil.walk_packages(engine.__path__, "engine."):
        module = importlib.import_module(info.name)
        codes |= {id(v): v.name for v in vars(module).values() if isinstance(v, Code)}
    assert len(codes) > 10
    assert [name for name, count in Counter(codes.values()).items() if count > 1] == []


def test_a_connection_to_another_machine_is_refused() -> None:
    """The guard around every test stops a connection that would leave this machine."""
    with socket.socket() as outside, pytest.raises(AssertionError, match="tried to reach"):
        outside.connect(("192.0.2.1", 80))


def test_possessive_groups_are_known() -> None:
    """A group that repeats possessively reads wrongly on CPython before 3.11.5, so each one is looked at and listed."""
    group = re.compile(r"\)[*+?]\+|\(\?>")
    found = {
        str(path.relative_to(ROOT)): len(group.findall(line))
        for path in OURS
        for line in path.read_text(encoding="utf-8").split("\n")
        if "re.compile" in line and group.search(line)
    }
    assert found == {"engine/lines/longobject.py": 1, "engine/lines/strict.py": 1}


def test_long_modules_are_the_exception() -> None:
    """Modules over 300 lines stay few."""
    long = [str(p.relative_to(ROOT)) for p in OURS if p.read_text(encoding="utf-8").count("\n") > WISHED_LINES]
    assert len(long) <= LONG_SHARE * len(OURS), long


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "."],
        ["mypy"],
        ["lint-imports", "--no-cache"],
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_checkers_find_nothing(command: list[str]) -> None:
    """Formatter, linter, type checker and import contracts pass."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

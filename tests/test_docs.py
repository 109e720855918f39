"""What the documents say exists, and what exists is said in the documents."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import engine
from dashboard import settings, theme
from dashboard.links import Page
from engine.cli.main import app
from engine.cli.seal import View
from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, EXIT_USAGE
from engine.findings import Result
from engine.ledger.pin_check import PinAnswer
from engine.ledger.report import Limits
from engine.load import MAX_FILES
from engine.receipts.words import ReceiptWord
from engine.transcripts.content import MAX_BYTES
from engine.transcripts.reader import READERS
from engine.transcripts.rounds import SideState
from sample_ledgers.build import SAMPLES, copy_to
from tests.support.commands import typed

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = ROOT / "engine" / "ARCHITECTURE.md"
START = "python3 -m pip install uv && python3 -m uv run winnow demo"
TESTS = "python3 -m uv run pytest"
CONSOLE = re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
CHAIN_VALUE = re.compile(r"chain [0-9a-f]{32}")


def test_the_two_commands_stand_first() -> None:
    """The README gives the two commands, and the build server runs exactly the second."""
    assert f"    {START}\n" in README
    assert f"    {TESTS}\n" in README
    assert README.index(START) < README.index(TESTS) < README.index("## Commands")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert script[-2:] == ["python3 -m pip install uv", TESTS]


def test_every_command_and_option_is_described() -> None:
    """Each command has its words in the README, and each of its options is named there."""
    commands = _commands()
    assert len(commands) >= 14
    missing = []
    for name, command in commands.items():
        if f"`winnow {name}" not in README:
            missing.append(name)
        options = [word for parameter in command.params for word in parameter.opts if word.startswith("--")]
        missing += [f"{name} {word}" for word in options if word != "--help" and not _names(word)]
    assert missing == []


def _commands() -> dict[str, Any]:
    """Return every command by the words that are typed, those of a group with the group's name before."""
    made: dict[str, Any] = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        within = getattr(command, "commands", None)
        made |= {f"{name} {inner}": each for inner, each in within.items()} if within else {name: command}
    return made


def _names(option: str) -> bool:
    """Tell whether an option stands in code style somewhere in the README's prose."""
    return re.search(rf"`[^`\n]*{option}\b[^`]*`", README) is not None


def test_every_schema_is_described() -> None:
    """Each command with --json has its schema name in the README, and so has the refusal."""
    speaking = [
        name.split()[0]
        for name, command in _commands().items()
        if any("--json" in parameter.opts for parameter in command.params)
    ]
    assert len(speaking) >= 6
    assert [name for name in [*speaking, "error"] if f"winnow:{name}:v1" not in README] == []


def test_every_word_of_a_verdict_is_described() -> None:
    """Results, receipt words, pin answers, states of a side and the dashboard's words stand in the README."""
    verdicts = [v for v in vars(theme).values() if isinstance(v, theme.Verdict)]
    assert len(verdicts) >= 7
    words = [
        *(result.value for result in Result),
        *(word.value for word in ReceiptWord),
        *(answer.value for answer in PinAnswer),
        *(state.value for state in SideState),
        *(verdict.word for verdict in (*verdicts, theme.chain_verdict(Result.BOUNDED))),
        *(view.value for view in View),
    ]
    flat = " ".join(README.split())
    assert [word for word in words if word not in flat] == []


def test_every_page_is_described() -> None:
    """Each page of the dashboard has a row in the README, and no row speaks of a page that is not there."""
    table = README.split("## The dashboard")[1].split("## ")[0]
    rows = re.findall(r"^\| ([A-Z]\w+) \|", table, flags=re.MULTILINE)
    assert set(rows) == {page.name.capitalize() for page in Page}


def test_every_format_is_described() -> None:
    """Each reader's format has a row in the table of formats, and no row speaks of a format that is not read."""
    rows = set(re.findall(r"^\| `([a-z0-9-]+)` \|", README, flags=re.MULTILINE))
    assert rows == {reader.name for reader in READERS}


def test_every_limit_is_the_one_described() -> None:
    """The numbers of the limits are those of the code."""
    limits = Limits()
    assert f"`--max-nesting` ({limits.nesting})" in README
    assert f"`--max-line-bytes` ({limits.line_bytes})" in README
    assert f"At most {limits.findings} findings" in README
    assert f"up to {MAX_BYTES // 2**20} MiB" in README
    assert f"end at {settings.MAX_UPLOAD_MIB} MiB" in README
    assert f"At most {MAX_FILES} files" in README
    assert f"{settings.ADDRESS} only" in README
    assert f":{settings.PREFERRED_PORT}`" in README
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", README, flags=re.MULTILINE))
    assert {*map(str, (EXIT_HOLDS, EXIT_FAILS, EXIT_USAGE, EXIT_CANNOT_LOOK))} <= set(rows)


def test_every_public_name_is_described() -> None:
    """What `import engine` offers is named in the README."""
    assert [name for name in engine.__all__ if name not in README] == []


def test_every_variable_of_the_environment_is_described() -> None:
    """Each variable the program reads is named in the README."""
    read = set()
    for folder in ("engine", "dashboard"):
        for path in (ROOT / folder).rglob("*.py"):
            read |= set(re.findall(r"WINNOW_[A-Z_]+", path.read_text(encoding="utf-8")))
    assert read
    assert {name for name in read if name not in README} == set()


@pytest.mark.parametrize("block", CONSOLE, ids=range(len(CONSOLE)))
def test_the_examples_print_what_they_show(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each console example of the README is run, and its output is the one printed there."""
    copy_to(tmp_path / "samples")
    here = tmp_path
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    for line, shown in zip(parts[::2], parts[1::2], strict=True):
        words = shlex.split(line)
        if words[0] == "cd":
            here = here / words[1]
            monkeypatch.chdir(here)
            continue
        assert words[0] == "winnow"
        answer = typed(*words[1:])
        printed = CHAIN_VALUE.sub("chain …", (answer.out + answer.err).strip())
        assert printed == CHAIN_VALUE.sub("chain …", shown.strip())


@pytest.mark.parametrize("block", PYTHON, ids=range(len(PYTHON)))
def test_the_python_examples_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each Python example of the README runs, its assertions included."""
    monkeypatch.chdir(tmp_path)
    assert sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(block))) >= 3
    exec(compile(block, "README.md", "exec"), {"__name__": "example"})  # noqa: S102 - our own document


def test_the_examples_are_there() -> None:
    """The README has examples to run, and the samples they use exist."""
    assert len(CONSOLE) >= 5
    assert len(PYTHON) >= 1
    used = {name for block in CONSOLE for name in re.findall(r"[a-z0-9_]+_(?:holds|fails|bounded)", block)}
    assert used <= set(SAMPLES)


@pytest.mark.parametrize("path", [ROOT / "README.md", ARCHITECTURE], ids=lambda path: path.name)
def test_named_files_and_tests_exist(path: Path) -> None:
    """Every path and every test that a document names is there."""
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"`((?:engine|dashboard|tests|sample_ledgers)/[\w./-]+)`", text)
    missing = [name for name in named if not (ROOT / name).exists()]
    for name, test in re.findall(r"`(tests/[\w/.-]+\.py)::(\w+)`", text):
        if not (ROOT / name).exists() or f"def {test}(" not in (ROOT / name).read_text(encoding="utf-8"):
            missing.append(f"{name}::{test}")
    assert missing == []


def test_the_map_is_short_and_names_every_subject() -> None:
    """ARCHITECTURE.md has at most 150 lines, names every subject, and a test for each of its invariants."""
    text = ARCHITECTURE.read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    subjects = {p.name for p in (ROOT / "engine").iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert {name for name in subjects if f"`{name}`" not in text} == set()
    invariants = re.search(r"^## Invariants\n(.*?)^## ", text, flags=re.DOTALL | re.MULTILINE)
    assert invariants is not None
    rows = [line for line in invariants[1].splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 15
    assert [row for row in rows if "`tests/" not in row] == []


def test_every_dependency_has_its_line() -> None:
    """ARCHITECTURE.md says of each library why it is there."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[\n(.*?)^\]", project, flags=re.DOTALL | re.MULTILINE)
    assert block is not None
    names = re.findall(r'^\s+"([A-Za-z0-9-]+)', block[1], flags=re.MULTILINE)
    assert len(names) >= 8
    text = ARCHITECTURE.read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in text] == []

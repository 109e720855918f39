"""The commands a sample's README names give the answers stated beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.findings import Result, exit_code, worst
from sample_ledgers.build import HERE, SAMPLES, commands_of, copy_to, files_of
from tests.support.commands import typed


def _expected(command: str, answers: dict[str, str]) -> int:
    """Return the exit code that the stated answers ask of a command."""
    named = {question: Result(answer) for question, answer in answers.items()}
    match command.split(maxsplit=1)[0]:
        case "rounds":
            return 0
        case "verify":
            asked = [named["chain"], *([named["head_pin"]] if "--pin" in command else [])]
            return exit_code(worst(asked))
        case _:
            # A receipt alone is bounded at best, and a check over several is as good as its worst one.
            return exit_code(worst([named["self_consistent"], named["content"]]))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_commands_of_a_sample_answer_as_stated(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verify, check and rounds end in the code that `expected.json` asks for."""
    monkeypatch.chdir(copy_to(tmp_path) / name)
    answers = json.loads((HERE / name / "expected.json").read_text(encoding="utf-8"))["receipts.jsonl"]["answers"]
    readme = (HERE / name / "README.md").read_text(encoding="utf-8")
    commands = commands_of(files_of(name))
    assert len(commands) >= 2
    for command in commands:
        assert f"    winnow {command}\n" in readme
        answer = typed(*command.split())
        assert (command, answer.code) == (command, _expected(command, answers)), answer.out
        assert answer.err == ""
        assert "\x1b" not in answer.out


def test_the_planted_lie_passes_alone() -> None:
    """Without content the lie is bounded and not called verified: only content exposes it."""
    answer = typed("check", HERE / "planted_lie_fails" / "receipts.jsonl")
    assert answer.code == 3
    assert "verified" not in answer.out


def test_a_cut_ledger_stays_green_without_its_pin() -> None:
    """The chain of the truncated sample holds, and says that a cut end would not show."""
    answer = typed("verify", HERE / "truncated_against_pin_fails" / "receipts.jsonl")
    assert answer.code == 0
    assert "that takes a pin" in answer.out


def test_a_fork_is_named_as_one() -> None:
    """The forked sample says from which row its fourth row continues."""
    answer = typed("verify", HERE / "forked_fails" / "receipts.jsonl")
    assert "row 2" in answer.out

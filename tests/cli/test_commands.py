"""Commands as a user types them: answers, exit codes and refusals."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from engine.cli import check as check_module
from engine.receipts.seal import CompactionReceipt
from tests.support.commands import typed
from tests.support.sessions import ClaudeSession

PRE = ["user: refund window?", "assistant: 30 days.", "user: digital goods?"]
POST = ["user: refund window?", "assistant: 30 days, digital included."]
HOSTILE = "evil\x1b[31m\u202e\u2066name"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a receipt and its content, and stand in it."""
    monkeypatch.chdir(tmp_path)
    Path("before.json").write_text(json.dumps(PRE), encoding="utf-8")
    Path("after.json").write_text(json.dumps(POST), encoding="utf-8")
    CompactionReceipt.open(PRE).record_kept(POST).seal("receipts.jsonl", compactor="c", method="m")
    return tmp_path


def test_sealing_and_checking_the_same_content_holds(folder: Path) -> None:
    """A receipt sealed by the command is verified by the command, and the drops are named."""
    sealed = typed("seal", "--pre", "before.json", "--post", "after.json", "--ledger", "new.jsonl")
    assert (sealed.code, sealed.err) == (0, "")
    checked = typed("check", "new.jsonl", "--pre", "before.json", "--post", "after.json")
    assert checked.code == 0
    assert "verified against content" in checked.out
    assert "dropped, item 2 before (19 bytes): assistant: 30 days." in checked.out


def test_sealing_twice_writes_once(folder: Path) -> None:
    """A receipt that already stands on the ledger is not written again."""
    before = Path("receipts.jsonl").read_bytes()
    again = typed(
        *("seal", "--pre", "before.json", "--post", "after.json", "--ledger", "receipts.jsonl", "--json"),
        *("--compactor", "c", "--method", "m"),
    )
    assert again.json["receipts"][0]["outcome"] == "already_there"
    assert Path("receipts.jsonl").read_bytes() == before


def test_content_is_found_by_digest(folder: Path) -> None:
    """Files given with --content find their side themselves."""
    answer = typed("check", "receipts.jsonl", "--content", "after.json", "--content", "before.json", "--json")
    (receipt,) = answer.json["receipts"]
    assert (answer.code, receipt["result"], receipt["scope"]) == (0, "HOLDS", "full")
    assert receipt["drops"]["recomputed"]["count"] == 2
    assert receipt["drops"]["recomputed"]["items"][0]["text"] == PRE[1]
    assert set(receipt["reference"]) == {
        *("ok", "self_consistent", "content", "schema", "understatement_check", "verified_scope")
    }


def test_a_receipt_without_content_is_never_called_verified(folder: Path) -> None:
    """Alone it is bounded, exit code 3, and the word does not occur."""
    answer = typed("check", "receipts.jsonl")
    assert answer.code == 3
    assert "verified" not in answer.out.lower()


def test_a_lie_fails_with_its_content(folder: Path) -> None:
    """A receipt that names no drop fails against the shipped content, and the missing items are named."""
    CompactionReceipt.open(PRE).record_kept(PRE).seal("lie.jsonl", compactor="liar", method="m")
    answer = typed("check", "lie.jsonl", "--pre", "before.json", "--post", "after.json", "--json")
    (receipt,) = answer.json["receipts"]
    assert (answer.code, receipt["result"]) == (1, "FAILS")
    assert "receipt_drop_not_claimed" in {f["code"] for f in receipt["findings"]}


def test_named_sides_need_one_receipt(folder: Path) -> None:
    """With two receipts on the ledger, --line chooses."""
    CompactionReceipt.open(PRE).record_kept(PRE).seal("receipts.jsonl", compactor="liar", method="m")
    sides = ("--pre", "before.json", "--post", "after.json")
    assert typed("check", "receipts.jsonl", *sides).code == 2
    assert typed("check", "receipts.jsonl", *sides, "--line", 1).code == 0
    assert typed("check", "receipts.jsonl", *sides, "--line", 2).code == 1
    assert typed("check", "receipts.jsonl", "--line", 3).code == 2


def test_a_session_gets_receipts_and_they_are_found_again(folder: Path) -> None:
    """Rounds whose sides are exact are sealed, and check finds them by digest."""
    session = ClaudeSession()
    session.chat("1", "2")
    kept = {"uuids": ["u-2", "a-2"], "allUuids": ["u-2", "a-2"]}
    session.boundary("b1", preTokens=50, postTokens=9, preservedMessages=kept)
    session.summary("s1")
    Path("session.jsonl").write_bytes(session.data())
    assert typed("rounds", "session.jsonl").code == 0
    assert typed("seal", "--transcript", "session.jsonl", "--ledger", "s.jsonl").code == 0
    answer = typed("check", "s.jsonl", "--transcript", "session.jsonl", "--json")
    assert (answer.code, answer.json["receipts"][0]["result"]) == (0, "HOLDS")
    assert "round 1, before" in answer.json["receipts"][0]["content"]["pre"]


def test_a_round_is_shown_with_its_texts(folder: Path) -> None:
    """With --round the dropped and introduced items of that round are printed; another number is refused."""
    session = ClaudeSession()
    session.chat("1")
    session.boundary("b1", preTokens=50)
    session.summary("s1")
    Path("session.jsonl").write_bytes(session.data())
    answer = typed("rounds", "session.jsonl", "--round", 1)
    assert "dropped, line 1, user prompt: prompt 1: words" in answer.out
    assert "introduced, line 4, user summary: This session" in answer.out
    items = typed("rounds", "session.jsonl", "--round", 1, "--json").json["rounds"][0]["items"]
    assert [len(items[name]) for name in ("dropped", "introduced", "kept")] == [2, 1, 0]
    assert typed("rounds", "session.jsonl", "--round", 2).code == 2


def test_a_partial_round_is_sealed_only_when_asked_and_says_so(folder: Path) -> None:
    """Partial sides are refused with the reason; with --partial the receipt carries it and stays bounded."""
    session = ClaudeSession()
    session.chat("1")
    session.boundary("b1", preTokens=50)
    session.summary("s1")
    Path("session.jsonl").write_bytes(session.data())
    refused = typed("seal", "--transcript", "session.jsonl", "--ledger", "s.jsonl")
    assert (refused.code, Path("s.jsonl").exists()) == (3, False)
    assert "not stored" in refused.out
    sealed = typed("seal", "--partial", "--transcript", "session.jsonl", "--ledger", "s.jsonl", "--json")
    assert "after partial: reread_files_not_stored" in sealed.json["receipts"][0]["row"]["method"]
    answer = typed("check", "s.jsonl", "--transcript", "session.jsonl")
    assert answer.code == 3
    assert "does not hold the whole" in answer.out


def test_nothing_is_sealed_behind_a_broken_chain(folder: Path) -> None:
    """A ledger with a break is refused and left as it was."""
    ledger = Path("receipts.jsonl")
    ledger.write_bytes(ledger.read_bytes().replace(b'"compactor": "c"', b'"compactor": "d"'))
    before = ledger.read_bytes()
    answer = typed("seal", "--pre", "before.json", "--post", "after.json", "--ledger", ledger)
    assert (answer.code, ledger.read_bytes()) == (1, before)
    assert "break" in answer.err


def test_verify_names_line_claimed_and_recomputed(folder: Path) -> None:
    """An edited row is one break with both values, exit code 1; strict agrees."""
    ledger = Path("receipts.jsonl")
    ledger.write_bytes(ledger.read_bytes().replace(b'"compactor": "c"', b'"compactor": "d"'))
    answer = typed("verify", ledger, "--json")
    (report,) = answer.json["ledgers"]
    (finding,) = [f for f in report["findings"] if f["severity"] == "break"]
    assert (answer.code, finding["line"], finding["code"]) == (1, 1, "chain_mismatch")
    assert finding["claimed"]
    assert finding["found"]
    assert typed("verify", ledger, "--strict").code == 1


def test_a_pin_shows_what_was_cut_off(folder: Path) -> None:
    """A pin made of the whole ledger fails a shorter one, and holds a longer one."""
    ledger = Path("receipts.jsonl")
    CompactionReceipt.open(PRE).record_kept(PRE).seal(ledger, compactor="c", method="m")
    made = typed("pin", ledger, "--out", "head.pin", "--json")
    assert (made.code, made.json["rows"]) == (0, 2)
    assert Path("head.pin").read_text(encoding="utf-8") == made.json["text"] + "\n"
    lines = ledger.read_bytes().splitlines(keepends=True)
    CompactionReceipt.open(POST).record_kept(PRE).seal(ledger, compactor="c", method="m")
    assert typed("verify", ledger, "--pin", "head.pin").code == 0
    ledger.write_bytes(lines[0])
    assert typed("verify", ledger).code == 0
    cut = typed("verify", ledger, "--pin", "head.pin", "--json")
    (answer,) = cut.json["ledgers"][0]["pin"]["answers"]
    assert (cut.code, answer["answer"], answer["missing"]) == (1, "truncated", 1)


def test_a_pin_goes_into_a_store_under_its_name(folder: Path) -> None:
    """A witness store takes pins by name, and verifies the ledger against them."""
    stored = typed("pin", "receipts.jsonl", "--store", "w.jsonl", "--namespace", "r")
    assert (stored.code, stored.err) == (0, "")
    assert typed("verify", "receipts.jsonl", "--pin", "w.jsonl", "--namespace", "r").code == 0
    assert typed("pin", "receipts.jsonl", "--store", "w.jsonl").code == 2
    assert typed("verify", "receipts.jsonl", "receipts.jsonl", "--pin", "w.jsonl").code == 2


def test_a_broken_ledger_gets_no_pin(folder: Path) -> None:
    """A pin of what does not verify is refused and nothing is written."""
    ledger = Path("receipts.jsonl")
    ledger.write_bytes(ledger.read_bytes().replace(b'"compactor": "c"', b'"compactor": "d"'))
    refused = typed("pin", ledger, "--out", "head.pin")
    assert (refused.code, Path("head.pin").exists()) == (1, False)


def test_selftest_holds() -> None:
    """The frozen vectors and the planted lie agree on this machine."""
    answer = typed("selftest", "--json")
    assert (answer.code, answer.json["schema"], answer.json["result"]) == (0, "winnow:selftest:v1", "HOLDS")


@pytest.mark.parametrize(
    "words",
    [
        ("verify",),
        ("verify", "missing.jsonl"),
        ("verify", "."),
        ("verify", "receipts.jsonl", "--max-nesting", "0"),
        ("check", "missing.jsonl"),
        ("check", "receipts.jsonl", "--line", "0"),
        ("check", "receipts.jsonl", "--content", "missing.json"),
        ("check", "receipts.jsonl", "--transcript", "before.json"),
        ("check", "receipts.jsonl", "--pre", "before.json", "--content", "before.json"),
        ("rounds", "missing.jsonl"),
        ("rounds", "binary"),
        ("rounds", "before.json", "--format", "nonsense"),
        ("seal", "--ledger", "x.jsonl"),
        ("seal", "--ledger", "x.jsonl", "--pre", "before.json"),
        ("seal", "--ledger", ".", "--pre", "before.json", "--post", "after.json"),
        ("seal", "--ledger", "no/such/folder/x.jsonl", "--pre", "before.json", "--post", "after.json"),
        ("seal", "--ledger", "x.jsonl", "--pre", "twice.json", "--post", "after.json"),
        ("seal", "--ledger", "x.jsonl", "--pre", "surrogate.json", "--post", "after.json"),
        ("seal", "--ledger", "x.jsonl", "--transcript", "before.json", "--pre", "before.json"),
        ("pin", "missing.jsonl"),
        ("pin", "before.json"),
        ("pin", "receipts.jsonl", "--out", "no/such/folder/x.pin"),
        ("verify", "receipts.jsonl", "--pin", "missing.pin"),
        ("verify", "receipts.jsonl", "--pin", "binary"),
        ("open", "missing"),
        ("open",),
        ("nonsense",),
        ("verify", "receipts.jsonl", "--nonsense"),
    ],
    ids=" ".join,
)
def test_bad_input_is_refused_in_one_line(folder: Path, words: tuple[str, ...]) -> None:
    """Every wrong use ends in a code of the four, an error line with a hint, and no traceback."""
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "twice.json").write_text('[{"a": 1, "a": 2}]', encoding="utf-8")
    (folder / "surrogate.json").write_text('["\\ud800"]', encoding="utf-8")
    answer = typed(*words)
    assert answer.code in {1, 2, 3}
    assert "Traceback" not in answer.out + answer.err
    assert "internal mistake" not in answer.err
    if answer.err:
        assert answer.err.startswith("error: ")
    assert answer.err or "could not be read" in answer.out or "COULD NOT LOOK" in answer.out


@pytest.mark.parametrize("data", [b"", b"\n\n", b"[1]\n42\nnull\n", b"\xff\xfe\x00", b"[" * 100_000, b'{"chain": 5}\n'])
@pytest.mark.parametrize("command", ["verify", "check", "rounds"])
def test_any_bytes_get_an_answer(folder: Path, command: str, data: bytes) -> None:
    """Hostile or empty files are never a pass, never a traceback, in both forms of output."""
    (folder / "any.jsonl").write_bytes(data)
    for words in ((), ("--json",)):
        answer = typed(command, "any.jsonl", *words)
        assert answer.code in {1, 2, 3}
        assert "internal mistake" not in answer.err


def test_hostile_names_and_values_reach_no_terminal(folder: Path) -> None:
    """Control and direction characters in names, labels and content come out as visible marks."""
    name = f"{HOSTILE}.jsonl"
    CompactionReceipt.open([HOSTILE]).record_kept([]).seal(name, compactor=HOSTILE, method=HOSTILE)
    (folder / name).write_bytes((folder / name).read_bytes() + b'{"\\u001b[31m": 1, "\\u001b[31m": 2}\n')
    (folder / "before.json").write_text(json.dumps([HOSTILE]), encoding="utf-8")
    (folder / "after.json").write_text("[]", encoding="utf-8")
    for words in (
        ("verify", name),
        ("check", name),
        ("check", name, "--line", 1, "--pre", "before.json", "--post", "after.json"),
        ("seal", "--ledger", name, "--pre", "before.json", "--post", "after.json"),
        ("rounds", f"missing{HOSTILE}"),
        ("open", f"missing{HOSTILE}"),
    ):
        answer = typed(*words)
        shown = answer.out + answer.err
        assert "⟨U+001B⟩" in shown
        assert {c for c in shown if unicodedata.category(c) in {"Cc", "Cf"}} <= {"\n"}


def test_an_internal_mistake_shows_an_id_and_no_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours is one line with its kind; the trace only with WINNOW_DEBUG."""

    def fault(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(check_module, "_given", fault)
    answer = typed("check", "receipts.jsonl")
    assert answer.code == 70
    assert "internal mistake" in answer.err
    assert "secret detail" not in answer.err
    monkeypatch.setenv("WINNOW_DEBUG", "1")
    assert "secret detail" in typed("check", "receipts.jsonl").err


def test_refusals_are_machine_readable_too(folder: Path) -> None:
    """With --json a refusal is one object on standard output beside the line on standard error."""
    answer = typed("check", "missing.jsonl", "--json")
    assert (answer.code, answer.json["schema"], answer.json["code"]) == (3, "winnow:error:v1", "unreadable")


def test_the_installed_command_answers(folder: Path) -> None:
    """The script on disk is the same program: version, and the exit code of a bounded check."""
    command = Path(sys.executable).with_name("winnow")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("winnow ")
    done = subprocess.run([command, "check", "receipts.jsonl"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "")

"""`winnow spans` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, EXIT_USAGE
from tests.support.commands import Typed, typed
from tests.support.sessions import ClaudeSession

RULE = "Safety: never deploy without approval."
POST = "We never deploy without an approval. The host is db-3."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a key, pins, a context, a snapshot of it and a text after compaction."""
    assert typed("keys", "init", "--workspace", tmp_path / "w").code == EXIT_HOLDS
    (tmp_path / "post.txt").write_text(POST)
    (tmp_path / "context.txt").write_text(f"{RULE}\n[fact] The host is db-3.\n---\nYou must never touch it.\n")
    assert spans("pin", RULE, "The host is db-3.", "--pins", tmp_path / "pins.jsonl").code == EXIT_HOLDS
    made = spans("snapshot", tmp_path / "context.txt", "--event", "evt-1", "--out", tmp_path / "snap.json")
    assert made.code == EXIT_HOLDS
    return tmp_path


def spans(*words: object) -> Typed:
    """Type a command of the group."""
    return typed("spans", *words)


def audited(folder: Path, *more: object) -> Typed:
    """Audit the snapshot and sign."""
    return spans(
        *("audit", "--snapshot", folder / "snap.json", "--post", folder / "post.txt"),
        *("--receipt", folder / "r.json", "--workspace", folder / "w", *more),
    )


def test_pins_are_judged_in_a_text(folder: Path) -> None:
    """Damaged is exit 1, kept is 0; words, class and what is gone are said."""
    answer = spans("audit", "--pins", folder / "pins.jsonl", "--post", folder / "post.txt")
    assert answer.code == EXIT_FAILS
    assert "1 PRESERVED, 1 DEGRADED, 0 LOST  (policy lexical-1)" in answer.out
    assert "DEGRADED  INVARIANT critical  4 of 5 words" in answer.out
    assert "gone: Safety" in answer.out
    assert "does not prove" in answer.out
    (folder / "post.txt").write_text(f"{POST} {RULE}")
    assert spans("audit", "--pins", folder / "pins.jsonl", "--post", folder / "post.txt").code == EXIT_HOLDS


def test_a_snapshot_says_what_it_leaves_without_a_verdict(folder: Path) -> None:
    """Refused and uncovered spans are counted, and equal contexts give equal files."""
    printed = spans("snapshot", folder / "context.txt", "--event", "evt-1")
    assert printed.out == (folder / "snap.json").read_text()
    taken = json.loads(printed.out)
    assert (len(taken["pins"]), len(taken["refused"]), len(taken["uncovered"])) == (3, 1, 1)
    (folder / "list.json").write_text(json.dumps([RULE, "[fact] The host is db-3.", "---", "You must never touch it."]))
    assert spans("snapshot", folder / "list.json", "--event", "evt-1").out == printed.out


def test_a_receipt_is_signed_checked_and_used(folder: Path) -> None:
    """From audit to re-injection: signed, checked in both depths, put back once."""
    assert audited(folder).code == EXIT_FAILS
    alone = spans("check", folder / "r.json", "--workspace", folder / "w")
    assert (alone.code, alone.out.startswith("BOUNDED")) == (EXIT_CANNOT_LOOK, True)
    given = ("--snapshot", folder / "snap.json", "--post", folder / "post.txt", "--workspace", folder / "w")
    assert spans("check", folder / "r.json", *given).code == EXIT_HOLDS
    back = ("reinject", "--receipt", folder / "r.json", *given)
    done = spans(*back, "--json").json
    assert (done["status"], len(done["restored"])) == ("OK", 1)
    assert spans(*back).out == done["text"] + "\n"
    assert spans(*back, "--out", folder / "back.txt").code == EXIT_HOLDS
    assert (folder / "back.txt").read_text() == done["text"]
    (folder / "post.txt").write_text(done["text"])
    assert spans(*back, "--json").json["text"] == done["text"]
    assert spans("check", folder / "r.json", *given).code == EXIT_HOLDS
    halted = spans(*back, "--halt")
    assert (halted.code, "HALT" in halted.out) == (EXIT_FAILS, True)


def test_a_receipt_without_texts_holds_none(folder: Path) -> None:
    """For passing on."""
    audited(folder, "--no-texts")
    assert "deploy" not in (folder / "r.json").read_text()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("audit",), EXIT_USAGE, "--post"),
        (("audit", "x", "--post", "post.txt"), EXIT_USAGE, "not both"),
        (("audit", "--post", "post.txt"), EXIT_USAGE, "--pins"),
        (("audit", "--post", "post.txt", "--pins", "pins.jsonl", "--snapshot", "snap.json"), EXIT_USAGE, "not both"),
        (("audit", "x", "--receipt", "r.json"), EXIT_USAGE, "--post"),
        (("audit", "--post", "none", "--pins", "pins.jsonl"), EXIT_CANNOT_LOOK, "none"),
        (("audit", "--post", "latin.txt", "--pins", "pins.jsonl"), EXIT_CANNOT_LOOK, "byte 3"),
        (("audit", "--post", "long.txt", "--pins", "pins.jsonl"), EXIT_CANNOT_LOOK, "2000000"),
        (("audit", "--post", "post.txt", "--pins", "post.txt"), EXIT_FAILS, "line 1"),
        (("audit", "--post", "post.txt", "--snapshot", "edited.json"), EXIT_FAILS, "pins[0]"),
        (("audit", "--post", "post.txt", "--snapshot", "post.txt"), EXIT_CANNOT_LOOK, "one JSON object"),
        (("audit", "--post", "post.txt", "--pins", "edited.json"), EXIT_FAILS, "pins[0]"),
        (("audit", "--post", "post.txt", "--pins", "numbers.json"), EXIT_FAILS, "numbers.json [1]"),
        (("pin", "…!"), EXIT_FAILS, "no word"),
        (("pin", "fine words", "--pins", "post.txt/pins.jsonl"), EXIT_CANNOT_LOOK, "cannot make the folder"),
        (("snapshot", "numbers.json", "--event", "e"), EXIT_CANNOT_LOOK, "spans[1]"),
        (("snapshot", "many.txt", "--event", "e"), EXIT_CANNOT_LOOK, "5001"),
        (("snapshot", "context.txt", "--event", "e", "--out", "post.txt"), EXIT_CANNOT_LOOK, "one JSON object"),
        (("check", "post.txt", "--workspace", "w"), EXIT_FAILS, "NOT_A_STATEMENT"),
        (("check", "snap.json", "--workspace", "none"), EXIT_CANNOT_LOOK, "winnow keys init"),
    ],
)
def test_bad_input_is_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, told: str
) -> None:
    """Each with its exit code, its place and no traceback; nothing is written."""
    monkeypatch.chdir(folder)
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "long.txt").write_text("x" * 2_000_001)
    (folder / "many.txt").write_text("word\n" * 5_001)
    (folder / "numbers.json").write_text('["fine words", 7]')
    (folder / "edited.json").write_text((folder / "snap.json").read_text().replace("without approval", "with approval"))
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    answer = spans(*words)
    assert (answer.code, told in answer.err + answer.out) == (code, True), answer
    assert "Traceback" not in answer.err
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_file_of_pins_may_be_an_array_or_a_snapshot(folder: Path) -> None:
    """All three forms give the same verdicts; a snapshot brings its own event and digest along."""
    (folder / "array.json").write_text(json.dumps([RULE, "[fact] The host is db-3."]))
    by_snapshot = spans("audit", "--snapshot", folder / "snap.json", "--post", folder / "post.txt", "--json").json
    as_pins = spans("audit", "--pins", folder / "snap.json", "--post", folder / "post.txt", "--json").json
    array = spans("audit", "--pins", folder / "array.json", "--post", folder / "post.txt", "--json").json
    assert as_pins == by_snapshot
    assert as_pins["event_id"] == "evt-1"
    assert [each["verdict"] for each in array["spans"]] == [each["verdict"] for each in by_snapshot["spans"]]


def test_a_snapshot_is_answered_as_json(folder: Path) -> None:
    """The snapshot stands in the answer as in the file, and the answer says where it went."""
    out = folder / "again.json"
    answer = spans("snapshot", folder / "context.txt", "--event", "evt-1", "--out", out, "--json").json
    assert (answer["schema"], answer["written"]) == ("winnow:spans:v1", str(out))
    assert answer["snapshot"] == json.loads(out.read_text()) == json.loads((folder / "snap.json").read_text())
    assert spans("snapshot", folder / "context.txt", "--event", "evt-1", "--json").json["written"] is None


def test_a_foreign_or_edited_receipt_puts_nothing_back(folder: Path) -> None:
    """Another text, another snapshot, one changed byte: refused, no file written."""
    audited(folder)
    back = ["reinject", "--receipt", folder / "r.json", "--snapshot", folder / "snap.json", "--workspace", folder / "w"]
    out = ["--out", folder / "back.txt", "--json"]
    (folder / "other.txt").write_text("another text")
    assert spans(*back, "--post", folder / "other.txt", *out).json["code"] == "RECEIPT_OTHER_TEXT"
    data = (folder / "r.json").read_bytes()
    (folder / "r.json").write_bytes(data.replace(b'"found":4', b'"found":5'))
    assert spans(*back, "--post", folder / "post.txt", *out).json["code"] == "SIGNATURE_WRONG"
    assert not (folder / "back.txt").exists()


def test_sessions_are_audited_round_by_round(tmp_path: Path) -> None:
    """Pins come from the session, files by hand are added, and what cannot be read is named."""
    made = ClaudeSession()
    made.user("u1", f"{RULE}\nThe host is db-3.")
    made.says("a1", "yes")
    made.boundary("b1")
    made.summary("s1", "Nothing of it.")
    (tmp_path / "one.jsonl").write_bytes(made.data())
    (tmp_path / "no.json").write_text("[]")
    answer = spans("audit", tmp_path)
    assert answer.code == EXIT_FAILS
    assert "round 1: 0 PRESERVED, 0 DEGRADED, 1 LOST  partial: files" in answer.out
    pins = tmp_path / "pins"
    pins.write_text('{"pin": "The host is db-3."}\n')
    whole = spans("audit", tmp_path / "one.jsonl", "--pins", pins, "--json").json
    (session,) = whole["sessions"]
    assert [span["verdict"] for span in session["rounds"][0]["audit"]["spans"]] == ["LOST", "LOST"]
    assert session["rounds"][0]["bounded"]
    assert whole["not_read"] == []


def test_a_session_of_a_format_that_is_not_read_is_named_in_a_folder(tmp_path: Path) -> None:
    """In silence it would look like none; a file that is no session stays unnamed."""
    made = ClaudeSession()
    made.user("u1", RULE)
    made.says("a1", "yes")
    made.boundary("b1")
    made.summary("s1", RULE)
    (tmp_path / "one.jsonl").write_bytes(made.data())
    (tmp_path / "chat.json").write_text('{"requesterUsername": "x", "requests": []}')
    (tmp_path / "notes.txt").write_text("some notes")
    answer = spans("audit", tmp_path, "--json")
    (unread,) = answer.json["not_read"]
    assert (Path(unread["path"]).name, "VS Code chat session" in unread["reason"]) == ("chat.json", True)
    assert (answer.code, len(answer.json["sessions"])) == (EXIT_CANNOT_LOOK, 1)
    assert "VS Code chat session" in spans("audit", tmp_path / "chat.json").out

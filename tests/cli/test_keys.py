"""`winnow keys` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, EXIT_USAGE
from engine.signing.custody import Custody
from engine.signing.keys import PublicKey
from tests.support.commands import Typed, typed


def keys(folder: Path, *words: object) -> Typed:
    """Type a command on a workspace."""
    return typed("keys", *words, "--workspace", folder)


def test_a_key_is_made_listed_rotated_and_taken_back(tmp_path: Path) -> None:
    """Each step shows the keyring as it then is."""
    made = keys(tmp_path, "init", "--name", "tess", "--json").json
    assert (made["schema"], made["version"]) == ("winnow:keys:v1", 1)
    rotated = keys(tmp_path, "rotate", "--json").json
    assert [each["state"] for each in rotated["keys"]] == ["retired", "current"]
    taken = keys(tmp_path, "revoke", rotated["keys"][0]["key_id"])
    assert taken.code == EXIT_HOLDS
    listed = keys(tmp_path, "list")
    assert "revoked  own  tess" in listed.out
    assert "does not prove" in listed.out
    assert keys(tmp_path, "list", "--json").json["version"] == 3


def test_bad_use_is_refused_in_one_line(tmp_path: Path) -> None:
    """No keyring, a second one, an unknown key: a code and what to do, no traceback."""
    for word in ("list", "rotate"):
        answer = keys(tmp_path, word)
        assert (answer.code, "winnow keys init" in answer.err) == (EXIT_CANNOT_LOOK, True)
        assert "Traceback" not in answer.err
    assert keys(tmp_path, "export").code == EXIT_CANNOT_LOOK
    keys(tmp_path, "init")
    assert keys(tmp_path, "init").code == EXIT_FAILS
    assert keys(tmp_path, "revoke", "0" * 64).code == EXIT_FAILS
    assert json.loads(keys(tmp_path, "init", "--json").out)["code"] == "KEYRING_EXISTS"


def test_an_export_is_what_others_add(tmp_path: Path) -> None:
    """The export holds no secret, is added by name, and is never written over another file."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    keys(ours, "init", "--name", "tess")
    keys(theirs, "init", "--name", "mira")
    out = tmp_path / "mira.json"
    assert keys(theirs, "export", "--out", out).code == EXIT_HOLDS
    assert Custody(theirs).signer().seed.hex() not in out.read_text()
    assert keys(theirs, "export").out == out.read_text()
    added = keys(ours, "trust", out, "--name", "mira", "--purpose", "approval", "--json").json
    assert [(each["name"], each["own"], each["purposes"]) for each in added["keys"][1:]] == [
        ("mira", False, ["approval"])
    ]
    assert keys(ours, "trust", out, "--name", "mira", "--json").json["version"] == 2
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    assert (keys(theirs, "export", "--out", other).code, other.read_text()) == (EXIT_FAILS, "mine")
    assert keys(ours, "trust", other, "--name", "eve").code == EXIT_CANNOT_LOOK
    assert keys(ours, "trust", tmp_path / "none", "--name", "eve").code == EXIT_CANNOT_LOOK


def test_a_key_that_means_nothing_is_not_added(tmp_path: Path) -> None:
    """A low-order key in an export is refused by its name."""
    keys(tmp_path, "init")
    weak = "01" + "00" * 31
    assert not isinstance(PublicKey.from_hex(weak), PublicKey)
    path = tmp_path / "weak.json"
    path.write_text(json.dumps({"keys": [{"public": weak, "not_after": None, "revoked_at": None}]}))
    answer = keys(tmp_path, "trust", path, "--name", "eve", "--json")
    assert (answer.json["code"], answer.code) == ("KEY_LOW_ORDER", EXIT_FAILS)
    assert keys(tmp_path, "list", "--json").json["version"] == 1


def test_a_passphrase_from_a_file_opens_and_locks(tmp_path: Path) -> None:
    """The key is encrypted on disk, the wrong passphrase is refused, and a rotation keeps it locked."""
    secret = tmp_path / "secret"
    secret.write_text("grey is never green\n")
    folder = tmp_path / "w"
    assert keys(folder, "init", "--passphrase-file", secret).code == EXIT_HOLDS
    assert Custody(folder).is_locked()
    assert keys(folder, "rotate", "--passphrase-file", secret).code == EXIT_HOLDS
    assert Custody(folder).is_locked()
    secret.write_text("grey is green\n")
    wrong = keys(folder, "rotate", "--passphrase-file", secret, "--json")
    assert (wrong.json["code"], wrong.code) == ("PASSPHRASE_WRONG", EXIT_FAILS)
    secret.write_text("\n")
    assert keys(folder, "rotate", "--passphrase-file", secret).code == EXIT_USAGE
    assert keys(folder, "rotate", "--passphrase-file", tmp_path / "none").code == EXIT_CANNOT_LOOK
    assert keys(folder, "list", "--json").json["version"] == 2


def test_a_passphrase_is_asked_for_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --passphrase the terminal is asked, and a key in use asks again."""
    asked: list[str] = []

    def prompt(text: str, **options: object) -> str:
        asked.append(f"{text} hidden={options['hide_input']} again={options.get('confirmation_prompt', False)}")
        return "grey is never green"

    monkeypatch.setattr("engine.cli.keys.typer.prompt", prompt)
    assert keys(tmp_path, "init", "--passphrase").code == EXIT_HOLDS
    assert keys(tmp_path, "rotate", "--passphrase").code == EXIT_HOLDS
    assert asked == [
        "New passphrase hidden=True again=True",
        "Passphrase of the key in use hidden=True again=False",
        "New passphrase hidden=True again=True",
    ]

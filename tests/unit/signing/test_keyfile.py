"""Private keys on a disk."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from engine.errors import CannotLookError, RefusedError, UsageError
from engine.signing.keyfile import load_key, needs_passphrase, save_key
from engine.signing.keys import PrivateKey
from engine.storage.failpoints import listening
from engine.storage.outcome import NotStoredError
from tests.support.faults import FailAt

KEY = PrivateKey(bytes(range(32)))
PASSPHRASE = "grey is never green"  # noqa: S105 - protects nothing but the key of this test


def saved(folder: Path, passphrase: str | None = None) -> Path:
    """Write the key."""
    path = folder / "keys" / "one.key"
    save_key(path, KEY, passphrase)
    return path


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE, "päss wörd \U0001f511"])
def test_a_key_comes_back(tmp_path: Path, passphrase: str | None) -> None:
    """The same key, from a file of its owner alone in a folder of its owner alone."""
    path = saved(tmp_path, passphrase)
    assert load_key(path, passphrase) == KEY
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert needs_passphrase(path) is (passphrase is not None)
    assert (KEY.seed.hex() in path.read_text()) is (passphrase is None)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666, 0o601, 0o777])
def test_a_key_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    """Any bit for others refuses, and says what to do."""
    path = saved(tmp_path)
    path.chmod(mode)
    with pytest.raises(RefusedError) as seen:
        load_key(path)
    assert (seen.value.code, "chmod 600" in seen.value.hint) == ("KEY_FILE_OPEN", True)


def test_wrong_and_missing_passphrases_are_told_apart(tmp_path: Path) -> None:
    """Each has its code."""
    path = saved(tmp_path, PASSPHRASE)
    for passphrase, code in (
        (None, "PASSPHRASE_NEEDED"),
        ("grey is never greeN", "PASSPHRASE_WRONG"),
        ("", "PASSPHRASE_WRONG"),
    ):
        with pytest.raises(RefusedError) as seen:
            load_key(path, passphrase)
        assert seen.value.code == code
    with pytest.raises(UsageError) as short:
        save_key(tmp_path / "short.key", KEY, "1234567")
    assert (short.value.code, (tmp_path / "short.key").exists()) == ("PASSPHRASE_SHORT", False)


def test_an_existing_key_is_never_written_over(tmp_path: Path) -> None:
    """The file stays as it is, and nothing lies beside it."""
    path = saved(tmp_path)
    before = path.read_bytes()
    with pytest.raises(RefusedError) as seen:
        save_key(path, PrivateKey.generate())
    assert (seen.value.code, path.read_bytes(), len(list(path.parent.iterdir()))) == ("KEY_EXISTS", before, 1)


@pytest.mark.parametrize("step", ["key.open", "key.write", "key.sync", "key.link"])
def test_a_disk_that_fails_leaves_nothing(tmp_path: Path, step: str) -> None:
    """An error at any step leaves no key and no rest of one."""
    path = tmp_path / "keys" / "one.key"
    fault = FailAt(step, errno.ENOSPC)
    with listening(fault), pytest.raises(NotStoredError):
        save_key(path, KEY)
    assert fault.fired == 1
    assert list(path.parent.iterdir()) == []


def test_no_other_file_is_taken_for_a_key(tmp_path: Path) -> None:
    """Links, folders, pipes, other JSON, other schemas, long files, absent files: each a named refusal."""
    path = saved(tmp_path)
    good = json.loads(path.read_text())
    bad = {
        "text": b"no json",
        "latin": b'{"schema": "\xe9"}',
        "list": b"[]",
        "schema": json.dumps({**good, "schema": "winnow-key/2"}).encode(),
        "twice": path.read_bytes().replace(b'"seed"', b'"seed": "00", "seed"'),
        "short": json.dumps({**good, "seed": "00"}).encode(),
        "no_seed": json.dumps({name: good[name] for name in ("schema", "key_id", "public")}).encode(),
        "spelled": json.dumps({**good, "seed": good["seed"].upper()}).encode(),
        "long": json.dumps({**good, "more": "x" * 5000}).encode(),
    }
    for name, data in bad.items():
        other = path.with_name(name)
        other.write_bytes(data)
        other.chmod(0o600)
        with pytest.raises(CannotLookError):
            load_key(other)
    link = path.with_name("link")
    link.symlink_to(path)
    os.mkfifo(path.with_name("pipe"), 0o600)
    for other in (link, path.parent, path.with_name("absent"), path.with_name("pipe")):
        with pytest.raises(CannotLookError):
            load_key(other)


def test_a_key_under_another_name_is_refused(tmp_path: Path) -> None:
    """A file whose public half is not that of its seed is mixed up."""
    path = saved(tmp_path)
    body = json.loads(path.read_text())
    for change in ({"public": PrivateKey.generate().public.hex}, {"key_id": "0" * 64}, {"seed": "11" * 32}):
        path.write_text(json.dumps({**body, **change}))
        with pytest.raises(RefusedError) as seen:
            load_key(path)
        assert seen.value.code == "KEY_FILE_MIXED"


def test_every_changed_byte_of_an_encrypted_key_is_noticed(tmp_path: Path) -> None:
    """Salt, nonce, data, names: none can be changed unnoticed."""
    path = saved(tmp_path, PASSPHRASE)
    data = path.read_bytes()
    for at in range(0, len(data), 5):
        changed = bytearray(data)
        changed[at] ^= 1
        path.write_bytes(changed)
        try:
            key = load_key(path, PASSPHRASE)
        except (RefusedError, CannotLookError):
            continue
        assert key == KEY
        assert json.loads(changed) == json.loads(data)

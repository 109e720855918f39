"""Which keys sign and are trusted here?

The private keys stay in the workspace's folder, readable by their owner alone; the keyring is what others get. A
passphrase is asked for on the terminal or read from a file, never given on the command line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.opening import Workspace, default_workspace
from engine.cli.output import emit_json, safe, say
from engine.cli.verify import Json
from engine.clock import format_time, utc_now
from engine.control.custody import RecordedKeys
from engine.errors import CannotLookError, RefusedError, UsageError
from engine.lines.strict import parse_exact
from engine.signing.envelope import canonical
from engine.signing.keyfile import load_key, needs_passphrase, save_key
from engine.signing.keyring import Entry, Keyring
from engine.signing.keys import PrivateKey, PublicKey
from engine.signing.purpose import Purpose
from engine.storage.files import atomic_write

keys = typer.Typer(help="Make, list, change and pass on the keys that sign receipts.", no_args_is_help=True)
Locked = Annotated[bool, typer.Option("--passphrase", help="Ask for a passphrase that encrypts the new key.")]
PassphraseFile = Annotated[Path | None, typer.Option(help="File whose first line is the passphrase of the key in use.")]
_MAX_PASSPHRASE = 1024


@keys.command()
def init(
    *,
    name: Annotated[str, typer.Option(help="Whose key it is.")] = "this workspace",
    passphrase: Locked = False,
    passphrase_file: PassphraseFile = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Make the first key and the keyring of a workspace."""
    held = RecordedKeys(workspace or default_workspace())
    _say_ring(held.init(name, utc_now(), _fresh(asked=passphrase, file=passphrase_file)), held, as_json=as_json)


@keys.command("list")
def list_keys(*, workspace: Workspace = None, as_json: Json = False) -> None:
    """Show every key of the keyring with its state and window."""
    held = RecordedKeys(workspace or default_workspace())
    _say_ring(held.keyring(), held, as_json=as_json)


@keys.command()
def rotate(
    *,
    passphrase: Locked = False,
    passphrase_file: PassphraseFile = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Retire the key in use and begin a new one; older receipts keep verifying in their window."""
    held = RecordedKeys(workspace or default_workspace())
    version = held.keyring().version
    old = _of_key_in_use(held, passphrase_file)
    fresh = _ask_twice() if passphrase else (old if passphrase_file is not None else None)
    _say_ring(held.rotate(utc_now(), old, fresh, expect=version), held, as_json=as_json)


@keys.command()
def export(
    out: Annotated[Path | None, typer.Option(help="File to write; printed otherwise.")] = None,
    *,
    workspace: Workspace = None,
) -> None:
    """Write the public keys that others need to check receipts of this workspace; nothing secret is in them."""
    data = canonical(RecordedKeys(workspace or default_workspace()).keyring().published())
    if out is None:
        say(data.decode("utf-8"))
        return
    if out.exists() and read_published(out) is None:
        raise RefusedError(
            "out_is_no_keyring", "expected a new file or an older export; nothing was written", where=str(out)
        )
    atomic_write(out, data + b"\n")
    say(f"written to {safe(out, 400)}")


@keys.command()
def trust(
    file: Annotated[Path, typer.Argument(help="Exported public keys of somebody else.")],
    *,
    name: Annotated[str, typer.Option(help="Whose keys they are.")],
    purpose: Annotated[list[Purpose] | None, typer.Option(help="What they may sign; receipts otherwise.")] = None,
    passphrase_file: PassphraseFile = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Add another's keys that are in use, so that what they sign can be checked. Compare the key ids by another way."""
    published = read_published(file)
    if published is None:
        raise CannotLookError("NOT_EXPORTED_KEYS", "expected keys as winnow keys export writes them", where=str(file))
    held = RecordedKeys(workspace or default_workspace())
    secret = _of_key_in_use(held, passphrase_file)
    ring = held.keyring()
    for key in published:
        if ring.find(key.id) is None:
            ring = held.trust(key, name, purpose or [Purpose.RECEIPT], utc_now(), secret)
    _say_ring(ring, held, as_json=as_json)


@keys.command()
def approver(
    out: Annotated[Path, typer.Argument(help="New file for the approver's own key.")],
    *,
    name: Annotated[str, typer.Option(help="Who approves with it.")],
    passphrase: Locked = False,
    passphrase_file: PassphraseFile = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Make a key of one approver and register it; the file belongs to that person, not to the workspace."""
    held = RecordedKeys(workspace or default_workspace())
    secret = _of_key_in_use(held, passphrase_file)
    held.keyring()
    fresh = PrivateKey.generate()
    save_key(out, fresh, _ask_twice() if passphrase else None)
    _say_ring(held.trust(fresh.public, name, [Purpose.APPROVAL], utc_now(), secret), held, as_json=as_json)


@keys.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The whole id of the key.")],
    *,
    passphrase_file: PassphraseFile = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Take a key back: nothing that it signed counts any more."""
    held = RecordedKeys(workspace or default_workspace())
    _say_ring(held.revoke(key_id, utc_now(), _of_key_in_use(held, passphrase_file)), held, as_json=as_json)


def read_published(path: Path) -> list[PublicKey] | None:
    """Return the keys in use of an export; None when the file is none. Raises `RefusedError` for a bad key."""
    try:
        value: Any = parse_exact(path.read_text("utf-8")).value
        listed = [each for each in value["keys"] if each["not_after"] is None and each["revoked_at"] is None]
        made = [PublicKey.from_hex(each["public"]) for each in listed]
    except OSError as error:
        raise CannotLookError("KEYS_UNREADABLE", error.strerror or str(error), where=str(path)) from error
    except (UnicodeDecodeError, KeyError, TypeError, ValueError):
        return None
    for key in made:
        if not isinstance(key, PublicKey):
            raise RefusedError(key.name, key.sentence[0].lower() + key.sentence[1:].rstrip("."), where=str(path))
    return [key for key in made if isinstance(key, PublicKey)]


def _of_key_in_use(held: RecordedKeys, file: Path | None) -> str | None:
    """Return the passphrase of the key in use, None when it has none."""
    if not held.custody.is_locked():
        return None
    if file is not None:
        return _from_file(file)
    return str(typer.prompt("Passphrase of the key in use", hide_input=True, err=True))


def signer_passphrase(held: RecordedKeys, file: Path | None) -> str | None:
    """Return what opens the key in use, having tried it; asks on the terminal when it must."""
    secret = _of_key_in_use(held, file)
    load_key(held.custody.key_path(held.keyring().current.key.id), secret)
    return secret


def passphrase_of(path: Path, file: Path | None) -> str | None:
    """Return the passphrase of a key file, None when it has none; asked on the terminal when no file holds it."""
    if not needs_passphrase(path):
        return None
    return (
        _from_file(file) if file is not None else str(typer.prompt("Passphrase of the key", hide_input=True, err=True))
    )


def _fresh(*, asked: bool, file: Path | None) -> str | None:
    if file is not None:
        return _from_file(file)
    return _ask_twice() if asked else None


def _ask_twice() -> str:
    return str(typer.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True))


def _from_file(path: Path) -> str:
    try:
        lines = path.read_text("utf-8")[:_MAX_PASSPHRASE].splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotLookError("PASSPHRASE_UNREADABLE", "the passphrase file cannot be read", where=str(path)) from error
    if not lines or not lines[0]:
        raise UsageError("PASSPHRASE_EMPTY", "the first line of the passphrase file is empty", where=str(path))
    return lines[0]


def _say_ring(ring: Keyring, held: RecordedKeys, *, as_json: bool) -> None:
    if as_json:
        entries = [{**entry.as_json(), "state": entry.state} for entry in ring.entries.values()]
        emit_json("keys", {"version": ring.version, "folder": str(held.custody.folder), "keys": entries})
        return
    say(f"keyring version {ring.version} in {safe(held.custody.folder, 400)}")
    for entry in ring.entries.values():
        say(f"  {_line(entry)}")
    say("  does not prove: who holds a key; compare the whole key id with its owner by another way")


def _line(entry: Entry) -> str:
    whose = "own" if entry.own else "trusted"
    until = "" if entry.not_after is None else f" until {format_time(entry.not_after)}"
    purposes = ", ".join(sorted(purpose.value for purpose in entry.purposes))
    window = f"from {format_time(entry.not_before)}{until}"
    return f"{entry.key.id}  {entry.state}  {whose}  {safe(entry.name)}  {purposes}  {window}"

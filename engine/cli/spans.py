"""Which pinned spans does a text after a compaction still hold?

Verdicts are about words (policy lexical-1). Exit codes: 0 every pinned span is PRESERVED and nothing is left out of
sight, 1 one is DEGRADED or LOST (or a re-injection answers HALT), 3 nothing could be judged or the text is partial.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from engine.cli.keys import signer_passphrase
from engine.cli.opening import Workspace, default_workspace
from engine.cli.output import emit_json, safe, say
from engine.cli.span_input import (
    audited_sessions,
    bytes_in,
    held_pins,
    refuse_other_snapshot,
    snapshot_for,
    snapshot_in,
    spans_in,
    text_in,
    watched,
)
from engine.cli.span_lines import audit_lines, counted, pin_line, session_json, session_lines
from engine.cli.verify import Json
from engine.clock import utc_now
from engine.control.custody import RecordedKeys
from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, UsageError
from engine.findings import Result, exit_code
from engine.signing.envelope import canonical
from engine.spans.audit import Audit, audit
from engine.spans.judge import Verdict
from engine.spans.pinfile import PinStore
from engine.spans.receipt import Occasion, check_receipt, make_receipt
from engine.spans.reinject import Status, reinject
from engine.spans.snapshot import Snapshot, pin, snapshot
from engine.storage.files import atomic_write

spans = typer.Typer(help="Pin spans, judge what a compaction left of them, and put them back.", no_args_is_help=True)
Pins = Annotated[Path | None, typer.Option(help="File of pins, JSON Lines.")]
SnapshotFile = Annotated[Path | None, typer.Option("--snapshot", help="Snapshot made before the compaction.")]
PassphraseFile = Annotated[Path | None, typer.Option(help="File whose first line is the passphrase of the key in use.")]


@spans.command("audit")
def audit_command(
    sessions: Annotated[list[Path] | None, typer.Argument(help="Session files, or folders of them.")] = None,
    *,
    post: Annotated[Path | None, typer.Option(help="Text after the compaction.")] = None,
    pins: Pins = None,
    snapshot_file: SnapshotFile = None,
    event: Annotated[str, typer.Option(help="Event id for the receipt.")] = "event",
    receipt: Annotated[Path | None, typer.Option(help="File for a signed receipt.")] = None,
    no_texts: Annotated[bool, typer.Option("--no-texts", help="Leave the dropped texts out of the receipt.")] = False,
    passphrase_file: PassphraseFile = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Judge pinned spans against one text, or against every round of sessions."""
    if (post is None) == (not sessions):
        raise UsageError("AUDIT_OF_WHAT", "expected --post FILE, or session files, and not both")
    if post is None:
        if receipt is not None or snapshot_file is not None:
            raise UsageError("AUDIT_ONE_TEXT", "--receipt and --snapshot belong to --post")
        _audit_sessions(sessions or [], pins, as_json=as_json)
        return
    taken = snapshot_for(pins, snapshot_file, event)
    made = audit(taken, text_in(post), watch=watched())
    if receipt is not None:
        _sign(made, receipt, workspace or default_workspace(), passphrase_file, texts=not no_texts)
    if as_json:
        emit_json("spans", {"text": str(post), **made.as_json()})
    else:
        for line in audit_lines(made):
            say(line)
    raise typer.Exit(_code([made], bounded=False))


@spans.command("pin")
def pin_command(
    texts: Annotated[list[str], typer.Argument(help="Texts to pin, one span each.")],
    *,
    pins: Annotated[Path | None, typer.Option(help="File of pins to add them to; shown only otherwise.")] = None,
    as_json: Json = False,
) -> None:
    """Pin texts word for word and show class and id of each."""
    made = PinStore(pins).hold(texts) if pins is not None else tuple(pin(text) for text in texts)
    if as_json:
        emit_json("spans", {"pins": [each.as_json() for each in made]})
    else:
        for each in made:
            say(pin_line(each))


@spans.command("snapshot")
def snapshot_command(
    file: Annotated[Path, typer.Argument(help="JSON list of spans, or a text with one span a line.")],
    *,
    event: Annotated[str, typer.Option(help="Event id.")],
    pins: Pins = None,
    out: Annotated[Path | None, typer.Option(help="File for the snapshot; printed otherwise.")] = None,
    as_json: Json = False,
) -> None:
    """Pin the spans of a context before it is compacted; keep the snapshot, an audit needs it."""
    taken = snapshot(event, spans_in(file), held_pins(pins).pins)
    data = canonicaltext_in(taken)
    if out is not None:
        refuse_other_snapshot(out)
        atomic_write(out, data.encode("utf-8") + b"\n")
    if as_json:
        emit_json("spans", {"snapshot": taken.as_json(), "written": None if out is None else str(out)})
    else:
        say(data if out is None else f"{counted(taken)}; written to {safe(out, 400)}")


@spans.command("reinject")
def reinject_command(
    *,
    post: Annotated[Path, typer.Option(help="Text after the compaction.")],
    receipt: Annotated[Path, typer.Option(help="Signed receipt of the audit of this text.")],
    snapshot_file: Annotated[Path, typer.Option("--snapshot", help="Snapshot the audit was made with.")],
    allow: Annotated[bool, typer.Option("--allow/--halt", help="Put critical spans back, or halt for them.")] = True,
    out: Annotated[Path | None, typer.Option(help="File for the text; printed otherwise.")] = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Append the block of damaged pins to the audited text, once, or say HALT."""
    keys = RecordedKeys(workspace or default_workspace()).keyring()
    taken = snapshot_in(snapshot_file)
    done = reinject(text_in(post), bytes_in(receipt), allow=allow, snapshot=taken, keys=keys, now=utc_now())
    if out is not None and done.status is Status.OK:
        atomic_write(out, done.text.encode("utf-8", "surrogatepass"))
    if as_json:
        emit_json("spans", done.as_json())
    elif done.status is Status.HALT:
        say(f"✖ HALT  critical spans are damaged and may not be put back: {', '.join(done.halting)}")
    elif out is None:
        # Into a pipe the text goes as it is; on a terminal its control characters must not act.
        say(
            "\n".join(safe(line, len(line) + 1) for line in done.text.split("\n")) if sys.stdout.isatty() else done.text
        )
    else:
        say(f"✔ OK  {len(done.restored)} spans put back, {len(done.withheld)} withheld; written to {safe(out, 400)}")
    raise typer.Exit(EXIT_HOLDS if done.status is Status.OK else EXIT_FAILS)


@spans.command("check")
def check_command(
    receipt: Annotated[Path, typer.Argument(help="Signed receipt of an audit.")],
    *,
    snapshot_file: SnapshotFile = None,
    post: Annotated[Path | None, typer.Option(help="Text the receipt was issued for.")] = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Check a receipt: its signature, and with snapshot and text its verdicts as well."""
    keys = RecordedKeys(workspace or default_workspace()).keyring()
    taken = None if snapshot_file is None else snapshot_in(snapshot_file)
    text = None if post is None else text_in(post)
    checked = check_receipt(bytes_in(receipt), keys, now=utc_now(), snapshot=taken, post_text=text, watch=watched())
    if as_json:
        emit_json("spans", {"receipt": str(receipt), **checked.as_json()})
    else:
        say(f"{checked.result.value}  {safe(receipt, 400)}")
        for finding in checked.findings:
            say(f"  {finding.code.name}: {finding.code.sentence}")
            for label, value in (("claimed", finding.claimed), ("found", finding.found)):
                if value:
                    say(f"    {label} {safe(value)}")
        say("  does not prove: that a model obeys a rule that its text holds, nor who holds the key")
    raise typer.Exit(exit_code(checked.result))


def canonicaltext_in(taken: Snapshot) -> str:
    """Return a snapshot as it is stored: RFC 8785, so that equal snapshots are equal files."""
    return canonical(taken.as_json()).decode("utf-8")


def _audit_sessions(paths: Sequence[Path], pins: Path | None, *, as_json: bool) -> None:
    done, unread = audited_sessions(paths, held_pins(pins))
    if as_json:
        listed = [{"path": str(path), "reason": reason} for path, reason in unread]
        emit_json("spans", {"sessions": [session_json(each) for each in done], "not_read": listed})
    else:
        for session_audit in done:
            for line in session_lines(session_audit):
                say(line)
        for path, reason in unread:
            say(f"not read: {safe(path, 400)}: {safe(reason)}")
        say("  does not prove: that a rule kept is obeyed, that a rule not found by words is gone in meaning")
    audits = [each.audit for session_audit in done for each in session_audit.rounds if each.audit is not None]
    grey = any(not each.audit or each.bounded for session_audit in done for each in session_audit.rounds)
    raise typer.Exit(_code(audits, bounded=grey or bool(unread)))


def _code(audits: Sequence[Audit], *, bounded: bool) -> int:
    judged = [span.verdict for made in audits for span in made.spans]
    if any(verdict is not Verdict.PRESERVED for verdict in judged):
        return EXIT_FAILS
    return EXIT_CANNOT_LOOK if bounded or not judged else exit_code(Result.HOLDS)


def _sign(made: Audit, out: Path, workspace: Path, passphrase_file: Path | None, *, texts: bool) -> None:
    held = RecordedKeys(workspace)
    key = held.custody.signer(signer_passphrase(held, passphrase_file))
    if out.exists() and b"winnow-audit-receipt/" not in bytes_in(out):
        raise UsageError(
            "out_is_no_receipt", "expected a new file or an older receipt; nothing was written", where=str(out)
        )
    signed = make_receipt(made, Occasion(), key, now=utc_now(), texts=texts)
    atomic_write(out, canonical(signed) + b"\n")

"""What of old events may leave, and what would still be answerable?

Events come into the workspace's store from files; a plan is a dry run and writes nothing into it. Exit codes: 0 done,
or a plan without errors; 1 a plan that nobody may approve, or other bytes under a known id; 3 lines were refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.keys import PassphraseFile, passphrase_of
from engine.cli.opening import Workspace, default_workspace
from engine.cli.output import emit_json, findings_text, safe, say
from engine.cli.span_input import bytes_in, watched
from engine.cli.verify import Json
from engine.clock import format_time, utc_now
from engine.control.custody import RecordedKeys
from engine.control.ledger import Act, ControlLedger
from engine.errors import EXIT_CANNOT_LOOK, EXIT_FAILS, EXIT_HOLDS, CannotLookError, RefusedError, UsageError
from engine.husk.approve import Decision, Standings, decide, standings
from engine.husk.decisions import keep, kept
from engine.husk.ingest import Ingested, ingest_lines, ingest_session, looks_like_events
from engine.husk.kinds import EventKind
from engine.husk.plan import Asked, Outside, Scope
from engine.husk.plans import SavedPlan, drafting, list_plans, load_plan
from engine.husk.policy import Mode, policy_in, read_policy, save_policy
from engine.husk.rehearsal import plan as rehearsed
from engine.husk.store import NAME, HuskStore, Stored
from engine.lines.source import FileSource
from engine.load import InputKind, load_input
from engine.signing.envelope import read_statement
from engine.signing.keyfile import load_key
from engine.signing.keyring import Keyring
from engine.transcripts.reader import read_transcript

husk = typer.Typer(help="Take in events, and plan what of old ones may leave.", no_args_is_help=True)
KeyFile = Annotated[Path | None, typer.Option(help="Your own key file.")]
Actor = Annotated[str, typer.Option("--by", help="Who does it, for the record.")]
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_AGE = re.compile(r"(\d{1,9})([smhd])", re.ASCII)


@husk.command()
def ingest(
    files: Annotated[list[Path], typer.Argument(help="Events as JSON Lines, or session files of agents.")],
    *,
    by: Actor = "command line",
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Store events byte for byte; reading a file again stores nothing twice."""
    place = workspace or default_workspace()
    store = _opened(place)
    told: list[tuple[Path, Ingested]] = []
    for path in files:
        source = FileSource(path)
        if not looks_like_events(source) and load_input(source).kind is InputKind.TRANSCRIPT:
            made = ingest_session(store, read_transcript(source), now=utc_now(), watch=watched())
        else:
            made = ingest_lines(store, source, now=utc_now(), watch=watched())
        subject = {"file": path.name[:200], **{k: v for k, v in made.as_json().items() if k != "findings"}}
        ControlLedger(place).record(Act.INGEST, actor=by, subject=subject, now=utc_now())
        told.append((path, made))
    if as_json:
        emit_json("husk", {"files": [{"path": str(path), **made.as_json()} for path, made in told]})
    else:
        for path, made in told:
            _say_ingested(path, made)
    conflicts = any(made.outcomes[Stored.ID_CONFLICT.value] for _, made in told)
    grey = any(made.refused or made.quarantined or made.untimed for _, made in told)
    raise typer.Exit(EXIT_FAILS if conflicts else EXIT_CANNOT_LOOK if grey else EXIT_HOLDS)


def _say_ingested(path: Path, made: Ingested) -> None:
    counts = made.as_json()
    say(
        f"{safe(path, 400)}: {counts['stored']} stored, {counts['same']} known, {counts['conflicts']} with other bytes "
        f"under a known id, {made.refused} refused, {made.quarantined} of an unknown kind kept aside, "
        f"{made.untimed} without a time"
    )
    for line in findings_text(made.findings, made.refused + made.quarantined):
        say(line)


@husk.command()
def policy(
    ages: Annotated[list[str] | None, typer.Argument(help="Least age by kind, such as light_call=30d.")] = None,
    *,
    by: Actor = "command line",
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Show the policy, or save a new version with the ages given; a kind not named is never eligible."""
    place = workspace or default_workspace()
    store = HuskStore.open(_folder(place))
    if ages:
        with store.snapshot() as taken:
            now = policy_in(taken).as_json()
        saved = save_policy(store, read_policy({**now, "horizons": dict(map(_age, ages))}), by=by, now=utc_now())
        subject = {"version": saved.version, "digest": saved.digest()}
        ControlLedger(place).record(Act.POLICY, actor=by, subject=subject, now=utc_now())
    with store.snapshot() as taken:
        current = policy_in(taken)
    if as_json:
        emit_json("husk", {"version": current.version, "digest": current.digest(), "policy": current.as_json()})
        return
    say(f"policy version {current.version}  {current.digest()}")
    for kind, seconds in current.horizons.items():
        say(f"  {kind.value}: older than {seconds / 86400:g} days")
    if not current.horizons:
        say("  no kind is named, so nothing is eligible; give one: winnow husk policy light_call=30d")


def _age(word: str) -> tuple[str, int]:
    kind, _, age = word.partition("=")
    found = _AGE.fullmatch(age)
    if found is None:
        raise UsageError("AGE_UNREADABLE", "expected kind=age, such as light_call=30d", where=word[:80])
    return kind, int(found[1]) * _UNITS[found[2]]


@husk.command()
def plan(
    *,
    session: Annotated[list[str] | None, typer.Option(help="Only events of this session.")] = None,
    kind: Annotated[list[EventKind] | None, typer.Option(help="Only events of this kind.")] = None,
    mode: Annotated[Mode, typer.Option(help="What becomes of a payload.")] = Mode.ARCHIVE,
    by: Actor = "command line",
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Plan what would leave, event by event with reasons; a dry run that writes nothing into the store."""
    place = workspace or default_workspace()
    store = HuskStore.open(_folder(place))
    control = ControlLedger(place)
    rows = control.rows()
    asked = Asked(Scope(tuple(kind or ()), tuple(session or ())), mode, utc_now())
    outside = Outside(by, control_head=rows[-1].chain if rows else "")
    with store.snapshot() as taken, drafting(store.folder) as draft:
        saved = draft.save(rehearsed(taken, asked, outside, draft.sink, watch=watched()))
    subject = {"plan": saved.id, "digest": saved.plan.digest, "mode": mode.value}
    control.record(Act.PLAN, actor=by, subject=subject, now=utc_now())
    if as_json:
        emit_json("husk", {"plan": saved.id, "short": saved.plan.short, "body": dict(saved.plan.body)})
    else:
        _say_plan(saved)
    raise typer.Exit(EXIT_FAILS if saved.plan.errors() else EXIT_HOLDS)


def _say_plan(saved: SavedPlan) -> None:
    body = saved.plan.body
    totals = body["totals"]
    say(f"{saved.id}  {body['mode']}  {saved.plan.short}")
    for act, count in totals["events"].items():
        say(f"  {act}: {count} events, {totals['raw_bytes'].get(act, 0)} bytes")
    say(f"  would stay of what leaves: about {totals['husk_bytes_estimate']} bytes")
    for reason, count in totals["by_reason"].items():
        say(f"  {reason}: {count}")
    for each in body["consumers"]:
        say(
            f"  {each['name']} ({each['fidelity']}): {each['matched']} answer the same, {each['boundaries']} get a "
            f"method boundary, {each['mismatched']} differ, {each['untested']} untested"
        )
    for each in saved.plan.warnings():
        say(f"  {each['severity']} {each['code']}: {each['sentence']} ({each['count']})")
    say("  does not prove: that anybody agreed, nor anything about a store that has changed since")


@husk.command()
def status(*, workspace: Workspace = None, as_json: Json = False) -> None:
    """Show what the store holds and which plans lie beside it."""
    store = HuskStore.open(_folder(workspace or default_workspace()))
    with store.snapshot() as taken:
        kinds, newest, lineage = taken.kinds(), taken.watermark(), taken.lineage
    plans = list_plans(store.folder)
    if as_json:
        emit_json("husk", {"lineage": lineage, "events": newest, "kinds": kinds, "plans": list(plans)})
        return
    say(f"{lineage}: {newest} events, {len(plans)} plans ({format_time(utc_now())})")
    for name, count in kinds.items():
        say(f"  {safe(name)}: {count}")
    ring = _ring(workspace or default_workspace())
    for each in plans:
        standing = "" if ring is None else f"  {_standing(store, each, ring)}"
        say(f"  {each}{standing}")


def _ring(place: Path) -> Keyring | None:
    held = RecordedKeys(place)
    return held.keyring() if held.custody.exists() else None


def _standing(store: HuskStore, plan_id: str, ring: Keyring) -> str:
    made = standings(load_plan(store.folder, plan_id).plan, kept(store.folder, plan_id), ring, now=utc_now())
    return f"{made.standing.value}, {made.given} of {made.needed} approvals"


@husk.command()
def approve(
    plan_id: Annotated[str, typer.Argument(help="Name of the plan.")],
    *,
    code: Annotated[str, typer.Option(help="Short code of the plan, as shown.")] = "",
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    key: KeyFile = None,
    passphrase_file: PassphraseFile = None,
    envelope: Annotated[Path | None, typer.Option(help="Decision signed elsewhere, instead of a key.")] = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Approve exactly this plan with your own key, or hand in a decision that was signed elsewhere."""
    if (key is None) == (envelope is None):
        raise UsageError("APPROVE_BY_WHAT", "expected --key FILE or --envelope FILE, and not both")
    place = workspace or default_workspace()
    if envelope is None and key is not None:
        _decide(place, plan_id, Decision.APPROVE, (code, reason), (key, passphrase_file), as_json=as_json)
        return
    statement = read_statement(bytes_in(envelope)) if envelope is not None else None
    if statement is None:
        raise CannotLookError("NOT_A_STATEMENT", "the file is no signed decision", where=str(envelope))
    _hand_in(place, plan_id, statement, as_json=as_json)


@husk.command()
def reject(
    plan_id: Annotated[str, typer.Argument(help="Name of the plan.")],
    *,
    code: Annotated[str, typer.Option(help="Short code of the plan, as shown.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    key: Annotated[Path, typer.Option(help="Your own key file.")],
    passphrase_file: PassphraseFile = None,
    workspace: Workspace = None,
    as_json: Json = False,
) -> None:
    """Veto a plan: nobody can approve it any more."""
    place = workspace or default_workspace()
    _decide(place, plan_id, Decision.VETO, (code, reason), (key, passphrase_file), as_json=as_json)


def _decide(
    place: Path,
    plan_id: str,
    decision: Decision,
    said: tuple[str, str],
    signed_with: tuple[Path, Path | None],
    *,
    as_json: bool,
) -> None:
    store, (code, reason), (key, secret) = HuskStore.open(_folder(place)), said, signed_with
    saved = load_plan(store.folder, plan_id)
    signer = load_key(key, passphrase_of(key, secret))
    statement = decide(saved.plan, decision, signer, code=code, reason=reason, now=utc_now())
    _hand_in(place, plan_id, statement, as_json=as_json)


def _hand_in(place: Path, plan_id: str, statement: dict[str, Any], *, as_json: bool) -> None:
    """Judge a decision with those there are, keep it when it counts, and say where the plan stands."""
    store, ring = HuskStore.open(_folder(place)), RecordedKeys(place).keyring()
    plan = load_plan(store.folder, plan_id).plan
    before = kept(store.folder, plan_id)
    now = utc_now()
    known = standings(plan, before, ring, now=now)
    made = standings(plan, (*before, statement), ring, now=now)
    if len(made.counted) == len(known.counted):
        finding = made.refused[-1]
        message = finding.code.sentence[0].lower() + finding.code.sentence[1:].rstrip(".")
        raise RefusedError(finding.code.name, message, where=plan_id[:60], hint=finding.code.hint)
    keep(store.folder, plan_id, statement)
    last = next(each for each in made.counted if each not in known.counted)
    subject = {"plan": plan_id, "digest": plan.digest, "key_id": last.key_id, "nonce": last.nonce}
    act = Act.APPROVE if last.decision is Decision.APPROVE else Act.REJECT
    single = "single operator" if made.single_operator else "done"
    ControlLedger(place).record(act, actor=last.name, subject=subject, now=now, reason=last.reason, result=single)
    _say_standings(plan_id, made, as_json=as_json)


def _say_standings(plan_id: str, made: Standings, *, as_json: bool) -> None:
    if as_json:
        emit_json("husk", {"plan": plan_id, **made.as_json()})
        return
    alone = "  single operator: nobody else could have looked" if made.single_operator else ""
    say(f"{plan_id}: {made.standing.value}, {made.given} of {made.needed} approvals{alone}")
    for each in made.counted:
        say(f"  {each.decision.value} by {safe(each.name)}: {safe(each.reason)}")
    for finding in made.refused:
        say(f"  not counted: {finding.code.sentence}")


def _folder(workspace: Path) -> Path:
    return workspace / "husk"


def _opened(workspace: Path) -> HuskStore:
    folder = _folder(workspace)
    if (folder / NAME).exists():
        return HuskStore.open(folder)
    store = HuskStore.create(folder, now=utc_now())
    ControlLedger(workspace).record(Act.STORE_CREATE, actor="winnow", subject={"folder": "husk"}, now=utc_now())
    return store

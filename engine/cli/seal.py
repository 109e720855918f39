"""How does a compaction get its receipt?

Writes receipts onto a ledger: one for a before and an after, or one for each round of a session whose sides are known.
A receipt binds the content given here; it does not prove that this was all the content there was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.output import emit_json, safe, say
from engine.cli.verify import Json
from engine.errors import EXIT_CANNOT_LOOK, EXIT_HOLDS, CannotLookError, RefusedError, UsageError
from engine.findings import Result
from engine.ledger.codes import UNFINISHED_LAST_LINE
from engine.ledger.verify import verify_chain
from engine.lines.source import FileSource
from engine.receipts.seal import CompactionReceipt
from engine.receipts.sweep import sweep_receipts
from engine.storage.appending import is_own_torn_end
from engine.transcripts.content import read_content
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import CompactionRound, SideState, Transcript
from engine.transcripts.views import CANONICAL_ITEM, PLAIN_TEXT, RAW_MESSAGE, side_views

_FIRST_BYTES = b'{"schema": "arcaeon-compact:receipt:'
"""How every receipt begins."""
_BLOCK_BYTES = 1024 * 1024


class View(StrEnum):
    """In which form the items of a session are digested."""

    CANONICAL = CANONICAL_ITEM
    RAW = RAW_MESSAGE
    TEXT = PLAIN_TEXT


@dataclass(frozen=True, slots=True)
class Planned:
    """A receipt about to be sealed, or the reason why it is not."""

    round: int | None
    receipt: CompactionReceipt | None
    compactor: str
    method: str
    refusal: str = ""


def seal(
    *,
    ledger: Annotated[Path, typer.Option(help="Ledger to append to; made when it does not exist.")],
    pre: Annotated[Path | None, typer.Option(help="Content before the compaction.")] = None,
    post: Annotated[Path | None, typer.Option(help="Content after the compaction.")] = None,
    transcript: Annotated[Path | None, typer.Option(help="Session file; one receipt a round.")] = None,
    compactor: Annotated[str, typer.Option(help="Who compacted (a claim).")] = "",
    method: Annotated[str, typer.Option(help="How it was compacted (a claim).")] = "",
    view: Annotated[View, typer.Option(help="Form in which a session's items are digested.")] = View.CANONICAL,
    partial: Annotated[
        bool, typer.Option("--partial", help="Seal rounds with partial sides too; the receipt says so.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write receipts onto a ledger, for a before and an after or for each round of a session."""
    if transcript is not None and (pre or post):
        raise UsageError("seal_two_inputs", "expected --transcript, or --pre and --post, found both")
    if any(_is_same(given, ledger) for given in (transcript, pre, post) if given is not None):
        hint = "name another file with --ledger"
        raise UsageError("seal_onto_input", "expected a ledger that is no input", where=str(ledger), hint=hint)
    known = _known(ledger)
    if transcript is not None:
        session = read_transcript(FileSource(transcript))
        planned = list(_rounds(session, view, compactor, method, partial=partial))
    else:
        planned = [_pair(pre, post, compactor, method)]
    outcomes = [_seal(each, ledger, known) for each in planned]
    if as_json:
        emit_json("seal", {"ledger": str(ledger), "receipts": outcomes})
    else:
        _print(ledger, outcomes)
    whole = bool(outcomes) and all(outcome["outcome"] != "refused" for outcome in outcomes)
    raise typer.Exit(EXIT_HOLDS if whole else EXIT_CANNOT_LOOK)


def _is_same(given: Path, ledger: Path) -> bool:
    try:
        return given.samefile(ledger)
    except OSError:
        # One of the two cannot be reached: whoever reads or makes it says so.
        return False


def _known(ledger: Path) -> set[str]:
    """Return the digests of the receipts that stand on the ledger; refuses to write behind a broken chain.

    A file without a chained row is only written to when it is blank or holds the beginning of a first receipt, cut off
    while it was written: a session or content file given as --ledger by mistake stays as it is.
    """
    if not ledger.exists():
        return set()
    source = FileSource(ledger)
    report = verify_chain(source)
    hint = "look with winnow verify, and seal onto a new ledger; nothing was written"
    if report.result is Result.FAILS:
        message = f"expected an intact ledger, found {report.breaks_total} break(s), scope {report.scope}"
        raise RefusedError("ledger_not_intact", message, where=str(ledger), hint=hint)
    if report.result is Result.COULD_NOT_LOOK and (report.reference.rows or not _is_fresh(source)):
        message = f"expected an intact ledger, found one that cannot be checked, scope {report.scope}"
        raise CannotLookError("ledger_not_checked", message, where=str(ledger), hint=hint)
    unfinished = any(finding.code is UNFINISHED_LAST_LINE for finding in report.findings)
    if unfinished and report.reference.rows and not is_own_torn_end(ledger):
        # A row behind it would make a break of a line that its writer may still finish.
        message = "expected a finished last line, found one that may still be being written"
        raise CannotLookError("ledger_unfinished", message, where=str(ledger), hint=hint)
    return {summary.receipt_digest for summary in sweep_receipts(FileSource(ledger))}


def _is_fresh(source: FileSource) -> bool:
    with source.open() as stream:
        head = stream.read(len(_FIRST_BYTES))
        blank = not head.strip() and not any(block.strip() for block in iter(lambda: stream.read(_BLOCK_BYTES), b""))
    return blank or _FIRST_BYTES.startswith(head)


def _pair(pre: Path | None, post: Path | None, compactor: str, method: str) -> Planned:
    if pre is None or post is None:
        raise UsageError(
            "seal_without_input",
            "expected --transcript, or both --pre and --post",
            hint="winnow seal --pre before.json --post after.json --ledger receipts.jsonl",
        )
    receipt = CompactionReceipt.open(read_content(FileSource(pre)).items)
    receipt.record_kept(read_content(FileSource(post)).items)
    return Planned(None, receipt, compactor or "unnamed", method or "unnamed")


def _rounds(session: Transcript, view: View, compactor: str, method: str, *, partial: bool) -> Iterator[Planned]:
    for each in session.rounds:
        labels = (compactor or session.format, method or each.claimed.method or each.kind.value)
        refusal, states = _refusal(each, partial=partial), _states(each)
        before, after = side_views(session, each.pre), side_views(session, each.post)
        if not refusal and (view not in before or view not in after):
            refusal = f"the {view.value} form of this round cannot be digested"
        if refusal:
            yield Planned(each.index, None, *labels, refusal)
        else:
            receipt = CompactionReceipt.open(before[view]).record_kept(after[view])
            yield Planned(each.index, receipt, labels[0], f"{labels[1]} ({view.value}{states})")


def _refusal(each: CompactionRound, *, partial: bool) -> str:
    allowed = {SideState.EXACT, SideState.PARTIAL} if partial else {SideState.EXACT}
    for name, side in (("before", each.pre), ("after", each.post)):
        if side.state not in allowed:
            why = "; ".join(reason.sentence for reason in side.reasons)
            hint = " (--partial seals it all the same)" if side.state is SideState.PARTIAL else ""
            return f"the side {name} is {side.state.value}: {why or 'no reason recorded'}{hint}"
    return ""


def _states(each: CompactionRound) -> str:
    """Write what is not exact into the receipt's own words: a receipt must not claim more than was known."""
    named = (("before", each.pre), ("after", each.post))
    return "".join(
        f"; {name} {side.state.value}: {', '.join(reason.value for reason in side.reasons)}"
        for name, side in named
        if side.state is not SideState.EXACT
    )


def _seal(planned: Planned, ledger: Path, known: set[str]) -> dict[str, Any]:
    answer: dict[str, Any] = {"round": planned.round, "outcome": "refused", "reason": planned.refusal}
    if planned.receipt is None:
        return answer
    row = planned.receipt.row(compactor=planned.compactor, method=planned.method)
    if row["receipt_digest"] in known:
        return {**answer, "outcome": "already_there", "receipt_digest": row["receipt_digest"]}
    sealed = planned.receipt.seal(ledger, compactor=planned.compactor, method=planned.method)
    known.add(sealed["receipt_digest"])
    return {**answer, "outcome": "stored", "receipt_digest": sealed["receipt_digest"], "row": sealed}


def _print(ledger: Path, outcomes: list[dict[str, Any]]) -> None:
    say(safe(ledger, 400))
    for outcome in outcomes:
        name = "receipt" if outcome["round"] is None else f"round {outcome['round']}"
        match outcome["outcome"]:
            case "stored":
                row = outcome["row"]
                counts = f"{row['pre']['count']} → {row['post']['count']} items, {row['dropped']['count']} dropped"
                say(f"  {name}: stored, {counts} ({row['dropped']['bytes']} bytes), chain {row['chain']}")
            case "already_there":
                say(f"  {name}: already on this ledger, nothing written")
            case _:
                say(f"  {name}: not sealed, {safe(outcome['reason'], 400)}")
    if not outcomes:
        say("  no compaction is recorded in this file; nothing was written")
    say("  does not prove: that the content given was all there was, nor that what was dropped was unimportant")

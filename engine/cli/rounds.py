"""Which compactions does a session record, and what did each drop?

Lists the rounds of a transcript as its format records them; it invents none. What the tool claims stands apart from
what is recomputed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.output import emit_json, findings_text, safe, say
from engine.cli.progress import progress_line
from engine.cli.verify import Json
from engine.digests import whole_digest
from engine.errors import EXIT_CANNOT_LOOK, EXIT_HOLDS, UsageError
from engine.lines.source import FileSource
from engine.transcripts.item import ContextItem
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import CompactionRound, Side, SideState, Transcript, round_difference


def rounds(
    transcript: Annotated[Path, typer.Argument(help="Session file of an agent.")],
    *,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Name the format instead of recognising it.")
    ] = None,
    number: Annotated[
        int | None, typer.Option("--round", min=1, help="Show this round only, with the text of its items.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the compaction rounds of a session, with what each dropped, kept and introduced."""
    session = read_transcript(FileSource(transcript), format=format_name, on_progress=progress_line())
    if number is not None:
        session = _only(session, number, transcript)
    listed = [round_json(session, each) for each in session.rounds]
    if number is not None:
        listed[0]["items"] = items_json(session, session.rounds[0])
    if as_json:
        body = {"format": session.format, "session": session.session, "rounds": listed}
        emit_json("rounds", {**body, "notices": [notice.as_json() for notice in session.notices]})
    else:
        _print(session, listed)
    exact = all(each.pre.state is SideState.EXACT and each.post.state is SideState.EXACT for each in session.rounds)
    raise typer.Exit(EXIT_HOLDS if exact and session.rounds else EXIT_CANNOT_LOOK)


def _only(session: Transcript, number: int, path: Path) -> Transcript:
    chosen = tuple(each for each in session.rounds if each.index == number)
    if not chosen:
        raise UsageError(
            "no_such_round",
            f"expected a round from 1 to {len(session.rounds)}, found --round {number}",
            where=str(path),
            hint="leave --round out to list them",
        )
    return replace(session, rounds=chosen)


def items_json(session: Transcript, each: CompactionRound) -> dict[str, Any]:
    """Return the items of one round with their text, by what became of them (a rewritten one stands in two lists)."""
    found = round_difference(session, each)
    lists = {"dropped": found.dropped, "introduced": found.introduced, "kept": found.kept}
    return {name: [_item_json(item) for item in items] for name, items in lists.items()}


def _item_json(item: ContextItem) -> dict[str, Any]:
    return {
        "role": item.role.value,
        "kind": item.kind.value,
        "digest": item.digest,
        "bytes": item.size,
        "line": item.place.line,
        "text": item.text,
    }


def side_json(session: Transcript, side: Side) -> dict[str, Any]:
    """Return count, bytes, digest, state and reasons of one side (canonical items)."""
    items = session.side_items(side)
    return {
        "count": len(items),
        "bytes": sum(item.size for item in items),
        "digest": whole_digest(item.digest for item in items),
        "state": side.state.value,
        "reasons": [reason.value for reason in side.reasons],
    }


def round_json(session: Transcript, each: CompactionRound) -> dict[str, Any]:
    """Return the stable machine form of one round."""
    found = round_difference(session, each)
    claimed = each.claimed
    return {
        "index": each.index,
        "kind": each.kind.value,
        "line": each.line,
        "pre": side_json(session, each.pre),
        "post": side_json(session, each.post),
        "kept": len(found.kept),
        "dropped": len(found.dropped),
        "introduced": len(found.introduced),
        "rewritten": len(found.rewritten),
        "claimed": {name: getattr(claimed, name) for name in type(claimed).__slots__},
    }


def _print(session: Transcript, listed: list[dict[str, Any]]) -> None:
    say(f"format {session.format}  session {safe(session.session or '-')}  rounds {len(listed)}")
    for each in listed:
        pre, post = each["pre"], each["post"]
        say(
            f"  round {each['index']}  {each['kind']}  line {each['line'] or '-'}  "
            f"{pre['count']} items ({pre['state']}) → {post['count']} items ({post['state']})  "
            f"dropped {each['dropped']}  kept {each['kept']}  introduced {each['introduced']}"
            f"  rewritten {each['rewritten']}"
        )
        for name, items in each.get("items", {}).items():
            for item in items if name != "kept" else ():
                text = safe(item["text"].replace("\n", " ⏎ ") or "(no readable text)")
                say(f"    {name}, line {item['line']}, {item['role']} {item['kind']}: {text}")
    for compaction in session.rounds:
        for reason in dict.fromkeys((*compaction.pre.reasons, *compaction.post.reasons)):
            say(f"  round {compaction.index}: {reason.sentence}")
    for line in findings_text((*session.notices, *session.failed_attempts)):
        say(line)
    if not listed:
        say("  no compaction is recorded in this file; nothing is known of what was dropped")

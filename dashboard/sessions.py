"""How do the rounds of a session become numbers, frames and markup?

Pure. What the tool claims stands beside what was recomputed; a side that is not exact says why. Numbers over a side
that is not exact count only what is visible there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from dashboard import html, visible
from dashboard.theme import Tone, Verdict
from engine.digests import whole_digest
from engine.transcripts.item import ContextItem
from engine.transcripts.rounds import CompactionRound, RoundKind, Side, SideState, Transcript, round_difference

SIDE_VERDICTS = {
    SideState.EXACT: Verdict("EXACT", Tone.GOOD, "rebuilt from the file by the tool's own rules"),
    SideState.PARTIAL: Verdict("PARTIAL", Tone.BOUNDED, "part of this side is not in the file"),
    SideState.OPAQUE: Verdict("OPAQUE", Tone.UNKNOWN, "this side is in the file but cannot be read"),
    SideState.ABSENT: Verdict("ABSENT", Tone.UNKNOWN, "this side is not in the file"),
}
KIND_WORDS = {
    RoundKind.SUMMARY: "summary",
    RoundKind.TRUNCATE: "truncated",
    RoundKind.TOOL_CLEAR: "tool results cleared",
    RoundKind.HISTORY_REPLACEMENT: "history replaced",
}


@dataclass(frozen=True, slots=True)
class RoundNumbers:
    """One round in numbers; bytes are those of the canonical items."""

    index: int
    kind: RoundKind
    line: int | None
    before: tuple[int, int]
    before_state: SideState
    after: tuple[int, int]
    after_state: SideState
    dropped: int
    dropped_bytes: int
    kept: int
    introduced: int
    rewritten: int
    tokens: tuple[int | None, int | None]


def numbers(transcript: Transcript, compaction: CompactionRound) -> RoundNumbers:
    """Count one round."""
    found = round_difference(transcript, compaction)
    return RoundNumbers(
        compaction.index,
        compaction.kind,
        compaction.line,
        _extent(transcript, compaction.pre),
        compaction.pre.state,
        _extent(transcript, compaction.post),
        compaction.post.state,
        len(found.dropped),
        sum(item.size for item in found.dropped),
        len(found.kept),
        len(found.introduced),
        len(found.rewritten),
        (compaction.claimed.tokens_before, compaction.claimed.tokens_after),
    )


def _extent(transcript: Transcript, side: Side) -> tuple[int, int]:
    return len(side.keys), sum(item.size for item in transcript.side_items(side))


def rounds_frame(rounds: Sequence[RoundNumbers]) -> pd.DataFrame:
    """Return one page of rounds."""
    made = [
        (
            each.index,
            KIND_WORDS[each.kind],
            each.before[0],
            each.after[0],
            each.dropped,
            visible.size(each.dropped_bytes),
            each.kept,
            each.introduced,
            each.rewritten,
            _states(each.before_state, each.after_state),
            _tokens(each.tokens),
            each.line,
        )
        for each in rounds
    ]
    columns = ["ROUND", "KIND", "BEFORE", "AFTER", "DROPPED", "BYTES", "KEPT", "INTRODUCED", "REWRITTEN", "SIDES"]
    frame = pd.DataFrame(made, columns=[*columns, "TOKENS CLAIMED", "LINE"])
    return frame.astype({"LINE": "Int64"})


def _states(before: SideState, after: SideState) -> str:
    if before is after:
        return f"{SIDE_VERDICTS[before].text}, both"
    return f"{SIDE_VERDICTS[before].text}, {SIDE_VERDICTS[after].text}"


def _tokens(tokens: tuple[int | None, int | None]) -> str:
    if tokens == (None, None):
        return ""
    before, after = ("?" if each is None else f"{each:,}" for each in tokens)
    return f"{before} → {after}"


def sessions_frame(names: Sequence[str], transcripts: Sequence[Transcript]) -> pd.DataFrame:
    """Return one line a session."""
    made = [
        (
            visible.one_line(name, 80),
            each.format,
            visible.one_line(each.session or "", 40),
            len(each.rounds),
            sum(1 for r in each.rounds if r.pre.state is SideState.EXACT and r.post.state is SideState.EXACT),
            len(each.items),
            len(each.failed_attempts),
            len(each.notices),
        )
        for name, each in zip(names, transcripts, strict=True)
    ]
    columns = ["FILE", "FORMAT", "SESSION", "ROUNDS", "BOTH SIDES EXACT", "ITEMS", "FAILED ATTEMPTS", "NOTICES"]
    return pd.DataFrame(made, columns=columns)


def side_card(name: str, transcript: Transcript, side: Side) -> Markup:
    """Return one side of a round: state, why, count, bytes, digest."""
    items = transcript.side_items(side)
    verdict = SIDE_VERDICTS[side.state]
    reasons = Markup().join(Markup("<li>{}</li>").format(reason.sentence) for reason in side.reasons)
    why = Markup("<ul>{}</ul>").format(reasons) if reasons else Markup()
    digest = html.code(whole_digest(item.digest for item in items)) if items else Markup("none")
    return Markup(
        '<div class="wn-card wn-edge-{}"><span class="wn-eyebrow">{}</span>{}<span class="wn-basis">{}{}</span>'
        '<span>{}</span><span class="wn-basis">{}</span></div>'
    ).format(
        verdict.tone.value,
        name,
        html.badge(verdict),
        verdict.meaning,
        why,
        f"{visible.plural(len(items), 'item')}, {visible.size(sum(item.size for item in items))}",
        digest,
    )


def claims(compaction: CompactionRound) -> list[tuple[str, str]]:
    """Return what the tool says about a round; nothing in it was checked."""
    claimed = compaction.claimed
    said = [
        ("Kind", KIND_WORDS[compaction.kind]),
        ("Recorded at line", "" if compaction.line is None else f"{compaction.line:,}"),
        ("Trigger, claimed", claimed.trigger or ""),
        ("Method, claimed", claimed.method or ""),
        ("Model, claimed", claimed.model or ""),
        ("Tokens, claimed", _tokens((claimed.tokens_before, claimed.tokens_after))),
        ("Started, claimed", claimed.started or ""),
        ("Ended, claimed", claimed.ended or ""),
    ]
    return [(name, value or "not recorded") for name, value in said]


def heading(item: ContextItem) -> str:
    """Return the line over an item: who, what, where."""
    marks = ", ".join(sorted(flag.value.replace("_", " ") for flag in item.flags))
    kind = item.kind.value.replace("_", " ")
    return f"{item.role.value} · {kind} · line {item.place.line:,}" + (f" · {marks}" if marks else "")


def body(item: ContextItem) -> str:
    """Return the text of an item, or its canonical bytes when it has none."""
    return item.text or item.canonical.decode("utf-8", "replace")

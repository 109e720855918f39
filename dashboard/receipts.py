"""How does one checked receipt become words, rows and markup?

Pure: takes what the engine found out and puts claimed beside recomputed; it judges nothing itself. What is not held is
said to be not held, never left empty.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

import numpy as np
from markupsafe import Markup

from dashboard import html, visible
from dashboard.theme import BOUNDED, FAILS, HOLDS, NOT_CHECKED, RESULTS, Tone, Verdict
from engine.findings import Result
from engine.ledger.index.layout import EquationState, LedgerIndex
from engine.ledger.index.states import BROKEN, DECLARED, LINKED, NOT_LISTED, NOT_LOOKED_AT, OUTSIDE
from engine.load import Input
from engine.receipts.candidates import Candidate, SideName
from engine.receipts.continuity import Continuity, RoundLink
from engine.receipts.equation import Equation
from engine.receipts.link import FoundBy, Link
from engine.receipts.recompute import ContentComparison
from engine.receipts.schema import Claim
from engine.receipts.verify import ReceiptReport
from engine.receipts.words import ReceiptWord, sentence_of, word_of
from engine.transcripts.rounds import Transcript

NOT_HELD = "not held"

PROVES = {
    ReceiptWord.VERIFIED: "the content held is the content claimed, and what is missing afterwards is what was named",
    ReceiptWord.ONE_SIDE: "the side that is held is the side that was claimed",
    ReceiptWord.SELF_CONSISTENT: "these digests were claimed when the receipt was sealed, and the claim is unaltered",
    ReceiptWord.MISMATCH: "the content held is not what this receipt says it was",
    ReceiptWord.INCONSISTENT: "this row cannot be what an honest compactor sealed",
    ReceiptWord.MALFORMED: "nothing: this row cannot be read as a receipt",
    ReceiptWord.AMBIGUOUS: "nothing: this row says two different things to two readers",
    ReceiptWord.NOT_CHECKED: "nothing: this row could not be looked at",
}
DOES_NOT_PROVE = "that the input of the compaction was complete, nor that dropping was wise"
NOT_RECOMPUTED = "anything about the content: nothing was recomputed, and a careful lie agrees with itself too"


def rounds_words(rounds: Mapping[int, RoundLink]) -> str:
    """Say how many receipts of a ledger begin where an earlier one ended."""
    counts = Counter(link.continuity for link in rounds.values())
    if not counts:
        return "no receipts"
    return (
        f"{counts[Continuity.CONTINUES]:,} of {len(rounds):,} begin where an earlier one ended, "
        f"{counts[Continuity.GAP]:,} do not"
    )


def round_words(link: RoundLink | None) -> str:
    """Say how one receipt stands to the earlier ones."""
    match link:
        case None:
            return "not followed"
        case RoundLink(continuity=Continuity.START):
            return "the first of its session or compactor"
        case RoundLink(continuity=Continuity.CONTINUES):
            return f"begins exactly where line {link.previous:,} ended"
        case _:
            return f"content came or went since line {link.previous:,}"


def own_verdict(alone: ReceiptReport) -> Verdict:
    """Return the verdict on the question whether a receipt agrees with itself, from its check without content."""
    match alone.result:
        case Result.FAILS:
            return FAILS
        case Result.COULD_NOT_LOOK:
            return RESULTS[Result.COULD_NOT_LOOK]
        case Result.BOUNDED | Result.HOLDS:
            return BOUNDED if alone.claim is not None and alone.claim.lower_bound_only else HOLDS
        case _:
            assert_never(alone.result)


def content_trust(link: Link | None) -> html.Trust:
    """Return the badge of the question whether the content agrees."""
    if link is None:
        return html.Trust("Content", NOT_CHECKED, "no content that is open here has the digests this receipt claims")
    if link.report.result is Result.HOLDS and not link.whole:
        return html.Trust("Content", BOUNDED, "it agrees, but the session does not hold the whole of both sides")
    return html.Trust("Content", RESULTS[link.result], sentence_of(link.report))


_ROW_CHAIN = {
    LINKED: Verdict("LINKED", Tone.GOOD),
    BROKEN: Verdict("BROKEN", Tone.BAD),
    DECLARED: Verdict("DECLARED BREAK", Tone.BOUNDED),
    OUTSIDE: Verdict("OUTSIDE THE CHAIN", Tone.UNKNOWN),
    NOT_LOOKED_AT: Verdict("NOT LOOKED AT", Tone.UNKNOWN),
    NOT_LISTED: Verdict("NOT LISTED", Tone.UNKNOWN),
}


def chain_trust(row_state: str, ledger_words: str) -> html.Trust:
    """Return the badge of the question whether a row is linked to the one before it."""
    return html.Trust("Chain", _ROW_CHAIN.get(row_state, NOT_CHECKED), f"this row; the whole ledger: {ledger_words}")


def own_digest(report: ReceiptReport) -> str:
    """Return the digest a receipt claims for itself, or nothing."""
    found = None if report.claim is None else report.claim.row.get("receipt_digest")
    return found if isinstance(found, str) else ""


def neighbours(index: LedgerIndex, line: int) -> tuple[int | None, int | None]:
    """Return the lines of the receipts before and after a line."""
    lines = index.columns["line"][index.columns["equation"] != EquationState.NO_RECEIPT]
    before, after = int(np.searchsorted(lines, line, "left")), int(np.searchsorted(lines, line, "right"))
    return (
        int(lines[before - 1]) if before else None,
        int(lines[after]) if after < len(lines) else None,
    )


def scope_of(report: ReceiptReport) -> tuple[str, str]:
    """Return what a report proves and what it does not, one sentence each."""
    word = word_of(report)
    return PROVES[word], DOES_NOT_PROVE if report.comparison is not None else NOT_RECOMPUTED


def equation(line: Equation) -> Markup:
    """Return the arithmetic of a receipt: before, dropped, introduced, after, each with its name beneath."""
    signs = {(True, True): "=", (True, False): "≠", (False, True): "≤", (False, False): ">"}
    introduced = "not recorded" if line.introduced is None else f"{line.introduced:,}"
    terms: tuple[Markup, ...] = (
        _term(f"{line.before:,}", "before"),
        Markup("<span>&minus;</span>"),
        _term(f"{line.dropped:,}", "dropped"),
        Markup("<span>+</span>"),
        _term(introduced, "introduced"),
        Markup("<span>{}</span>").format(signs[line.exact, line.holds]),
        _term(f"{line.after:,}", "after"),
        Markup('<span class="wn-muted">{}</span>').format(line.unit),
        html.glyph((Tone.GOOD if line.exact else Tone.BOUNDED) if line.holds else Tone.BAD),
    )
    return Markup('<div class="wn-equation">{}</div>').format(Markup().join(terms))


def _term(number: str, name: str) -> Markup:
    return Markup("<span><b>{}</b><small>{}</small></span>").format(number, name)


def claimed_and_recomputed(claim: Claim, found: ContentComparison | None) -> list[tuple[Markup | str, ...]]:
    """Return one row a number: name, claimed, recomputed, and whether they agree."""
    rows: list[tuple[Markup | str, ...]] = []
    for name, side, held in (
        ("before", claim.pre, None if found is None else found.pre),
        ("after", claim.post, None if found is None else found.post),
    ):
        rows.append(_compared(f"items {name}", side.count, None if held is None else held.count))
        rows.append(_compared(f"bytes {name}", side.size, None if held is None else held.size))
        rows.append(_compared(f"digest {name}", side.digest, None if held is None else held.digest))
    full = found if found is not None and found.full else None
    rows.append(_compared("items dropped", claim.dropped_count, None if full is None else len(full.dropped)))
    rows.append(_compared("bytes dropped", claim.dropped_size, None if full is None else full.dropped_size))
    rows.append(_compared("items introduced", claim.introduced_count, None if full is None else len(full.introduced)))
    rows.append(_compared("bytes introduced", claim.introduced_size, None if full is None else full.introduced_size))
    return rows


def _compared(name: str, claimed: Any, recomputed: Any) -> tuple[Markup | str, ...]:
    told = Markup('<span class="wn-muted">not recorded</span>') if claimed is None else _number(claimed)
    if recomputed is None or claimed is None:
        there = (
            Markup('<span class="wn-muted">{}</span>').format(NOT_HELD) if recomputed is None else _number(recomputed)
        )
        return (name, told, there, html.badge(NOT_CHECKED))
    agree = claimed == recomputed
    verdict = Verdict("agrees", Tone.GOOD) if agree else Verdict("differs", Tone.BAD)
    return (name, told, _number(recomputed), html.badge(verdict))


def _number(value: Any) -> Markup:
    if isinstance(value, bool) or not isinstance(value, int):
        return html.code(str(value))
    return Markup("<span>{}</span>").format(f"{value:,}")


def manifest_rows(claim: Claim, first: int, limit: int) -> Iterator[tuple[Markup | str, ...]]:
    """Yield a page of the manifest: position and digest; the text is not in a receipt."""
    for position, digest in enumerate(claim.manifest.digests[first : first + limit], first + 1):
        yield (f"{position:,}", html.code(str(digest)))


def where_found(side: Candidate | None, by: FoundBy) -> str:
    """Say which content was taken for a side, and why."""
    match by:
        case FoundBy.NOTHING:
            return "no content found"
        case FoundBy.EMPTY:
            return "the receipt claims no items on this side"
        case FoundBy.DIGEST | FoundBy.ROUND:
            pass
        case _:
            assert_never(by)
    if side is None:
        return "no content found"
    place = side.source.rsplit("/", 1)[-1]
    if side.side is not SideName.CONTENT:
        place += f", round {side.round_index}, {side.side.value}"
    how = (
        "by its digest"
        if by is FoundBy.DIGEST
        else "as the other side of that round; its digest is not the claimed one"
    )
    return f"{place}: found {how} ({side.view}, {side.state.value})"


def command(ledger: str, line: int, link: Link | None, sessions: Sequence[tuple[Input, Transcript]]) -> str:
    """Return the command line that gives the same answer."""
    parts = ["winnow", "check", ledger, "--line", str(line)]
    options: list[tuple[str, str]] = []
    for side in () if link is None else (link.pre, link.post):
        if side is None:
            continue
        if side.side is SideName.CONTENT:
            options.append(("--content", side.source))
            continue
        sources = sessions[side.order][1].sources
        if len(sources) == 1:
            options.append(("--transcript", sources[0].name))
        else:  # a pair of content files
            options += [("--pre", sources[0].name), ("--post", sources[1].name)]
    for option, value in dict.fromkeys(options):
        parts += [option, value]
    return shlex.join(parts)


def drop_note(digest: str, found: ContentComparison) -> Verdict | None:
    """Return what the manifest leaves out about a dropped item, or None when it names it."""
    if found.manifest is not None and digest in found.manifest.unclaimed.digests:
        return Verdict("NOT IN THE MANIFEST", Tone.BAD)
    return None


def reference_words(report: ReceiptReport) -> list[tuple[str, str]]:
    """Return the reference verifier's own fields as text."""
    return [(name, json.dumps(value)) for name, value in report.reference.items()]


def size_words(count: int, size: int) -> str:
    """Return a number of items with their bytes."""
    return f"{visible.plural(count, 'item')}, {visible.size(size)}"

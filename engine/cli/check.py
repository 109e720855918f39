"""Does a receipt tell the truth?

Checks the receipts of one ledger against themselves and, where content is given, against the content. The chain is
another question (`winnow verify`); a receipt without content is never called verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.output import emit_json, findings_text, headline, safe, say
from engine.cli.progress import progress_line
from engine.cli.verify import Json
from engine.errors import UsageError
from engine.findings import Finding, Progress, Result, exit_code, worst
from engine.ledger.verify import DEFAULT_LIMITS
from engine.lines.reader import Line, read_lines
from engine.lines.source import FileSource
from engine.lines.strict import Parsed, parse_exact
from engine.receipts.ambiguity import verify_receipt_line
from engine.receipts.candidates import Candidate, ContentIndex, HeldContent
from engine.receipts.continuity import Continuity, RoundFollower, RoundLink
from engine.receipts.link import HeldReceipt, iterate_links
from engine.receipts.recompute import HeldItem
from engine.receipts.schema import is_receipt_row
from engine.receipts.summary import summarise
from engine.receipts.verify import ReceiptReport
from engine.receipts.words import sentence_of
from engine.transcripts.content import read_content
from engine.transcripts.reader import read_transcript

ITEMS_SHOWN = 50
"""Dropped items given with their text in one receipt's answer; counts are never cut."""
TEXT_SHOWN = 2000
RECEIPTS_PRINTED = 200
"""Receipts printed in full; the rest is counted (`--json` has them all)."""


@dataclass(frozen=True, slots=True)
class Given:
    """The content to hold against receipts: two named sides, or an index to find sides in by digest."""

    pre: Sequence[Any] | None
    post: Sequence[Any] | None
    index: ContentIndex

    @property
    def by_name(self) -> bool:
        """Tell whether the user named the sides."""
        return self.pre is not None or self.post is not None


@dataclass(frozen=True, slots=True)
class Checked:
    """One receipt, its report, and where its content was found ("" when none was).

    `whole` is false when a session that was linked does not hold the whole of a side.
    """

    line: int
    report: ReceiptReport
    pre_from: str = ""
    post_from: str = ""
    whole: bool = True

    @property
    def result(self) -> Result:
        """Return the report's result, BOUNDED at best when the content is known in part only."""
        return self.report.result if self.whole else worst([self.report.result, Result.BOUNDED])

    @property
    def words(self) -> str:
        """Return the report's sentence and what bounds it."""
        return sentence_of(self.report) + ("" if self.whole else "; the session does not hold the whole of both sides")


def check(
    ledger: Annotated[Path, typer.Argument(help="Ledger file with receipts.")],
    *,
    line: Annotated[int | None, typer.Option(min=1, help="Check the receipt at this line only.")] = None,
    pre: Annotated[Path | None, typer.Option(help="Content before the compaction.")] = None,
    post: Annotated[Path | None, typer.Option(help="Content after the compaction.")] = None,
    content: Annotated[list[Path] | None, typer.Option(help="Content file; its receipt is found by digest.")] = None,
    transcript: Annotated[
        list[Path] | None, typer.Option(help="Session file; its rounds' receipts are found by digest.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check receipts against themselves and against the content given."""
    given = _given(pre, post, content or [], transcript or [])
    answer = _Answer(ledger, as_json=as_json)
    for number, (each, parsed) in enumerate(_receipt_lines(ledger, line)):
        if given.by_name and number:
            raise UsageError(
                "several_receipts",
                "expected one receipt for --pre and --post, found several",
                where=str(ledger),
                hint="choose one with --line, or give the files with --content to have them found by digest",
            )
        if parsed.problem is not None and line is None:
            answer.not_read(Finding(parsed.problem, each.number))
        else:
            answer.take(_check(ledger, each, parsed, given))
    answer.end()
    raise typer.Exit(exit_code(answer.result))


class _Answer:
    """Prints or collects one receipt after another, so that a big ledger is not held."""

    def __init__(self, ledger: Path, *, as_json: bool) -> None:
        self._ledger = ledger
        self._as_json = as_json
        self._counts: Counter[Result] = Counter()
        self._listed: list[dict[str, Any]] = []
        self._unread: list[Finding] = []
        self._follower = RoundFollower()
        self._rounds: Counter[Continuity] = Counter()

    @property
    def result(self) -> Result:
        """Return the worst of all receipts; a line that could not be read is never a pass."""
        return worst([*self._counts, *([Result.COULD_NOT_LOOK] if self._unread else [])])

    def take(self, checked: Checked) -> None:
        """Take a checked receipt."""
        self._counts[checked.result] += 1
        place = self._place(checked)
        if self._as_json:
            self._listed.append({**receipt_json(checked), "continuity": continuity_json(place)})
        elif self._counts.total() <= RECEIPTS_PRINTED or checked.result is Result.FAILS:
            _print(checked)

    def _place(self, checked: Checked) -> RoundLink | None:
        claim = checked.report.claim
        if claim is None:
            return None
        place = self._follower.place(summarise(checked.report, claim.row, line=checked.line, offset=0, length=0))
        if place is not None:
            self._rounds[place.continuity] += 1
        return place

    def not_read(self, finding: Finding) -> None:
        """Take a line that could not be read as a row."""
        self._unread.append(finding)

    def end(self) -> None:
        """Finish the answer."""
        if self._as_json:
            body = {"ledger": str(self._ledger), "result": self.result.value, "receipts": self._listed}
            emit_json("check", {**body, "not_read": [finding.as_json() for finding in self._unread]})
            return
        total = self._counts.total()
        if total > RECEIPTS_PRINTED:
            say(
                f"of {total} receipts the first {RECEIPTS_PRINTED} and the failing ones are shown (--json has them all)"
            )
        words = [f"{count} {result.value.replace('_', ' ')}" for result, count in self._counts.items()]
        noun = "receipt" if total == 1 else "receipts"
        say(f"{safe(self._ledger, 400)}: {total} {noun}" + (": " + ", ".join(words) if words else ""))
        for text in findings_text(self._unread):
            say(text)
        if total > 1:
            begun, gaps = self._rounds[Continuity.CONTINUES], self._rounds[Continuity.GAP]
            say(f"  rounds: {begun} begin where an earlier one ended, {gaps} do not (content came or went in between)")
        say("  does not prove: that dropping was wise, that the content before was complete, that the chain is intact")


def _given(pre: Path | None, post: Path | None, contents: Sequence[Path], transcripts: Sequence[Path]) -> Given:
    if (pre or post) and (contents or transcripts):
        raise UsageError(
            "content_given_twice",
            "expected --pre and --post, or --content and --transcript, found both",
            hint="name the sides, or let them be found by digest",
        )
    held = [HeldContent(str(path), read_content(FileSource(path)).items) for path in contents]
    sessions = [read_transcript(FileSource(path), on_progress=progress_line()) for path in transcripts]
    return Given(_items(pre), _items(post), ContentIndex.of(sessions, held))


def _items(path: Path | None) -> Sequence[Any] | None:
    return None if path is None else read_content(FileSource(path)).items


def _receipt_lines(ledger: Path, wanted: int | None) -> Iterator[tuple[Line, Parsed]]:
    """Yield the receipts of a ledger (with the lines that could not be read), or the one line asked for."""
    last = 0
    source, report = FileSource(ledger), progress_line()
    total = source.size()
    for line in read_lines(source, universal=True, max_bytes=DEFAULT_LIMITS.line_bytes):
        last = line.number
        report(Progress("checking receipts", line.offset, total))
        if wanted is not None and line.number != wanted:
            continue
        parsed = _parse(line)
        if wanted is not None:
            yield line, parsed
            return
        if (line.data is None or line.data.strip()) and (parsed.problem is not None or is_receipt_row(parsed.value)):
            yield line, parsed
    report(Progress("checking receipts", total, total))
    if wanted is not None:
        raise UsageError(
            "no_such_line",
            f"expected a line from 1 to {last}, found --line {wanted}",
            where=str(ledger),
            hint="leave --line out to check every receipt",
        )


def _parse(line: Line) -> Parsed:
    if line.data is None:
        return Parsed(None, problem=line.problem)
    return parse_exact(line.data.decode("utf-8", "replace").strip(), nesting=DEFAULT_LIMITS.nesting)


def _check(ledger: Path, line: Line, parsed: Parsed, given: Given) -> Checked:
    if given.by_name:
        names = ("as named" if given.pre is not None else "", "as named" if given.post is not None else "")
        report = verify_receipt_line(line.data or b"", given.pre, given.post, line=line.number)
        return Checked(line.number, report, *names)
    if parsed.problem is None and not parsed.duplicates and len(given.index):
        held = HeldReceipt(str(ledger), line.number, parsed.value)
        for link in iterate_links([held], given.index) if is_receipt_row(parsed.value) else ():
            return Checked(line.number, link.report, _place(link.pre), _place(link.post), link.whole)
    return Checked(line.number, verify_receipt_line(line.data or b"", line=line.number))


def _place(found: Candidate | None) -> str:
    if found is None:
        return ""
    where = f", round {found.round_index}, {found.side.value}" if found.round_index else ""
    return f"{found.source}{where} ({found.view}, {found.state.value})"


def receipt_json(checked: Checked) -> dict[str, Any]:
    """Return the stable machine form of one checked receipt."""
    report = checked.report
    return {
        "line": checked.line,
        "result": checked.result.value,
        "scope": report.scope,
        "words": checked.words,
        "findings": [finding.as_json() for finding in report.findings],
        "drops": _drops(report),
        "content": {"pre": checked.pre_from or None, "post": checked.post_from or None},
        "reference": report.reference,
    }


def continuity_json(place: RoundLink | None) -> dict[str, Any] | None:
    """Return how a receipt stands to the earlier ones, None when its digests cannot be read."""
    return None if place is None else {"state": place.continuity.value, "previous": place.previous}


def _drops(report: ReceiptReport) -> dict[str, Any]:
    claim, found = report.claim, report.comparison
    recomputed = None
    if found is not None and found.full:
        recomputed = {
            "count": len(found.dropped),
            "bytes": found.dropped_size,
            "kept": len(found.kept_pre),
            "introduced": len(found.introduced),
            "rewritten": len(found.rewritten),
            "items": [_item_json(item) for item in found.dropped_items(limit=ITEMS_SHOWN)],
        }
    claimed = None if claim is None else {"count": claim.dropped_count, "bytes": claim.dropped_size}
    return {"claimed": claimed, "recomputed": recomputed}


def _item_json(held: HeldItem) -> dict[str, Any]:
    return {
        "position": held.position,
        "digest": held.digest,
        "bytes": held.size,
        "text": item_text(held.item)[:TEXT_SHOWN],
    }


def item_text(item: Any) -> str:
    """Return the text of a content item for showing; still foreign text."""
    match item:
        case str(text) | {"text": str(text)} | {"content": str(text)} | {"result": {"text": str(text)}}:
            return text
        case {"call": {"name": str(name), "args": args}}:
            return f"{name} {args!r}"
        case bytes():
            return f"{len(item)} bytes: {item[:64].hex(' ')}"
        case _:
            return repr(item)


def _print(checked: Checked) -> None:
    report = checked.report
    say(headline(checked.result, f"line {checked.line}: {checked.words}"))
    for name, place in (("before", checked.pre_from), ("after", checked.post_from)):
        if place:
            say(f"  content {name}: {safe(place, 400)}")
    for text in findings_text(report.findings):
        say(text)
    if report.comparison is not None:
        for held in report.comparison.dropped_items(limit=ITEMS_SHOWN):
            say(f"  dropped, item {held.position + 1} before ({held.size} bytes): {safe(_one_line(held.item))}")


def _one_line(item: Any) -> str:
    return item_text(item).replace("\r\n", "\n").replace("\n", " ⏎ ")

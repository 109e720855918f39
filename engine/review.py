"""What do the given ledgers and sessions say together?

The line the data runs along, and nothing else: load → verify → recompute → judge. Start reading here.

1. load: find and classify the inputs (`engine.load`).
2. read: transcripts into rounds, content files into items; what cannot be read is a refusal beside the rest.
3. verify: each ledger's chain and each receipt against itself, on one reading.
4. recompute: link receipts to the content held, by digest, and recompute their drops.
5. judge: one result per question and ledger, side by side and never added up; problems first.

Content that was never given cannot be judged; a receipt without content stays "not checked" on that question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from engine.errors import WinnowError
from engine.findings import UNWATCHED, Code, Finding, Result, Severity, Watch, worst
from engine.ledger.pin_check import PinReport, check_pins
from engine.ledger.pins import PinFile, read_pin_file
from engine.ledger.report import ChainReport, Limits
from engine.ledger.verify import DEFAULT_LIMITS
from engine.load import Input, InputKind, load_inputs, of_kind
from engine.receipts.candidates import ContentIndex, HeldContent
from engine.receipts.continuity import RoundFollower, RoundLink
from engine.receipts.link import Link, iterate_links, receipts_of
from engine.receipts.summary import ReceiptSummary
from engine.receipts.sweep import OnReceipt, SweepReport, ignore_receipt, sweep_ledger
from engine.transcripts.content import Content, read_content
from engine.transcripts.pair import pair_transcript
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import Transcript

ROUNDS_FOLLOWED = 200_000
"""Receipts of one ledger whose place among the others is kept."""
LINKS_KEPT = 2000
"""Links kept with their content per ledger; a sweep over more counts them and keeps the failing ones first."""

NOT_READ = Code("input_not_read", Severity.LIMIT, "this file was recognised but could not be read")


class Question(StrEnum):
    """What is asked of a ledger; each has its own answer."""

    SELF_CONSISTENT = "self_consistent"
    CHAIN = "chain"
    HEAD_PIN = "head_pin"
    SIGNATURE = "signature"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: result, how many it counts, and the words that say its scope."""

    question: Question
    result: Result
    words: str
    counted: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """Everything that receipts can be held against, and what could not be read."""

    transcripts: tuple[tuple[Input, Transcript], ...]
    contents: tuple[tuple[Input, HeldContent], ...]
    refused: tuple[tuple[Input, Finding], ...]

    def index(self, watch: Watch = UNWATCHED) -> ContentIndex:
        """Digest every side and content file."""
        return ContentIndex.of([t for _, t in self.transcripts], [c for _, c in self.contents], watch=watch)


@dataclass(frozen=True, slots=True)
class LedgerReview:
    """One ledger judged."""

    input: Input
    sweep: SweepReport
    pins: tuple[PinReport, ...]
    links: tuple[Link, ...]
    linked: int
    rounds: Mapping[int, RoundLink]
    """By line, whether a receipt goes on where an earlier one ended; at most `ROUNDS_FOLLOWED` receipts."""
    answers: tuple[Answer, ...]

    @property
    def chain(self) -> ChainReport:
        """Return the chain's report."""
        return self.sweep.chain

    @property
    def result(self) -> Result:
        """Return the worst answer that was looked for (a question nobody could ask does not count against it)."""
        return worst(a.result for a in self.answers if a.of or a.result is Result.FAILS)

    def answer(self, question: Question) -> Answer:
        """Return the answer to one question."""
        return next(answer for answer in self.answers if answer.question is question)


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that was opened, judged."""

    inputs: tuple[Input, ...]
    ledgers: tuple[LedgerReview, ...]
    held: Held

    @property
    def refused(self) -> tuple[tuple[Input, Finding], ...]:
        """Return every input that was not looked at, with the reason."""
        unread = tuple((i, i.refusal) for i in self.inputs if i.refusal is not None)
        return (*unread, *self.held.refused)

    @property
    def result(self) -> Result:
        """Return the worst result over the ledgers."""
        return worst(ledger.result for ledger in self.ledgers)


def review(
    paths: Sequence[Path],
    *,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    observe: Callable[[Input], OnReceipt] | None = None,
    watch: Watch = UNWATCHED,
) -> Review:
    """Load, verify, recompute and judge everything below the paths.

    Bad content is a result, never an exception; raises `UsageError` for a path that does not exist and
    `CancelledError`. `observe` gives, for a ledger, a function that sees the summary of each of its receipts.
    """
    inputs = load_inputs(paths, on_progress=watch.on_progress, is_cancelled=watch.is_cancelled)  # 1
    held = hold(inputs, watch)  # 2
    index = held.index(watch)
    pins = tuple(read_pin_file(each.source) for each in of_kind(inputs, InputKind.PINS))
    ledgers = of_kind(inputs, InputKind.LEDGER)
    judged = tuple(
        review_ledger(  # 3-5
            each,
            index,
            pins_for(each, pins, ledgers),
            strict=strict,
            limits=limits,
            on_receipt=observe(each) if observe else ignore_receipt,
            watch=watch,
        )
        for each in ledgers
    )
    return Review(inputs, judged, held)


def hold(inputs: Iterable[Input], watch: Watch = UNWATCHED) -> Held:
    """Read the transcripts and content files among the inputs; what cannot be read is listed."""
    transcripts: list[tuple[Input, Transcript]] = []
    contents: list[tuple[Input, HeldContent]] = []
    refused: list[tuple[Input, Finding]] = []
    for each in inputs:
        try:
            if each.kind is InputKind.TRANSCRIPT:
                read = read_transcript(
                    each.source, format=each.format, on_progress=watch.on_progress, is_cancelled=watch.is_cancelled
                )
                transcripts.append((each, read))
            elif each.kind is InputKind.CONTENT:
                contents.append((each, HeldContent(each.name, read_content(each.source).items)))
        except WinnowError as error:
            refused.append((each, Finding(NOT_READ, note=f"{error} ({error.hint})" if error.hint else str(error))))
    transcripts = _read_once(transcripts)
    transcripts += [(first, pair) for first, pair in _pairs(contents)]
    return Held(tuple(transcripts), tuple(contents), tuple(refused))


def _read_once(transcripts: list[tuple[Input, Transcript]]) -> list[tuple[Input, Transcript]]:
    """Leave a file out that was read together with another one: its rounds would count twice."""
    kept: list[tuple[int, frozenset[str]]] = []
    sources = [frozenset(file.name for file in read.sources) for _, read in transcripts]
    for number in sorted(range(len(sources)), key=lambda each: -len(sources[each])):
        if not any(sources[number] <= others for _, others in kept if len(others) > 1):
            kept.append((number, sources[number]))
    return [transcripts[number] for number, _ in sorted(kept)]


def _pairs(contents: Iterable[tuple[Input, HeldContent]]) -> Iterator[tuple[Input, Transcript]]:
    """Take content files named before/after (or pre/post) in one folder as the two sides of a compaction.

    The names are the user's word that they belong together; the pair carries that reason.
    """
    named = {each.name: (each, content) for each, content in contents}
    for name, (each, before) in named.items():
        for first, second in (("before", "after"), ("pre", "post")):
            head, found, tail = Path(name).name.rpartition(first)
            other = str(Path(name).with_name(head + second + tail)) if found else ""
            if other in named:
                after = named[other][1]
                sides = Content(name, "given", tuple(before.items)), Content(other, "given", tuple(after.items))
                yield each, pair_transcript(*sides)
                break


def pins_for(
    ledger: Input, files: Iterable[PinFile], ledgers: Sequence[Input]
) -> tuple[tuple[PinFile, str | None], ...]:
    """Choose the pin files that speak of a ledger, each with the namespace to compare (None when it has one only).

    A file speaks of a ledger of its own folder that has its name or is alone there, or of the only ledger that has the
    name of one of its namespaces. Neighbourhood is a guess: a wrong one shows as a pin that does not
    agree, never as green.
    """
    stem, folder = _stem(ledger.name), Path(ledger.name).parent
    beside = [other for other in ledgers if Path(other.name).parent == folder]
    namesakes = [other for other in ledgers if _stem(other.name) == stem]
    chosen: list[tuple[PinFile, str | None]] = []
    for file in files:
        names = file.namespaces()
        near = Path(file.name).parent == folder
        if stem in names and (near or len(namesakes) == 1):
            chosen.append((file, stem))
        elif near and len(names) <= 1 and (_stem(file.name) == stem or len(beside) == 1):
            chosen.append((file, None))
    return tuple(chosen)


def _stem(name: str) -> str:
    return Path(name).name.split(".")[0]


def review_ledger(
    ledger: Input,
    index: ContentIndex,
    pins: Sequence[tuple[PinFile, str | None]] = (),
    *,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    on_receipt: OnReceipt = ignore_receipt,
    watch: Watch = UNWATCHED,
) -> LedgerReview:
    """Verify one ledger, hold its receipts against the content, and judge."""
    follower = _Follower(on_receipt)
    sweep = sweep_ledger(
        ledger.source,
        on_receipt=follower,
        strict=strict,
        limits=limits,
        on_progress=watch.on_progress,
        is_cancelled=watch.is_cancelled,
    )
    links, linked, by_content = _links(ledger, index, limits, watch)
    pinned = tuple(
        report
        for file, namespace in pins
        for report in check_pins(
            ledger.source,
            file,
            namespace=namespace,
            strict=strict,
            limits=limits,
            on_progress=watch.on_progress,
            is_cancelled=watch.is_cancelled,
        )
    )
    answers = tuple(_judge(sweep, pinned, by_content))
    return LedgerReview(ledger, sweep, pinned, links, linked, follower.rounds, answers)


class _Follower:
    """Passes receipt summaries on, and keeps how each stands to the earlier ones."""

    def __init__(self, on_receipt: OnReceipt) -> None:
        self.rounds: dict[int, RoundLink] = {}
        self._on_receipt = on_receipt
        self._follower = RoundFollower()

    def __call__(self, summary: ReceiptSummary) -> None:
        if len(self.rounds) < ROUNDS_FOLLOWED and (link := self._follower.place(summary)) is not None:
            self.rounds[link.line] = link
        self._on_receipt(summary)


def _links(
    ledger: Input, index: ContentIndex, limits: Limits, watch: Watch
) -> tuple[tuple[Link, ...], int, dict[Result, int]]:
    """Link receipts; keep the failing ones and the first others, count all."""
    counts: dict[Result, int] = {}
    kept: list[Link] = []
    total = 0
    if not len(index):
        return (), 0, counts
    for link in iterate_links(receipts_of(ledger.source, limits=limits, watch=watch), index, watch=watch):
        total += 1
        counts[link.result] = counts.get(link.result, 0) + 1
        if link.result is Result.FAILS or len(kept) < LINKS_KEPT:
            kept.append(link)
    return tuple(kept), total, counts


def _judge(sweep: SweepReport, pins: Sequence[PinReport], by_content: dict[Result, int]) -> Iterator[Answer]:
    receipts = sweep.totals.receipts
    failing = sweep.totals.by_result.get(Result.FAILS, 0)
    unread = sweep.totals.by_result.get(Result.COULD_NOT_LOOK, 0)
    if not receipts:
        yield Answer(Question.SELF_CONSISTENT, Result.COULD_NOT_LOOK, "no receipts in this ledger")
    elif failing:
        words = f"{failing} of {receipts} receipts contradict themselves"
        yield Answer(Question.SELF_CONSISTENT, Result.FAILS, words, receipts - failing, receipts)
    else:
        # Self-consistency is all that this question asks; what it leaves open stands under content.
        result = Result.COULD_NOT_LOOK if unread else Result.HOLDS
        words = f"{receipts - unread} of {receipts} receipts agree with themselves"
        yield Answer(Question.SELF_CONSISTENT, result, words, receipts - unread, receipts)
    yield _chain_answer(sweep.chain)
    yield _pin_answer(pins)
    yield Answer(Question.SIGNATURE, Result.COULD_NOT_LOOK, "the ledger format carries no signatures")
    yield _content_answer(receipts, by_content)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _chain_answer(chain: ChainReport) -> Answer:
    rows = chain.reference.rows
    chained = chain.reference.chained
    match chain.result:
        case Result.HOLDS:
            words = f"intact: {_many(chained, 'row')} linked in order"
        case Result.BOUNDED:
            words = f"no break found, scope {chain.scope}"
        case Result.FAILS:
            first = next((f.line for f in chain.findings if f.code.severity is Severity.BREAK), None)
            words = f"broken at line {first}: {_many(chain.breaks_total, 'break')} in {_many(rows, 'row')}"
        case Result.COULD_NOT_LOOK:
            words = f"cannot check, scope {chain.scope}"
        case _:
            assert_never(chain.result)
    return Answer(Question.CHAIN, chain.result, words, chained, max(rows, 1))


def _pin_answer(pins: Sequence[PinReport]) -> Answer:
    if not pins:
        return Answer(Question.HEAD_PIN, Result.COULD_NOT_LOOK, "no pin: rows cut off the end would not show")
    bad = worst(pin.result for pin in pins)
    words = next(pin.sentence for pin in pins if pin.result is bad)
    return Answer(Question.HEAD_PIN, bad, words, sum(1 for p in pins if p.result is Result.HOLDS), len(pins))


def _content_answer(receipts: int, by_content: dict[Result, int]) -> Answer:
    full = by_content.get(Result.HOLDS, 0)
    failing = by_content.get(Result.FAILS, 0)
    held = sum(by_content.values())
    if failing:
        words = f"{failing} of {held} receipts disagree with the content held"
        return Answer(Question.CONTENT, Result.FAILS, words, full, receipts)
    if not held:
        return Answer(Question.CONTENT, Result.COULD_NOT_LOOK, "content held for none of the receipts", 0, 0)
    words = f"content held and recomputed for {full} of {receipts} receipts"
    return Answer(Question.CONTENT, Result.HOLDS if full == receipts else Result.BOUNDED, words, full, receipts)

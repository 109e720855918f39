"""What needs a look, worst first?

Pure: takes what the engine judged and lists it; it judges nothing itself. A problem that is not listed may still be
there: only what was opened was looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dashboard import names, spans
from dashboard.links import Page, Query
from dashboard.state import Opened, Parameter
from dashboard.theme import DEGRADED, LOST, RESULTS, Verdict, chain_verdict
from engine.findings import Result, Severity
from engine.load import Input
from engine.review import Answer, LedgerReview, Question, Review
from engine.spans.judge import Verdict as SpanVerdict
from engine.spans.session import SessionAudit

_ORDER = (Result.FAILS, Result.COULD_NOT_LOOK, Result.BOUNDED)
_ASKED = (Question.CHAIN, Question.HEAD_PIN, Question.CONTENT, Question.SELF_CONSISTENT)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to look at: verdict, where, in which words, and where it leads."""

    result: Result
    verdict: Verdict
    place: str
    words: str
    page: Page
    query: Query


def first_break(ledger: LedgerReview) -> int | None:
    """Return the line of the first break, or None."""
    return next((f.line for f in ledger.chain.findings if f.code.severity is Severity.BREAK), None)


def of(review: Review, opened: Opened) -> list[Problem]:
    """List the problems of a review: what fails, what could not be looked at, what holds only in part."""
    found = [*_of_ledgers(review, opened), *_of_transcripts(review, opened), *_of_refused(review, opened)]
    return sorted(found, key=lambda problem: _ORDER.index(problem.result))


def _of_ledgers(review: Review, opened: Opened) -> Iterator[Problem]:
    for ledger in review.ledgers:
        for question in _ASKED:
            answer = ledger.answer(question)
            if answer.result in _ORDER and (answer.of or answer.result is Result.FAILS):
                yield _of_answer(ledger, answer, opened)


def _of_answer(ledger: LedgerReview, answer: Answer, opened: Opened) -> Problem:
    query: dict[Parameter, str | int] = {Parameter.LEDGER: names.link(ledger.input)}
    page, verdict = Page.LEDGER, RESULTS[answer.result]
    if answer.question is Question.CHAIN:
        verdict = chain_verdict(answer.result, first_break(ledger))
    elif answer.result is Result.FAILS and (line := _first_bad_receipt(ledger, answer.question)) is not None:
        page = Page.RECEIPT
        query[Parameter.LINE] = line
    return Problem(answer.result, verdict, names.shown(ledger.input.name, opened), answer.words, page, query)


def _first_bad_receipt(ledger: LedgerReview, question: Question) -> int | None:
    if question is Question.CONTENT:
        return next((link.line for link in ledger.links if link.result is Result.FAILS), None)
    if question is Question.SELF_CONSISTENT:
        return next((each.line for each in ledger.sweep.failing if each.result is Result.FAILS), None)
    return None


def _of_transcripts(review: Review, opened: Opened) -> Iterator[Problem]:
    for file, transcript in review.held.transcripts:
        unreadable = [n for n in transcript.notices if n.code.severity is Severity.LIMIT]
        if unreadable:
            yield Problem(
                Result.BOUNDED,
                RESULTS[Result.BOUNDED],
                names.shown(file.name, opened),
                f"{len(unreadable)} places of this session could not be read",
                Page.TRANSCRIPT,
                {Parameter.TRANSCRIPT: names.link(file)},
            )


def of_spans(audited: Iterable[tuple[Input, SessionAudit]], opened: Opened) -> list[Problem]:
    """List for each session the first round after which a critical span is not whole."""
    found: list[Problem] = []
    for file, session in audited:
        for each in session.rounds:
            damage = spans.critical_damage(each.audit)
            if damage:
                lost = any(span.verdict is SpanVerdict.LOST for span in damage)
                some = f"{len(damage)} critical span{'s' if len(damage) > 1 else ''} not whole after round {each.index}"
                found.append(
                    Problem(
                        Result.FAILS,
                        LOST if lost else DEGRADED,
                        names.shown(file.name, opened),
                        f"{some}: {damage[0].pin.text}",
                        Page.SPANS,
                        {Parameter.TRANSCRIPT: names.link(file), Parameter.ROUND: each.index},
                    )
                )
                break
    return found


def _of_refused(review: Review, opened: Opened) -> Iterator[Problem]:
    for file, finding in review.refused:
        if finding.code.severity is Severity.LIMIT:
            words = finding.code.sentence + (f": {finding.note}" if finding.note else "")
            yield Problem(
                Result.COULD_NOT_LOOK,
                RESULTS[Result.COULD_NOT_LOOK],
                names.shown(file.name, opened),
                words,
                Page.LEDGERS,
                {},
            )

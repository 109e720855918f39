"""What is shown beside a verdict, case by case, and that it changes none."""

from __future__ import annotations

import pytest

from engine.errors import LimitError
from engine.findings import CancelledError, Progress, Watch
from engine.spans import wording as lists
from engine.spans.audit import Audit, SpanAudit, audit, by_severity
from engine.spans.difference import COMPARED_WORDS, common_length, matches
from engine.spans.evidence import GRAVITY, Change, Flag, FoundIn
from engine.spans.judge import Verdict
from engine.spans.literals import names_in
from engine.spans.plain import plainly_found
from engine.spans.snapshot import BYTE_LIMIT, Snapshot, pin, snapshot

PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0647\u0631\u06af\u0632"
"""Two words, the first with the joiner that its script needs."""
SAFETY = "Safety: never deploy to production without a signed receipt."


def one(span: str, text: str, *, tail_start: int | None = None) -> SpanAudit:
    """Audit one pin."""
    return audit(Snapshot("e", (pin(span),), (), ()), text, tail_start=tail_start).spans[0]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (f"Kept: {SAFETY}", (FoundIn.BODY,)),
        (f"```\n{SAFETY}\n```\nend", (FoundIn.CODE_FENCE,)),
        (f"~~~ text\n{SAFETY}", (FoundIn.CODE_FENCE,)),
        (f"{SAFETY}\n```\n{SAFETY}\n```\n", (FoundIn.BODY, FoundIn.CODE_FENCE)),
        (f"`````\n```\n{SAFETY}\n`````\n", (FoundIn.CODE_FENCE,)),
        ("nothing here", ()),
    ],
)
def test_where_a_span_stands_is_told(text: str, places: tuple[FoundIn, ...]) -> None:
    """In the text, in a code fence, or in both."""
    assert one(SAFETY, text).evidence.found_in == places


def test_the_kept_tail_is_told_from_the_summary() -> None:
    """What only the verbatim tail holds was not kept by the summary."""
    text = f"summary\n{SAFETY}"
    assert one(SAFETY, text, tail_start=8).evidence.found_in == (FoundIn.KEPT_TAIL,)
    assert one(SAFETY, text, tail_start=len(text)).evidence.found_in == (FoundIn.BODY,)


@pytest.mark.parametrize(
    ("span", "text", "flag", "fires"),
    [
        ("Send invoices to every customer.", "Never send invoices to every customer.", Flag.CONTEXT_SUSPECT, True),
        (
            "Send invoices to every customer.",
            "Never again. Send invoices to every customer.",
            Flag.CONTEXT_SUSPECT,
            False,
        ),
        (
            "Deploy on Friday evening.",
            "Deploy on Friday evening: this rule no longer applies.",
            Flag.CONTEXT_SUSPECT,
            True,
        ),
        (
            "Deploy on Friday evening.",
            "Deploy on Friday evening.\n\n- The old plan no longer applies.",
            Flag.CONTEXT_SUSPECT,
            False,
        ),
        ("Never deploy on Fridays.", "Deploy on Fridays.", Flag.NEGATION_LOST, True),
        ("Deploy the site on Fridays.", "Do not deploy the site Fridays.", Flag.NEGATION_ADDED, True),
        ("The spend cap is $500.", "The spend cap is $5000.", Flag.NUMBER_CHANGED, True),
        ("The spend cap is $500.", "The spend limit is $500.", Flag.NUMBER_CHANGED, False),
        ("Wait for two approvals each time.", "Wait for three approvals each time.", Flag.NUMBER_CHANGED, True),
        ("Use src/app_main.py only.", "Use src app main py only.", Flag.IDENTIFIER_RESPELLED, True),
        ("Use src/app_main.py only.", "Use src/app_main.py only.", Flag.IDENTIFIER_RESPELLED, False),
        ("You must rotate the key weekly.", "You should rotate the key weekly.", Flag.FORCE_WEAKENED, True),
        ("You must rotate the key weekly.", "You must rotate that key weekly.", Flag.FORCE_WEAKENED, False),
        ("Cap: load < 80 percent.", "Cap load > 80 percent.", Flag.SYMBOL_CHANGED, True),
        ("Never share\u200b the vault code.", "Never share the vault code.", Flag.INVISIBLE_CHARS_IN_SPAN, True),
        ("Never share the vault code.", "Never sh\u200bare the vault code.", Flag.INVISIBLE_CHARS_IN_POST, True),
        (PERSIAN, PERSIAN, Flag.INVISIBLE_CHARS_IN_POST, False),
        ("Never share the vault code.", "N\u0435ver share the vault code.", Flag.MIXED_SCRIPT_TOKEN, True),
    ],
)
def test_a_flag_fires_where_it_should_and_not_beside(span: str, text: str, flag: Flag, fires: bool) -> None:
    """Each rule on a text that it is for and on one that it is not for."""
    assert (flag in one(span, text).evidence.flags) is fires


def test_evidence_changes_no_verdict() -> None:
    """A cancelled rule is PRESERVED with a flag; a swapped one is DEGRADED with a flag."""
    cancelled = one("Deploy on Friday evening.", "Deploy on Friday evening: this rule no longer applies.")
    assert (cancelled.verdict, cancelled.evidence.flags) == (Verdict.PRESERVED, (Flag.CONTEXT_SUSPECT,))
    changed = one("The spend cap is $500.", "The spend cap is $5000.")
    assert changed.verdict is Verdict.DEGRADED


def test_the_difference_shows_both_sides_in_their_own_spelling() -> None:
    """Removed words come from the span, added ones from the text."""
    diff = one("The Cap is 500 Dollars per day.", "the cap IS 5000 dollars per day").evidence.diff
    assert [(piece.change, piece.text) for piece in diff] == [
        (Change.SAME, "The Cap is"),
        (Change.REMOVED, "500"),
        (Change.ADDED, "5000"),
        (Change.SAME, "Dollars per day"),
    ]
    assert [piece.change for piece in one("gone entirely now", "other words stand here").evidence.diff] == [
        Change.REMOVED
    ]


def test_a_very_long_span_is_compared_in_part_and_says_so() -> None:
    """The cost is bounded; the reader is told."""
    span = " ".join(f"w{number}" for number in range(COMPARED_WORDS + 50))
    found = one(span, span.replace("w7 ", ""))
    assert found.evidence.diff_cut
    assert not one("short span here", "short text here").evidence.diff_cut


def test_common_words_in_order_are_counted_and_paired() -> None:
    """The longest common subsequence of two small lists, by hand."""
    left, right = ["a", "b", "c", "b", "d", "a", "b"], ["b", "d", "c", "a", "b", "a"]
    assert common_length(left, right) == 4
    pairs = matches(left, right)
    assert [left[i] for i, _ in pairs] == [right[j] for _, j in pairs]
    assert len(pairs) == 4
    assert (common_length([], right), matches(left, [])) == (0, [])


def test_names_are_paths_hosts_and_joined_words() -> None:
    """Plain words are no names."""
    assert names_in("see src/app.py, db-3.example.org, a_b and C:\\x for plain words, e.g. one.") == [
        "src/app.py",
        "db-3.example.org",
        "a_b",
    ]


def test_the_plain_reading_finds_inside_words() -> None:
    """A reader with a simple search finds them, so they are told."""
    assert plainly_found(["ran", "Never delete", "absent"], "The orange crate. The job never deleted it.") == {
        "ran",
        "Never delete",
    }


def test_the_order_to_look_at_is_by_danger() -> None:
    """Critical first, then LOST, DEGRADED, PRESERVED, then the gravest flag."""
    spans = [
        "[fact] The host is db-3.",
        "Rule: The spend cap is 500 dollars per day.",
        "Goal: move the cap of 500 euros per month along.",
        SAFETY,
        "Rule: entirely missing words here.",
    ]
    text = "The host is db-3. The spend cap is 5000 dollars per day. We move the cap of 500 euros per month."
    order = [each.pin.text for each in by_severity(audit(snapshot("e", spans), text).spans)]
    assert order == [SAFETY, spans[4], spans[1], spans[2], spans[0]]
    assert set(GRAVITY) == set(Flag)


def test_limits_of_an_audit_are_named() -> None:
    """One byte past the limit is refused; an empty text and a lone surrogate get verdicts."""
    taken = snapshot("e", [SAFETY])
    with pytest.raises(LimitError) as seen:
        audit(taken, "x" * (BYTE_LIMIT + 1))
    assert (seen.value.code, str(BYTE_LIMIT) in seen.value.message) == ("POST_TEXT_TOO_LONG", True)
    for text in ("", "\ud800 \udfff"):
        assert [each.verdict for each in audit(taken, text).spans] == [Verdict.LOST]


def test_an_audit_can_be_watched_and_stopped() -> None:
    """Steps are told with their totals, and a caller's wish to stop is heard in each."""
    spans = [f"Rule: keep item {number} of the list." for number in range(40)]
    text = " ".join(f"keep the item {number}." for number in range(2000))
    steps: list[Progress] = []
    audit(snapshot("e", spans), text, watch=Watch(steps.append, lambda: False))
    names = {step.step for step in steps}
    assert {"reading", "searching", "judging", "examining"} <= names
    assert all(0 <= step.done <= step.total for step in steps if step.total)
    for name in ("reading", "searching", "judging", "examining"):
        heard: list[str] = []
        with pytest.raises(CancelledError):
            audit(snapshot("e", spans), text, watch=stopping_at(name, heard))
        assert heard[-1] == name


def stopping_at(name: str, heard: list[str]) -> Watch:
    """Return a watch that stops at a step."""
    return Watch(lambda progress: heard.append(progress.step), lambda: bool(heard) and heard[-1] == name)


def test_word_lists_are_checked_when_loaded() -> None:
    """A list of another shape is refused by its file's name; adding a language is adding a file."""
    good = {"schema": lists.SCHEMA, "language": "xx", "numbers": {}, **{name: [] for name in lists._LISTS}}
    assert lists.checked_list("xx", good) == good
    bad = [
        [],
        {**good, "more": []},
        {**good, "schema": "x"},
        {**good, "language": "yy"},
        {**good, "strong": "must"},
        {**good, "strong": ["must", "MUST"]},
        {**good, "strong": ["--"]},
        {**good, "numbers": {"two": "2.5"}},
        {**good, "numbers": {"two words": "2"}},
        {**good, "numbers": []},
    ]
    for data in bad:
        with pytest.raises(ValueError, match="xx"):
            lists.checked_list("xx", data)
    with pytest.raises(ValueError, match="means 2 elsewhere"):
        lists.joined([{**good, "numbers": {"two": "2"}}, {**good, "numbers": {"Two": "3"}}])
    assert {"en", "de", "es", "fr", "zh"} <= set(lists.wording().languages)


def test_a_block_carries_a_span_only_by_its_own_words() -> None:
    """The frame's words are no span, and no run reaches over two entries."""
    taken = snapshot("e", [SAFETY, "[fact] LOST bytes"])
    made: Audit = audit(taken, "x")
    assert not any(each.in_block for each in made.spans)

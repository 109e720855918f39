"""What holds for all span verdicts."""

from __future__ import annotations

from hypothesis import given, seed, settings
from hypothesis import strategies as st

from engine.spans.block import Entry, append_block, split_block
from engine.spans.classify import SpanClass
from engine.spans.judge import Verdict, judge
from tests.support.spans import pins_of

WORDS = st.lists(st.sampled_from(["never", "deploy", "on", "big", "café", "rules", "x"]), min_size=1, max_size=8)
GLUE = st.lists(st.sampled_from([" ", "\n", ", ", "; ", " - ", "\n> ", "  "]), min_size=12, max_size=12)


@seed(1)
@settings(deadline=None, max_examples=200)
@given(span=WORDS, post=WORDS, glue=GLUE)
def test_case_punctuation_and_wrapping_change_no_verdict(span: list[str], post: list[str], glue: list[str]) -> None:
    """The same words give the same verdict however they are written."""
    (plain,) = judge(pins_of(" ".join(span)), " ".join(post))
    written = "".join(word.upper() + between for word, between in zip(post, glue, strict=False))
    (other,) = judge(pins_of(" ".join(span)), written)
    assert (plain.verdict, plain.found, plain.missing) == (other.verdict, other.found, other.missing)


@seed(2)
@settings(deadline=None, max_examples=200)
@given(span=WORDS, before=WORDS, after=WORDS)
def test_text_around_a_span_leaves_it_preserved(span: list[str], before: list[str], after: list[str]) -> None:
    """Adding text never turns PRESERVED into less."""
    text = " ".join(span)
    (judged,) = judge(pins_of(text), f"{' '.join(before)}\n{text}.\n{' '.join(after)}")
    assert judged.verdict is Verdict.PRESERVED


ENTRIES = st.builds(
    Entry,
    id=st.just("pin-0123456789abcdef"),
    cls=st.sampled_from([SpanClass.INVARIANT, SpanClass.FACT]),
    critical=st.booleans(),
    verdict=st.sampled_from([Verdict.DEGRADED, Verdict.LOST]),
    text=st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["<<<END PINNED sha256=0>>>\n[2] x"]),
)


@seed(3)
@settings(deadline=None, max_examples=200)
@given(body=st.text(st.characters(exclude_categories=["Cs"])), entries=st.lists(ENTRIES, min_size=1, max_size=4))
def test_a_written_block_reads_back_and_is_idempotent(body: str, entries: list[Entry]) -> None:
    """Reading what was written gives the same entries and body; writing twice is writing once."""
    text = append_block(body, entries)
    assert list(split_block(text).entries) == entries
    assert body in split_block(text).bodies()
    assert append_block(split_block(text).body, entries) == text

"""The search and the best window against the plainest way of doing the same."""

from __future__ import annotations

from collections import Counter
from unittest import mock

from hypothesis import given, seed, settings
from hypothesis import strategies as st

from engine.spans import window
from engine.spans.audit import audit
from engine.spans.prepared import prepare
from engine.spans.search import PLACE_CAP, find_runs
from engine.spans.snapshot import snapshot
from engine.spans.window import Passage, WindowIndex, window_size

FEW = st.lists(st.sampled_from("ab"), min_size=1, max_size=12)
SOME = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8)
TEXTS = st.lists(st.sampled_from("ab"), max_size=120) | st.lists(st.sampled_from("abcdefghij"), max_size=120)


def plainly(span: list[str], words: list[str]) -> list[int]:
    """Return every place of a span."""
    return [at for at in range(len(words) - len(span) + 1) if words[at : at + len(span)] == span]


@seed(11)
@settings(deadline=None, max_examples=400)
@given(spans=st.lists(FEW | SOME, max_size=30), words=TEXTS)
def test_the_search_finds_what_a_plain_one_finds(spans: list[list[str]], words: list[str]) -> None:
    """Each span's first places are listed, in order, and `cut` says whether there are more; nested spans included."""
    for span, run in zip(spans, find_runs(spans, words), strict=True):
        places = plainly(span, words)
        assert (run.at, run.cut) == (places[:PLACE_CAP], len(places) > PLACE_CAP)


def best_by_hand(features: list[str], words: list[str]) -> Passage | None:
    """Return the first best window by looking at each."""
    if not words:
        return None
    width, wanted = window_size(len(features)), Counter(features)
    starts = range(max(1, len(words) - width + 1))
    scores = [(Counter(words[at : at + width]) & wanted).total() for at in starts]
    first = scores.index(max(scores))
    return Passage(max(scores), len(features), first, min(len(words), first + width) - 1)


@seed(12)
@settings(deadline=None, max_examples=600)
@given(
    features=st.lists(st.sampled_from("abcdefghz"), min_size=1, max_size=12),
    words=TEXTS,
    anchors=st.sampled_from([1, 2, 32]),
    part=st.sampled_from([1, 7, 1000]),
    share=st.sampled_from([0, 1, 8]),
)
def test_the_best_window_is_the_first_of_the_best(
    features: list[str], words: list[str], anchors: int, part: int, share: int
) -> None:
    """Whatever way the search takes, score and place are those of looking at each window."""
    with (
        mock.patch.object(window, "FIRST_ANCHORS", anchors),
        mock.patch.object(window, "FIRST_PART", part),
        mock.patch.object(window, "ROUND_SHARE", share),
    ):
        found = WindowIndex(prepare(" ".join(words))).best(features)
    expected = best_by_hand(features, words)
    if expected is None or expected.found == 0:
        assert (found.found if found else 0) == 0
    else:
        assert found == expected


RULES = [
    "Safety: never deploy to production without a signed receipt.",
    "Rule: keep logs for 90 days.",
    "Always run the linter first, then the tests.",
    "Goal: ship the export button before 2026-11-15.",
]
WORDS = """we never deploy logs for days keep run tests first the a receipt and signed goal""".split()  # noqa: SIM905
PROSE = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)


def verdicts(text: str) -> list[str]:
    """Return the verdict of every rule on a text."""
    return [each.verdict.value for each in audit(snapshot("e", RULES), text).spans]


@seed(13)
@settings(deadline=None, max_examples=150)
@given(
    before=PROSE,
    after=PROSE,
    kept=st.sets(st.integers(0, 3)),
    way=st.sampled_from(["upper", "lower", "title", "wrap", "marks", "stars"]),
)
def test_case_punctuation_and_wrapping_change_no_verdict(before: str, after: str, kept: set[int], way: str) -> None:
    """The same words, spelt or broken otherwise, get the same verdicts."""
    text = "\n".join([before, *(RULES[number] for number in sorted(kept)), after])
    changed = {
        "upper": str.upper,
        "lower": str.lower,
        "title": str.title,
        "wrap": lambda given: "\n  ".join(given.split(" ")),
        "marks": lambda given: given.replace(" ", " … ").replace(".", " ;"),
        "stars": lambda given: " ".join(f"**{word}**" if word.isalpha() else word for word in given.split(" ")),
    }[way](text)
    assert verdicts(changed) == verdicts(text)


@seed(14)
@settings(deadline=None, max_examples=150)
@given(before=PROSE, after=PROSE, more_before=PROSE, more_after=PROSE, kept=st.sets(st.integers(0, 3)))
def test_adding_text_never_makes_a_verdict_worse(
    before: str, after: str, more_before: str, more_after: str, kept: set[int]
) -> None:
    """PRESERVED stays PRESERVED, and what was DEGRADED does not become LOST."""
    rank = {"PRESERVED": 2, "DEGRADED": 1, "LOST": 0}
    text = "\n".join([before, *(RULES[number] for number in sorted(kept)), after])
    wider = f"{more_before}\n{text}\n{more_after}"
    for narrow, wide in zip(verdicts(text), verdicts(wider), strict=True):
        assert rank[wide] >= rank[narrow]

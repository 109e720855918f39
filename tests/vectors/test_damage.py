"""Damaged rules in four languages: what reads PRESERVED, and which damage carries a flag."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.spans.evidence import Flag
from engine.spans.judge import Verdict
from tests.support.damage_corpus import KINDS, LANGUAGES, Pair, pairs

PAIRS = pairs()
FEWEST = {"number": 1.0, "negated": 1.0, "reordered": 0.9, "weakened": 0.65, "dropped": 0.9}
"""Share of damaged pairs with a flag, by kind, below which something got worse."""


def test_the_corpus_is_whole() -> None:
    """At least 300 pairs, every kind in every language, every post with its frame."""
    counts = Counter((pair.language, pair.kind) for pair in PAIRS)
    assert len(PAIRS) == 376
    assert set(counts) == {(language, kind) for language in LANGUAGES for kind in KINDS}
    assert min(counts.values()) >= 10
    assert all(len(pair.post) > 10 for pair in PAIRS)
    assert len({pair.id for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.kind == "kept"], ids=lambda pair: pair.id)
def test_what_was_kept_is_preserved_without_a_flag(pair: Pair) -> None:
    """Case, line breaks and punctuation take nothing away and warn of nothing."""
    found = pair.judged()
    assert (found.verdict, found.evidence.flags) == (Verdict.PRESERVED, ())


def test_no_damaged_rule_is_preserved_but_where_it_stands_unchanged_behind_a_negation() -> None:
    """The policy calls an unchanged run PRESERVED whatever stands before it; each such place bears its flag."""
    wrong = [pair for pair in PAIRS if pair.damaged and pair.judged().verdict is Verdict.PRESERVED]
    assert [(pair.id, pair.kind) for pair in wrong] == [(f"{name}-08-6", "negated") for name in LANGUAGES]
    assert all(pair.judged().evidence.flags == (Flag.CONTEXT_SUSPECT,) for pair in wrong)


@pytest.mark.parametrize("kind", FEWEST)
def test_damage_carries_a_flag(kind: str) -> None:
    """The share by kind over all languages does not fall."""
    mine = [pair for pair in PAIRS if pair.kind == kind]
    flagged = sum(bool(pair.judged().evidence.flags) for pair in mine)
    assert flagged / len(mine) >= FEWEST[kind]


def test_a_paraphrase_is_not_found_by_words() -> None:
    """What the policy cannot see, stated: faithful paraphrases are LOST, in every language."""
    assert {pair.judged().verdict for pair in PAIRS if pair.kind == "paraphrased"} == {Verdict.LOST}

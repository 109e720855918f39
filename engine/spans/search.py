"""Where do many word sequences occur in one text, in bounded time?

One automaton looks for all sequences at once. After a capped number of hits it is built again for those not yet found,
since nested sequences on a repetitive text would otherwise report every one of them at every place. The places are the
first ones met: a sequence can occur more often than is listed, and `cut` says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import ahocorasick

HIT_CAP = 500_000
PLACE_CAP = 20


@dataclass(slots=True)
class Runs:
    """The first word of each occurrence of one sequence, and whether there can be more."""

    at: list[int] = field(default_factory=list)
    cut: bool = False


def _pass(joined: str, patterns: Sequence[str], runs: dict[str, Runs], hit_cap: int) -> bool:
    """Look for the patterns once; True when the cap stopped the pass before the end of the text."""
    automaton = ahocorasick.Automaton()
    for pattern in patterns:
        automaton.add_word(pattern, pattern)
    automaton.make_automaton()
    for hits, (end, pattern) in enumerate(automaton.iter(joined)):
        found = runs[pattern]
        if len(found.at) < PLACE_CAP:
            found.at.append(end - len(pattern) + 1)
        else:
            found.cut = True
        if hits >= hit_cap:
            return True
    return False


def find_runs(sequences: Sequence[Sequence[str]], words: Sequence[str], *, hit_cap: int = HIT_CAP) -> list[Runs]:
    """Return for each non-empty sequence where it stands in `words` as a contiguous run of whole words."""
    joined = " " + " ".join(words) + " "
    patterns = [" " + " ".join(sequence) + " " for sequence in sequences]
    runs = {pattern: Runs() for pattern in patterns}
    waiting = [pattern for pattern in runs if len(pattern) <= len(joined)]
    while waiting and _pass(joined, waiting, runs, hit_cap):
        for pattern in waiting:
            runs[pattern].cut = bool(runs[pattern].at)
        waiting = [pattern for pattern in waiting if not runs[pattern].at]
    first_chars = list(accumulate((len(word) + 1 for word in words), initial=0))
    for found in runs.values():
        found.at = [bisect_right(first_chars, at) - 1 for at in found.at]
    return [runs[pattern] for pattern in patterns]

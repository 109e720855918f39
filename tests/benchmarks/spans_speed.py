"""How long do 5,000 spans against 2,000,000 bytes take, on ordinary and on hostile texts, and how does it grow?

Processor time; the search is compared with one `in` a span over the same padded words, in turns. Run it alone:
`python3 -m uv run python tests/benchmarks/spans_speed.py`. Ends with 1 when a figure is short.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence

from engine.spans.audit import audit
from engine.spans.judge import judge
from engine.spans.prepared import PreparedText, prepare
from engine.spans.search import find_runs
from engine.spans.snapshot import pin, snapshot
from engine.spans.window import WindowIndex
from engine.spans.words import read_words
from tests.support.bench import Bars, compare

BYTES, SPANS = 2_000_000, 5_000
SHARE = 0.12
Spans = list[list[str]]


def ordinary(size: int, count: int, seed: int = 3) -> tuple[list[str], Spans]:
    """Return words with the frequencies of prose, and spans: a third kept, a third damaged, a third absent."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices("etaoinshrdlucm", k=rng.randint(2, 11))) for _ in range(20_000)]
    weights = [1 / (rank + 3) for rank in range(len(vocabulary))]
    words = rng.choices(vocabulary, weights, k=size // 7)
    while sum(map(len, words)) + len(words) > size:
        del words[-1000:]
    spans: Spans = []
    for number in range(count):
        at, length = rng.randrange(len(words) - 60), rng.randint(4, 40)
        span = words[at : at + length]
        if number % 3 == 1:
            for _ in range(max(1, length // 4)):
                span[rng.randrange(length)] = rng.choice(vocabulary)
        elif number % 3 == 2:
            span = rng.choices(vocabulary, k=length)
        spans.append(span)
    return words, spans


def nested(size: int, count: int) -> tuple[list[str], Spans]:
    """Return one letter over and over, and spans that are ends of one another, half with another last word."""
    lengths = [1 + number // 2 for number in range(min(count, 1_200))]
    return ["a"] * (size // 2), [
        ["a"] * length + (["b"] if number % 2 else []) for number, length in enumerate(lengths)
    ]


def two_letters(size: int, count: int, seed: int = 5) -> tuple[list[str], Spans]:
    """Return two words in random order, and absent spans of 80 of them."""
    rng = random.Random(seed)
    return rng.choices("ab", k=size // 2), [rng.choices("ab", k=80) for _ in range(min(count, 5_000))]


def seldom(size: int, count: int) -> tuple[list[str], Spans]:
    """Return a `b` after every thousand `a`, and spans round one `b`."""
    words = (["a"] * 1000 + ["b"]) * (size // 2002)
    return words, [["a"] * (number % 45) + ["b"] + ["a"] * (number // 45) for number in range(min(count, 2_000))]


def many_lengths(size: int, count: int, seed: int = 7) -> tuple[list[str], Spans]:
    """Return two words in random order, and absent spans of 1,199 lengths."""
    rng = random.Random(seed)
    return rng.choices("ab", k=size // 2), [rng.choices("ab", k=length) for length in range(40, 40 + min(count, 1_199))]


HOSTILE: dict[str, Callable[[int, int], tuple[list[str], Spans]]] = {
    "nested spans": nested,
    "two words, absent spans of 80": two_letters,
    "a seldom word": seldom,
    "two words, 1,199 lengths": many_lengths,
}


def by_in(spans: Spans, words: Sequence[str]) -> list[bool]:
    """Look for one span after the other with `in`."""
    text = " " + " ".join(words) + " "
    return [" " + " ".join(span) + " " in text for span in spans]


def by_runs(spans: Spans, words: Sequence[str]) -> list[bool]:
    """Look for all spans with the engine's search."""
    return [bool(run.at) for run in find_runs(spans, words)]


def within_limit(spans: Spans) -> Spans:
    """Return as many spans as 2,000,000 bytes hold."""
    total, kept = 0, []
    for span in spans:
        total += sum(map(len, span)) + len(span)
        if total > BYTES:
            break
        kept.append(span)
    return kept


def search(bars: Bars, runs: int) -> None:
    """Compare the search with one `in` a span."""
    for name, make in {"ordinary text": ordinary, **HOSTILE}.items():
        ours, theirs, spans = compared(*make(BYTES, SPANS), runs)
        label = f"search, {name}, {spans} spans: {ours:.2f} s, `in` {theirs:.2f} s"
        if make is ordinary:
            bars.at_most(label, ours / theirs, SHARE, "of `in`")
        else:
            bars.at_most(label, ours, max(3 * SHARE * theirs, 1), "s")


def compared(words: list[str], given: Spans, runs: int) -> tuple[float, float, int]:
    """Return seconds of ours and of `in`, and how many spans there were; both must answer alike."""
    spans = within_limit(given)
    assert by_in(spans, words) == by_runs(spans, words)
    ours, theirs, _ = compare(lambda: by_runs(spans, words), lambda: by_in(spans, words), runs)
    return ours, theirs, len(spans)


def windows(bars: Bars) -> None:
    """Time the best window of every span that is not in the text."""
    for name, make in {"ordinary text": ordinary, **HOSTILE}.items():
        words, spans = make(BYTES, SPANS)
        spans = within_limit(spans)
        text = prepare(" ".join(words))
        absent = [span for span, found in zip(spans, by_runs(spans, words), strict=True) if not found]
        if not absent:
            continue
        began = time.process_time()
        index = WindowIndex(text)
        times = sorted((timed(index, span), number) for number, span in enumerate(absent))
        mean = (time.process_time() - began) / len(absent)
        # The slowest are timed again, so that a pause of the machine does not count as the search's.
        worst = max(min(timed(index, absent[number]) for _ in range(3)) for _, number in times[-20:])
        bars.at_most(f"window, {name}, {len(absent)} absent spans, mean", mean * 1000, 1, "ms")
        bars.at_most(f"window, {name}, worst", worst * 1000, 4, "ms")


def timed(index: WindowIndex, span: list[str]) -> float:
    """Return the seconds of one best window."""
    start = time.process_time()
    index.best(span)
    return time.process_time() - start


def whole(size: int, count: int) -> float:
    """Return the seconds of one whole audit: snapshot, reading, search, verdicts, evidence."""
    words, spans = ordinary(size, count)
    texts = [" ".join(span) for span in within_limit(spans)]
    taken = snapshot("evt-1", [f"Rule: {text}" for text in texts])
    post = ". ".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12))[:size]
    began = time.process_time()
    audit(taken, post)
    return time.process_time() - began


def growth(bars: Bars) -> None:
    """Time the whole audit at four sizes of each; twice the work must take at most 2.4 times as long."""
    for name, sizes in {
        "spans": [(BYTES, SPANS // part) for part in (8, 4, 2, 1)],
        "text": [(BYTES // part, SPANS) for part in (8, 4, 2, 1)],
    }.items():
        times = [whole(*size) for size in sizes]
        print(f"      audit by {name}: " + ", ".join(f"{seconds:.2f} s" for seconds in times), flush=True)
        steps = [after / before for before, after in itertools.pairwise(times)]
        bars.at_most(f"audit, growth with {name}, worst doubling", max(steps), 2.4, "x")


def memory(bars: Bars) -> None:
    """Measure the memory that the audit at the limits takes beyond what it is given."""
    words, spans = ordinary(BYTES, SPANS)
    pins = [pin(" ".join(span)) for span in within_limit(spans)]
    post = " ".join(words)
    tracemalloc.start()
    prepared: PreparedText = prepare(post)
    judge(pins, prepared)
    WindowIndex(prepared)
    bars.at_most("memory, ordinary text", tracemalloc.get_traced_memory()[1] / 2**20, 400, "MiB")
    for name, hostile in HOSTILE.items():
        words, spans = hostile(BYTES, SPANS)
        spans = within_limit(spans)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        find_runs(spans, words)
        bars.at_most(f"memory of the search, {name}", (tracemalloc.get_traced_memory()[1] - before) / 2**20, 400, "MiB")
    tracemalloc.stop()


def main() -> None:
    """Measure everything, or the parts named on the command line."""
    parts = set(sys.argv[1:]) or {"search", "windows", "growth", "memory"}
    bars = Bars()
    read_words("warm up")
    if "search" in parts:
        search(bars, 3)
    if "windows" in parts:
        windows(bars)
    if "growth" in parts:
        growth(bars)
    if "memory" in parts:
        memory(bars)
    bars.end()


if __name__ == "__main__":
    main()

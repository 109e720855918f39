"""What became of each pinned span in the text after a compaction?

The text is taken apart first: what the compactor wrote (the body) and a re-injected block at its end, so that a block
never makes a compactor look better than it is. Verdicts are about words; see `engine.spans.judge` for what they do not
prove, and `engine.spans.evidence` for what is shown beside them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import LimitError
from engine.findings import UNWATCHED, Watch
from engine.spans.block import Entry, Split, split_block
from engine.spans.evidence import Evidence
from engine.spans.examine import Examiner
from engine.spans.judge import Judged, Verdict, judge
from engine.spans.prepared import prepare
from engine.spans.search import find_runs
from engine.spans.snapshot import BYTE_LIMIT, Pin, Snapshot
from engine.spans.words import POLICY, read_words

WATCH_EVERY = 10
"""Spans examined between two looks at the caller's wish to stop."""
_BETWEEN_ENTRIES = "|"
"""No word of a text: it keeps a run from reaching over two entries."""


@dataclass(frozen=True, slots=True)
class SpanAudit:
    """One pin: the verdict on the body, the evidence beside it, and whether a re-injected block carries it."""

    judged: Judged
    evidence: Evidence
    in_block: bool

    @property
    def pin(self) -> Pin:
        """Return the pin."""
        return self.judged.pin

    @property
    def body(self) -> Verdict:
        """Return the verdict on what the compactor wrote, the block left out."""
        return self.judged.verdict

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on all that the model will see, the block included."""
        return Verdict.PRESERVED if self.in_block else self.judged.verdict

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        body = self.judged.as_json()
        return {**body, "verdict": self.verdict.value, "body_verdict": body["verdict"], **self.evidence.as_json()}


@dataclass(frozen=True, slots=True)
class Audit:
    """All verdicts of one event on one text.

    `post_sha256` is of the text without a trailing block (what a receipt is matched on); `text` is the whole text.
    """

    snapshot: Snapshot
    text: str
    split: Split
    post_sha256: str
    spans: tuple[SpanAudit, ...]

    def counts(self) -> dict[Verdict, int]:
        """Return how many spans got each verdict on the whole text."""
        seen = Counter(entry.verdict for entry in self.spans)
        return {verdict: seen[verdict] for verdict in Verdict}

    def damaged(self) -> tuple[SpanAudit, ...]:
        """Return the spans that are DEGRADED or LOST in the body: those a block would carry."""
        return tuple(entry for entry in self.spans if entry.body is not Verdict.PRESERVED)

    def as_json(self) -> dict[str, Any]:
        """Return the stable machine form."""
        return {
            "policy": POLICY,
            "event_id": self.snapshot.event_id,
            "snapshot_sha256": self.snapshot.digest(),
            "post_sha256": self.post_sha256,
            "block": {"entries": len(self.split.entries), "torn": self.split.torn},
            "counts": {verdict.value: number for verdict, number in self.counts().items()},
            "spans": [entry.as_json() for entry in self.spans],
            "refused": [{"position": entry.position, "code": entry.code.name} for entry in self.snapshot.refused],
            "uncovered": list(self.snapshot.uncovered),
        }


def audit(snapshot: Snapshot, post_text: str, *, tail_start: int | None = None, watch: Watch = UNWATCHED) -> Audit:
    """Judge every pin of a snapshot against a text; the same input gives the same answer.

    `tail_start` is where the messages kept word for word begin in `post_text`, when that is known. Raises `LimitError`
    for a text past 2,000,000 bytes and `CancelledError`.
    """
    size = len(post_text.encode("utf-8", "surrogatepass"))
    if size > BYTE_LIMIT:
        raise LimitError("POST_TEXT_TOO_LONG", f"a text of {size} bytes, at most {BYTE_LIMIT} are taken")
    split = split_block(post_text)
    pins = snapshot.judged()
    watch.step("reading", 0, len(pins), "spans")
    prepared = prepare(split.body)
    judged = judge(pins, prepared, watch=watch)
    carried = _carried(pins, split.entries)
    examiner = Examiner(prepared, judged, tail_start=tail_start, in_block=carried, watch=watch)
    spans: list[SpanAudit] = []
    for done, each in enumerate(judged):
        if done % WATCH_EVERY == 0:
            watch.step("examining", done, len(judged), "spans")
        spans.append(SpanAudit(each, examiner.evidence(each), each.pin.id in carried))
    digest = hashlib.sha256(split.body.encode("utf-8", "surrogatepass")).hexdigest()
    return Audit(snapshot, post_text, split, digest, tuple(spans))


def _carried(pins: Sequence[Pin], entries: Sequence[Entry]) -> frozenset[str]:
    """Return the ids of the pins whose words stand as a run inside one entry of a block.

    The words of the block's own lines are no entry, and a run does not reach from one entry into the next.
    """
    if not entries:
        return frozenset()
    words = [word for entry in entries for word in (*read_words(entry.text).texts, _BETWEEN_ENTRIES)]
    runs = find_runs([read_words(pin.match_text).texts for pin in pins], words)
    return frozenset(pin.id for pin, run in zip(pins, runs, strict=True) if run.at)


def by_severity(spans: Iterable[SpanAudit]) -> tuple[SpanAudit, ...]:
    """Return spans in the order to look at them.

    Critical ones first; then LOST, DEGRADED and PRESERVED, by the gravest flag of each, then in the order given.
    """
    worst = [Verdict.LOST, Verdict.DEGRADED, Verdict.PRESERVED]
    return tuple(
        sorted(spans, key=lambda each: (not each.pin.critical, worst.index(each.verdict), each.evidence.gravity))
    )

"""Does what a plan promises come true on its own events, before anything is moved?

Facts are computed and every reader's declaration is tried on the events that would be husked: all of them up to a cap,
else a sample that follows from the state, so that the same plan is rehearsed the same way. A difference makes the plan
unapprovable. Events beyond the sample are counted as untested; facts are computed again, for every event, when sealing.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.findings import UNWATCHED, Severity, Watch
from engine.husk.facts import EXTRACTORS, Extractor, errors_of, extractors_digest
from engine.husk.facts_child import FactsChild
from engine.husk.fidelity import CONSUMERS, Consumer, Fidelity, Tested, consumers_digest
from engine.husk.plan import SAMPLE_IDS, Act, Action, Asked, HuskPlan, Outside, Warned
from engine.husk.planning import Sink, make_plan
from engine.husk.policy import Mode
from engine.husk.project import Projection, project
from engine.husk.store import Snapshot

REHEARSED = 2000
"""Events tried in one plan; more are sampled."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Which extractors and consumers a plan is rehearsed with."""

    extractors: tuple[Extractor, ...] = EXTRACTORS
    consumers: tuple[Consumer, ...] = CONSUMERS


OUR_READERS = Readers()


def plan(
    taken: Snapshot,
    asked: Asked,
    outside: Outside,
    sink: Sink,
    *,
    readers: Readers = OUR_READERS,
    watch: Watch = UNWATCHED,
) -> HuskPlan:
    """Plan and rehearse: the store is only read; the sidecar goes into `sink`. Raises as `make_plan`.

    The same state and question give the same bytes.
    """
    bound = replace(
        outside, extractors=extractors_digest(readers.extractors), consumers_digest=consumers_digest(readers.consumers)
    )
    chosen = _Chosen()
    first = make_plan(taken, asked, bound, chosen.line, watch=watch)
    if asked.mode is Mode.DELETE:
        return make_plan(taken, asked, bound, sink, watch=watch)
    rehearsed = _rehearse(taken, chosen.actions(), readers, watch)
    total = sum(batch.count for batch in first.batches)
    known = replace(
        bound,
        failed=rehearsed.failed,
        consumers=tuple(each.as_json(total) for each in rehearsed.tested),
        warnings=(*bound.warnings, *rehearsed.warnings()),
    )
    return make_plan(taken, asked, known, sink, watch=watch)


class _Chosen:
    """Keeps the actions to try: those with the smallest digests, so that the choice follows from the events alone."""

    def __init__(self) -> None:
        self._held: list[tuple[int, int, bytes]] = []

    def line(self, line: bytes) -> None:
        """Take one line of the sidecar."""
        seq, _, _, _, act, *_ = json.loads(line)
        if act == Act.KEEP.value:
            return
        rank = -int.from_bytes(hashlib.sha256(line).digest()[:8], "big")
        entry = (rank, seq, line)
        if len(self._held) < REHEARSED:
            heapq.heappush(self._held, entry)
        else:
            heapq.heappushpop(self._held, entry)

    def actions(self) -> Iterator[Action]:
        """Return the chosen actions in the order of their events."""
        for _, _, line in sorted(self._held, key=lambda each: each[1]):
            yield Action.from_json(json.loads(line))


@dataclass(slots=True)
class _Rehearsed:
    tested: list[Tested]
    failed: dict[int, str]
    names: list[str]
    changed: list[str]

    def warnings(self) -> Iterator[Warned]:
        """Return what the rehearsal found, as lines of the plan."""
        if self.failed:
            sentence = "events stay whole since facts of their payload could not be computed"
            yield Warned("FACTS_FAILED", Severity.BREAK, sentence, len(self.failed), tuple(self.names[:SAMPLE_IDS]))
        if self.changed:
            sentence = "stored bytes do not give the digest of what would stay; verify the store"
            yield Warned("CORE_CHANGED", Severity.BREAK, sentence, len(self.changed), tuple(self.changed[:SAMPLE_IDS]))
        for each in self.tested:
            if each.mismatched:
                sentence = (
                    f"the reader {each.consumer.name} declares {each.consumer.fidelity.value} and answers otherwise"
                )
                ids = tuple(each.mismatched[:SAMPLE_IDS])
                yield Warned("DECLARATION_FALSE", Severity.BREAK, sentence, len(each.mismatched), ids)
            elif each.consumer.fidelity in {Fidelity.POINTER, Fidelity.NONE} and each.boundaries:
                sentence = f"the reader {each.consumer.name} will get a method boundary, not an answer"
                yield Warned("READER_LOSES", Severity.NOTICE, sentence, each.boundaries)


def _rehearse(taken: Snapshot, actions: Iterator[Action], readers: Readers, watch: Watch) -> _Rehearsed:
    made = _Rehearsed([Tested(each) for each in readers.consumers], {}, [], [])
    with FactsChild(readers.extractors) as child:
        for number, action in enumerate(actions):
            watch.step("rehearsing", number, REHEARSED, "events")
            raw = taken.body(action.seq)
            value = json.loads(raw)
            projected = project(value)
            if not isinstance(projected, Projection) or _digest(projected) != action.core_digest:
                made.changed.append(action.id)
                continue
            facts = child.facts(raw)
            if error := errors_of(facts):
                made.failed[action.seq] = error
                made.names.append(action.id)
                continue
            for each in made.tested:
                each.add(value, projected.core, facts)
    return made


def _digest(projected: Projection) -> str:
    return hashlib.sha256(projected.core_bytes()).hexdigest()

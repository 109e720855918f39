"""Which rows of a stretch between two compactions stood in the context?

The parent walk of Claude Code sessions with its repairs: a missing parent is joined to the row before it in the
file, blocks of one answer and answers of parallel tool calls that the bare walk misses come back, rewound rows are
flagged. A repaired path is a guess that says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from engine.transcripts.build import ItemBuilder
from engine.transcripts.claude_rows import Node, Session
from engine.transcripts.item import Flag
from engine.transcripts.notices import ORDER_DISAGREES, PARENT_CYCLE, PARENT_MISSING, Notices
from engine.transcripts.rounds import Reason
from engine.transcripts.tree import Stop, walk_up

DISAGREEMENT = 0.1
"""Share of rows by which a repaired path may differ from file order before both counts are shown."""


@dataclass(frozen=True, slots=True)
class Base:
    """What a stretch stands on: the context left by the round before, and the rows that lead into it."""

    start: int = 0
    keys: tuple[str, ...] = ()
    uuids: frozenset[str] = frozenset()
    reasons: tuple[Reason, ...] = ()


@dataclass(slots=True)
class Path:
    """The rows since the base, in order, and why the path may not be whole."""

    nodes: list[Node] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)

    def keys(self) -> Iterator[str]:
        """Yield the item keys of the rows that are in context."""
        return (key for node in self.nodes if node.in_context for key in node.keys)


class PathFinder:
    """Finds the path of one stretch after another."""

    def __init__(self, session: Session, builder: ItemBuilder, notices: Notices) -> None:
        self._session = session
        self._builder = builder
        self._notices = notices

    def find(self, base: Base, stop: int) -> Path:
        """Return the rows between `base` and row index `stop` that stood in the context."""
        main = [n for n in self._session.nodes[base.start : stop] if _main(n) and n.uuid not in base.uuids]
        speakers = [n for n in main if n.kind != "attachment"]
        path = Path()
        if not speakers:
            return path
        self._walk(speakers[-1], main, base, path)
        path.nodes.reverse()
        siblings = _siblings(path.nodes, speakers)
        path.nodes = list(_merge(path.nodes, siblings))
        self._flag_rest(path, speakers)
        return path

    def _walk(self, leaf: Node, main: list[Node], base: Base, path: Path) -> None:
        """Collect rows from the leaf upwards into `path.nodes` (leaf first), joining what is broken."""
        places = [node.index for node in main]
        wanted = {node.uuid for node in main}
        known = _Known(self._session, base.start)
        taken: set[str] = set()
        here: Node | None = leaf
        while here is not None:
            walk = walk_up(here.uuid, self._parent, known, _Either(base.uuids, taken))
            taken.update(walk.path)
            nodes = [self._node(uuid) for uuid in walk.path]
            path.nodes.extend(node for node in nodes if node.uuid in wanted)
            last = nodes[-1] if nodes else here
            if walk.stop is Stop.BASE and walk.at in base.uuids:
                return
            here = self._repair(walk.stop, last, main, places, base, path)
            while here is not None and here.uuid in taken:
                here = _before(here, main, places)

    def _repair(
        self, stop: Stop, last: Node, main: list[Node], places: list[int], base: Base, path: Path
    ) -> Node | None:
        """Say why a walk ended short of its base and return the row to go on from, if any."""
        if stop is Stop.ROOT and base.start == 0:
            return None
        before = _before(last, main, places)
        if stop is Stop.MISSING and base.start == 0 and before is None:
            path.reasons.append(Reason.HEAD_MISSING)
            return None
        path.reasons.append(Reason.REPAIRED_PATH)
        self._notices.add(PARENT_CYCLE if stop in (Stop.CYCLE, Stop.BASE) else PARENT_MISSING, last.line)
        self._builder.flag(last.keys, Flag.REPAIRED)
        # A parent in the old history, or a new root, ends at the boundary: nothing of it may come back.
        crosses = stop is Stop.ROOT or (last.parent in self._session.by_uuid and stop is Stop.MISSING)
        return None if crosses and base.start else before

    def _flag_rest(self, path: Path, speakers: list[Node]) -> None:
        on_path = {node.uuid for node in path.nodes}
        rest = [node for node in speakers if node.uuid not in on_path]
        for node in rest:
            self._builder.flag(node.keys, Flag.OFF_PATH)
        if rest and Reason.REPAIRED_PATH in path.reasons and len(rest) > DISAGREEMENT * len(speakers):
            self._notices.add(
                ORDER_DISAGREES,
                speakers[-1].line,
                claimed=f"{len(speakers)} rows in file order",
                found=f"{len(speakers) - len(rest)} rows on the path",
            )

    def _node(self, uuid: str) -> Node:
        return self._session.nodes[self._session.by_uuid[uuid]]

    def _parent(self, uuid: str) -> str | None:
        return self._node(uuid).parent


class _Known:
    """The rows a walk may enter: those of the file from the start of the stretch on."""

    def __init__(self, session: Session, start: int) -> None:
        self._session = session
        self._start = start

    def __contains__(self, uuid: object) -> bool:
        index = self._session.by_uuid.get(uuid) if isinstance(uuid, str) else None
        return index is not None and index >= self._start


@dataclass(frozen=True, slots=True)
class _Either:
    """The ids of two sets, without copying them."""

    one: Container[str]
    other: Container[str]

    def __contains__(self, uuid: object) -> bool:
        return uuid in self.one or uuid in self.other


def _main(node: Node) -> bool:
    return node.kind in ("user", "assistant", "attachment") and not node.side_chain


def _before(node: Node, main: list[Node], places: list[int]) -> Node | None:
    position = bisect_left(places, node.index)
    return main[position - 1] if position else None


def _siblings(path: list[Node], speakers: list[Node]) -> list[Node]:
    """Return rows off the path that belong to an answer on it: its other blocks, and results of its calls."""
    on_path = {node.uuid for node in path}
    runs = {node.run for node in path if node.kind == "assistant"}
    found = [n for n in speakers if n.kind == "assistant" and n.run in runs and n.uuid not in on_path]
    calls = {call for node in (*path, *found) for call in node.calls}
    answered = {call for node in path for call in node.answers}
    for node in speakers:
        fresh = node.answers & calls - answered
        if node.kind == "user" and node.uuid not in on_path and fresh:
            found.append(node)
            answered |= fresh
    return sorted(found, key=lambda node: node.index)


def _merge(path: Iterable[Node], siblings: list[Node]) -> Iterator[Node]:
    waiting = iter(siblings)
    sibling = next(waiting, None)
    for node in path:
        while sibling is not None and sibling.index < node.index:
            yield sibling
            sibling = next(waiting, None)
        yield node
    while sibling is not None:
        yield sibling
        sibling = next(waiting, None)

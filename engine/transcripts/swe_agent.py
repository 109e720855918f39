"""SWE-agent trajectories: what was the model given at each step, and what had been taken out?

Every step stores the whole input of its model call, so a compaction is the difference of two neighbouring inputs.
Pre is the earlier input and whatever the later one added at its end, post is the later input. Where old messages were
not just replaced in place, what stood between the two calls is not stored and pre is partial. The answer to the last
input stands in no input and is not part of the context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import CannotLookError
from engine.findings import Code, Severity
from engine.lines.source import Source
from engine.transcripts.build import Block, ItemBuilder, placeholder_block, result_block
from engine.transcripts.item import ContextItem, Flag, Kind, Place
from engine.transcripts.notices import NOT_AN_OBJECT, Notices
from engine.transcripts.openai_messages import message_blocks
from engine.transcripts.options import ReadOptions, Watch
from engine.transcripts.rounds import CompactionRound, Reason, RoundKind, SourceFile, Transcript
from engine.transcripts.rows import read_document
from engine.transcripts.sides import make_side

TRAJECTORY = re.compile(rb'(?<!\\)"trajectory"\s*:\s*\[')
OPENS_WITH_TRAJECTORY = re.compile(rb'\A\s*\{[^{}\[\]]*"trajectory"\s*:\s*\[')
CLEARED_OUTPUT = re.compile(r"Old (?:environment|observation) output: \(\d+ lines? omitted\)")

INPUT_MISSING = Code(
    "swe_agent_input_missing", Severity.NOTICE, "this step does not hold its model input and was left out"
)


class SweAgentReader:
    """Reads `.traj` files of SWE-agent."""

    name = "swe-agent"
    extensions = (".traj", ".json")
    describes = "SWE-agent trajectory"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the trajectory list."""
        if OPENS_WITH_TRAJECTORY.match(head):
            return 95
        found = head.lstrip().startswith(b"{") and TRAJECTORY.search(head)
        return (90 if name.endswith(".traj") else 60) if found else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one trajectory; raises `CannotLookError` when the file is no document with a list of steps."""
        notices = Notices()
        document, file = read_document(source, options, notices)
        steps = document.get("trajectory") if isinstance(document, dict) else None
        if not isinstance(steps, list):
            raise CannotLookError(
                "trajectory_missing", "expected a document with a list of steps, found none", where=source.name
            )
        inputs = _Inputs(ItemBuilder(notices), notices, file)
        watch = Watch(options, "read steps", len(steps), "steps")
        for number, step in enumerate(steps, 1):
            watch.at(number)
            inputs.step(number, step)
        return Transcript(
            format=self.name,
            sources=(file,),
            items=inputs.builder.items,
            messages=inputs.builder.messages,
            rounds=tuple(inputs.rounds),
            context=_keys(inputs.last),
            notices=notices.findings(),
        )


@dataclass(frozen=True, slots=True)
class _Message:
    """One message of an input: what the file says and the keys it was given."""

    raw: Any
    keys: tuple[str, ...]


class _Inputs:
    """Compares each input with the one before it."""

    def __init__(self, builder: ItemBuilder, notices: Notices, file: SourceFile) -> None:
        self.builder = builder
        self.rounds: list[CompactionRound] = []
        self.last: list[_Message] = []
        self._notices = notices
        self._place = Place(file.name, 1, 0, file.size)
        self._parts = 0

    def step(self, number: int, step: Any) -> None:
        """Take the input of one step; a change of what stood there before is a round."""
        found = _input_of(step)
        if found is None:
            self._notices.add(INPUT_MISSING, field=f"trajectory[{number - 1}]")
            return
        before = self.last
        self.last = [self._message(position, raw) for position, raw in enumerate(found)]
        shared = min(len(before), len(self.last))
        changed = [at for at in range(shared) if not self._same(before[at], self.last[at])]
        if changed or len(self.last) < len(before):
            self._round(before, changed)

    def _message(self, position: int, raw: Any) -> _Message:
        if position < len(self.last) and self.last[position].raw == raw:
            return self.last[position]
        if not isinstance(raw, dict):
            self._notices.add(NOT_AN_OBJECT, field=f"messages[{position}]")
            return _Message(raw, ())
        self._parts += 1
        return _Message(raw, self.builder.add(raw, _blocks(raw), self._place, part=self._parts))

    def _same(self, old: _Message, new: _Message) -> bool:
        digests = [self._item(key).digest for key in old.keys]
        return old is new or digests == [self._item(key).digest for key in new.keys]

    def _item(self, key: str) -> ContextItem:
        return self.builder.items[key]

    def _round(self, before: Sequence[_Message], changed: Sequence[int]) -> None:
        in_place = len(self.last) >= len(before)
        pre = _keys([*before, *self.last[len(before) :]] if in_place else before)
        cleared = [self._item(key) for at in changed for key in self.last[at].keys]
        reasons: tuple[Reason, ...] = (Reason.NOT_RECORDED,)
        if in_place and cleared and all(Flag.CLEARED in item.flags for item in cleared):
            kind, reasons = RoundKind.TOOL_CLEAR, ()
        elif not changed:
            kind = RoundKind.TRUNCATE
        else:
            kind = RoundKind.HISTORY_REPLACEMENT
        self.rounds.append(
            CompactionRound(
                index=len(self.rounds) + 1,
                kind=kind,
                pre=make_side(self.builder, pre, reasons, notices=self._notices, line=None),
                post=make_side(self.builder, _keys(self.last), (), notices=self._notices, line=None),
            )
        )


def _input_of(step: Any) -> list[Any] | None:
    """Return the model input of a step (`query` in newer files, `messages` in older ones)."""
    if not isinstance(step, dict):
        return None
    for name in ("query", "messages"):
        found = step.get(name)
        if isinstance(found, list):
            return found
    return None


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    """Cut one message; an observation is a tool result whatever its role is, an omitted one a placeholder."""
    blocks = message_blocks(message)
    if len(blocks) != 1 or blocks[0].kind not in (Kind.TOOL_RESULT, Kind.PROMPT):
        return blocks
    text = blocks[0].text
    if CLEARED_OUTPUT.match(text):
        return [placeholder_block(text)]
    return [result_block(text)] if message.get("message_type") == "observation" and text else blocks


def _keys(messages: Sequence[_Message]) -> tuple[str, ...]:
    return tuple(key for message in messages for key in message.keys)


SWE_AGENT = SweAgentReader()

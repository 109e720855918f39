"""GitHub Copilot CLI event logs: what stood in the context around each compaction?

A compaction runs beside the conversation: events between its start and its end stay in the context. Pre is every main
event up to the start, post the summary and every event after the start. The log does not say which older messages
stay beside the summary, nor which a truncation took, so those sides are partial. Sub-agent events are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.findings import Code, Finding, Severity
from engine.lines.source import Source
from engine.transcripts.blocks import tool_result
from engine.transcripts.build import Block, ItemBuilder, call_block, text_block
from engine.transcripts.item import Flag, Kind, Role
from engine.transcripts.notices import NOT_AN_OBJECT, REPEATED_ROWS, Notices
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import Claimed, CompactionRound, Reason, RoundKind, Transcript
from engine.transcripts.rows import Row, Rows
from engine.transcripts.sides import claimed_count, claimed_word, make_side

SESSION_START = re.compile(rb'"type"\s*:\s*"session\.start"')
CONTENT = frozenset({"user.message", "assistant.message", "system.message", "tool.execution_complete"})
OUTSIDE = re.compile(r"(session|assistant|tool|hook|subagent|user|abort|skill)\b.*")

TRUNCATION_UNRECORDED = Code(
    "copilot_truncation_unrecorded", Severity.NOTICE, "the tool cut its context here and did not record which messages"
)
REWOUND = Code("copilot_rewound", Severity.NOTICE, "the session was rewound here")
ATTEMPT_FAILED = Code("copilot_attempt_failed", Severity.NOTICE, "a compaction was begun here and failed")
START_MISSING = Code("copilot_start_missing", Severity.NOTICE, "a compaction ended here whose start is not in the file")


@dataclass(frozen=True, slots=True)
class Event:
    """One event in the context."""

    id: str
    keys: tuple[str, ...]


class CopilotCliReader:
    """Reads `events.jsonl` of Copilot CLI."""

    name = "copilot-cli"
    extensions = (".jsonl",)
    describes = "GitHub Copilot CLI event log"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the start event."""
        del name
        if SESSION_START.search(head.partition(b"\n")[0]):
            return 95
        return 70 if b'"session.compaction_start"' in head or b'"assistant.turn_start"' in head else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one session."""
        notices = Notices()
        replay = _Replay(ItemBuilder(notices), notices)
        rows = Rows(source, options, notices)
        for row in rows:
            replay.take(row)
        replay.finish()
        return Transcript(
            format=self.name,
            sources=(rows.source_file(),),
            items=replay.builder.items,
            messages=replay.builder.messages,
            rounds=tuple(replay.rounds),
            context=replay.keys(len(replay.context)),
            notices=notices.findings(),
            failed_attempts=tuple(replay.failed),
            session=replay.session,
            tool_version=replay.version,
        )


class _Replay:
    """Holds the context while the events are replayed."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.builder = builder
        self.context: list[Event] = []
        self.rounds: list[CompactionRound] = []
        self.failed: list[Finding] = []
        self.session: str | None = None
        self.version: str | None = None
        self._notices = notices
        self._reasons: tuple[Reason, ...] = ()
        self._start: tuple[int, Row] | None = None
        self._seen: set[str] = set()
        self._repeats = 0

    def keys(self, stop: int) -> tuple[str, ...]:
        """Return the keys of the first events of the context."""
        return tuple(key for event in self.context[:stop] for key in event.keys)

    def finish(self) -> None:
        """Note what was counted."""
        if self._repeats:
            self._notices.add(REPEATED_ROWS, found=str(self._repeats))

    def take(self, row: Row) -> None:
        """Replay one event."""
        value = row.value
        if not isinstance(value, dict):
            self._notices.add(NOT_AN_OBJECT, row.place.line)
            return
        native = value.get("id")
        if isinstance(native, str) and native in self._seen:
            self._repeats += 1
            return
        self._seen.add(str(native))
        data = value.get("data")
        self._event(row, str(value.get("type")), data if isinstance(data, dict) else {})

    def _event(self, row: Row, kind: str, data: Mapping[str, Any]) -> None:
        if kind in CONTENT:
            self._content(row, kind, data)
            return
        match kind:
            case "session.start":
                self.session = claimed_word(data.get("sessionId"))
                self.version = claimed_word(data.get("copilotVersion"))
            case "session.compaction_start":
                self._start = (len(self.context), row)
            case "session.compaction_complete":
                self._complete(row, data)
            case "session.truncation":
                self._notices.add(TRUNCATION_UNRECORDED, row.place.line)
                self._reasons = (*self._reasons, Reason.NOT_RECORDED)
            case "session.snapshot_rewind":
                self._rewind(row, data)
            case _ if not OUTSIDE.fullmatch(kind):
                self._notices.unknown(kind, row.place.line)
            case _:
                pass

    def _content(self, row: Row, kind: str, data: Mapping[str, Any]) -> None:
        if data.get("parentToolCallId") or data.get("parentAgentTaskId"):
            return  # a sub-agent's own conversation
        value = row.value
        native = value.get("id") if isinstance(value.get("id"), str) else None
        time = value.get("timestamp")
        keys = self.builder.add(data, _blocks(kind, data), row.place, native_id=native, time=time, flags=row.flags)
        self.context.append(Event(str(native), keys))

    def _complete(self, row: Row, data: Mapping[str, Any]) -> None:
        if data.get("success") is False:
            self.failed.append(Finding(ATTEMPT_FAILED, row.place.line))
            self._start = None
            return
        if self._start is None:
            self._notices.add(START_MISSING, row.place.line)
        begun, start = self._start or (len(self.context), row)
        self._start = None
        text = data.get("summaryContent")
        summary: list[Event] = []
        if isinstance(text, str) and text:
            native = str(row.value.get("id"))
            blocks = [text_block(Role.USER, Kind.SUMMARY, text)]
            time = row.value.get("timestamp")
            summary = [Event(native, self.builder.add(data, blocks, row.place, native_id=native, time=time))]
        line = start.place.line
        before = [*self._reasons, Reason.ATTACHMENTS_UNCHECKED]
        after = [Reason.NOT_RECORDED] if summary else [Reason.NOT_RECORDED, Reason.SUMMARY_MISSING]
        pre = make_side(self.builder, self.keys(begun), before, notices=self._notices, line=line)
        self.context = [*summary, *self.context[begun:]]
        self._reasons = tuple(after)
        post = make_side(self.builder, self.keys(len(self.context)), after, notices=self._notices, line=row.place.line)
        key = summary[0].keys[0] if summary else None
        claimed = _claimed(data, start.value.get("timestamp"), row.value.get("timestamp"))
        number = len(self.rounds) + 1
        self.rounds.append(CompactionRound(number, RoundKind.SUMMARY, pre, post, key, claimed, row.place.line))

    def _rewind(self, row: Row, data: Mapping[str, Any]) -> None:
        target = data.get("upToEventId", data.get("eventId"))
        position = next((i for i, event in enumerate(self.context) if event.id == target), None)
        if position is None:
            self._reasons = (*self._reasons, Reason.NOT_RECORDED)
        else:
            for event in self.context[position:]:
                self.builder.flag(event.keys, Flag.OFF_PATH)
            del self.context[position:]
        self._notices.add(REWOUND, row.place.line)


def _claimed(data: Mapping[str, Any], started: object, ended: object) -> Claimed:
    used = data.get("compactionTokensUsed")
    return Claimed(
        trigger=claimed_word(data.get("trigger")),
        method="summary",
        model=claimed_word(used.get("model")) if isinstance(used, dict) else None,
        tokens_before=claimed_count(data.get("preCompactionTokens")),
        tokens_after=claimed_count(data.get("postCompactionTokens")),
        started=claimed_word(started),
        ended=claimed_word(ended),
    )


def _blocks(kind: str, data: Mapping[str, Any]) -> list[Block]:
    content = data.get("content")
    text = content if isinstance(content, str) else ""
    match kind:
        case "user.message":
            return [text_block(Role.USER, Kind.PROMPT, text)]
        case "system.message":
            return [text_block(Role.SYSTEM, Kind.PROMPT, text)]
        case "tool.execution_complete":
            result = data.get("result")
            return [tool_result(result.get("content") if isinstance(result, dict) else result)]
        case _:
            requests = data.get("toolRequests")
            calls = [r for r in requests if isinstance(r, dict)] if isinstance(requests, list) else []
            said = [text_block(Role.ASSISTANT, Kind.REPLY, text)] if text or not calls else []
            return [*said, *(call_block(str(call.get("name")), call.get("arguments")) for call in calls)]


COPILOT_CLI = CopilotCliReader()

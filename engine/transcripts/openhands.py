"""OpenHands event lists: which events did each condensation leave in the view?

One JSON array or one event a line. In the older shape (`action`, `observation`) the view is all events without every
id forgotten so far, with only the last summary at its offset; in the newer one (`kind`) condensations apply in order
and a summary is an event that can be forgotten later. A request for a condensation is none. Observation masking and
browser-output condensers leave no record: a view that they cut cannot be told from a whole one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine.findings import Code, Severity
from engine.lines.source import Source
from engine.transcripts.build import ItemBuilder, text_block
from engine.transcripts.item import Kind, Role
from engine.transcripts.notices import NOT_AN_OBJECT, REPEATED_ROWS, UNTESTED_FORMAT, Notices
from engine.transcripts.openhands_events import event_blocks, is_silent
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import Claimed, CompactionRound, RoundKind, Transcript
from engine.transcripts.rows import Row, Rows
from engine.transcripts.sides import claimed_word, make_side

NEW_SHAPE = re.compile(rb'"kind"\s*:\s*"(MessageEvent|ActionEvent|ObservationEvent|SystemPromptEvent|Condensation)"')
OLD_SHAPE = re.compile(rb'"source"\s*:\s*"(user|agent|environment)"')
OLD_VERB = re.compile(rb'"(action|observation)"\s*:\s*"')
MAX_DIGITS = 20

FORGOT_NOTHING = Code(
    "openhands_forgot_nothing", Severity.NOTICE, "this condensation forgot no event; it counts as a round without drops"
)
FORGOT_UNKNOWN = Code(
    "openhands_forgot_unknown", Severity.NOTICE, "this condensation names events that are not in the view"
)


class OpenHandsReader:
    """Reads OpenHands events."""

    name = "openhands"
    extensions = (".json", ".jsonl")
    describes = "OpenHands event list"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the shape of the events."""
        del name
        if NEW_SHAPE.search(head):
            return 90
        return 75 if OLD_SHAPE.search(head) and OLD_VERB.search(head) else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one conversation."""
        notices = Notices()
        view = _View(ItemBuilder(notices), notices)
        rows = Rows(source, options, notices)
        for row in rows:
            view.take(row)
        if view.rounds:
            notices.add(UNTESTED_FORMAT)
        if view.repeats:
            notices.add(REPEATED_ROWS, found=str(view.repeats))
        return Transcript(
            format=self.name,
            sources=(rows.source_file(),),
            items=view.builder.items,
            messages=view.builder.messages,
            rounds=tuple(view.rounds),
            context=view.keys(),
            notices=notices.findings(),
        )


class _View:
    """What the model sees, event by event."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.builder = builder
        self.rounds: list[CompactionRound] = []
        self.repeats = 0
        self._notices = notices
        self._events: dict[str, tuple[str, ...]] = {}
        self._summary: str | None = None  # of the older shape: only the last one stands
        self._seen: set[str] = set()

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the present view."""
        return tuple(key for keys in self._events.values() for key in keys)

    def take(self, row: Row) -> None:
        """Take one event."""
        value = row.value
        if not isinstance(value, dict):
            self._notices.add(NOT_AN_OBJECT, row.place.line)
            return
        native = value.get("id")
        name = str(native) if isinstance(native, str | int) else f"line {row.place.line}.{row.place.offset}"
        if name in self._seen:
            self.repeats += 1
            return
        self._seen.add(name)
        if value.get("kind") == "Condensation":
            self._condense(row, name, value, latest_only=False)
        elif value.get("action") == "condensation":
            args = value.get("args")
            self._condense(row, name, args if isinstance(args, dict) else {}, latest_only=True)
        elif (blocks := event_blocks(value)) is not None:
            known = name if isinstance(native, str | int) else None
            time = value.get("timestamp")
            self._events[name] = self.builder.add(value, blocks, row.place, native_id=known, time=time, flags=row.flags)
        elif not is_silent(value):
            self._notices.unknown(value.get("kind", value.get("action", value.get("observation"))), row.place.line)

    def _condense(self, row: Row, name: str, record: Mapping[str, Any], *, latest_only: bool) -> None:
        line = row.place.line
        pre = make_side(self.builder, self.keys(), (), notices=self._notices, line=line)
        forgotten = _forgotten(record, self._events)
        present = [event for event in forgotten if event in self._events]
        if not forgotten:
            self._notices.add(FORGOT_NOTHING, line)
        elif len(present) < len(forgotten):
            self._notices.add(FORGOT_UNKNOWN, line, claimed=str(len(forgotten)), found=str(len(present)))
        for event in present:
            del self._events[event]
        key = self._insert(row, f"{name}-summary", record, latest_only=latest_only)
        post = make_side(self.builder, self.keys(), (), notices=self._notices, line=line)
        kind = RoundKind.SUMMARY if key else RoundKind.TRUNCATE
        claimed = Claimed(method="condensation", ended=claimed_word(row.value.get("timestamp")))
        self.rounds.append(CompactionRound(len(self.rounds) + 1, kind, pre, post, key, claimed, line))

    def _insert(self, row: Row, name: str, record: Mapping[str, Any], *, latest_only: bool) -> str | None:
        """Put the summary of a condensation at its offset and return its key."""
        text, offset = record.get("summary"), record.get("summary_offset")
        if not isinstance(text, str) or not text:
            return None
        if latest_only and self._summary is not None:
            self._events.pop(self._summary, None)
        blocks = [text_block(Role.USER, Kind.SUMMARY, text)]
        time = row.value.get("timestamp")
        keys = self.builder.add(row.value, blocks, row.place, native_id=name, time=time, flags=row.flags)
        events = list(self._events.items())
        place = offset if isinstance(offset, int) and 0 <= offset <= len(events) else len(events)
        self._events = dict([*events[:place], (name, keys), *events[place:]])
        self._summary = name
        return keys[0]


def _forgotten(record: Mapping[str, Any], present: Iterable[str]) -> list[str]:
    """Return the ids a condensation forgets: a list, or all present ones from a first to a last number."""
    listed = record.get("forgotten_event_ids")
    if isinstance(listed, list):
        return list(dict.fromkeys(str(name) for name in listed if isinstance(name, str | int)))
    first, last = record.get("forgotten_events_start_id"), record.get("forgotten_events_end_id")
    if isinstance(first, int) and isinstance(last, int):
        # Walked over what is there: a hostile span costs no more than the session.
        return [name for name in present if name.isdecimal() and len(name) < MAX_DIGITS and first <= int(name) <= last]
    return []


OPENHANDS = OpenHandsReader()

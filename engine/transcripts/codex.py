"""Codex CLI sessions: what stood in the context before and after each compaction?

The same replay as the tool's own resume: response items are appended; a `compacted` record replaces the context by
its `replacement_history`; a rollback drops the last user turns. Event messages repeat response items and are never
read as content. A remote compaction ends in an encrypted summary: identity is exact, text is not visible. Old records
without a history are rebuilt by the rule of their time and say so. Base instructions are not part of the items. Rows
that a fork copied from its parent cannot be told from its own; only the parent is named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.findings import Code, Severity
from engine.lines.source import Source
from engine.transcripts.build import ItemBuilder, text_block
from engine.transcripts.codex_items import (
    COMPACTION_TYPES,
    NOT_CONTEXT,
    SUMMARY_PREFIX,
    is_user_turn,
    item_blocks,
    message_text,
)
from engine.transcripts.item import Flag, Kind, Place, Role
from engine.transcripts.notices import COPIED_ROWS, NOT_AN_OBJECT, Notices
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import Claimed, CompactionRound, Reason, RoundKind, Side, Transcript
from engine.transcripts.rows import Row, Rows
from engine.transcripts.sides import claimed_count, claimed_word, head_looks_missing, make_side

ENVELOPE = re.compile(rb'"timestamp"\s*:\s*"[^"]*"\s*,\s*"type"\s*:\s*"[a-z_]+"\s*,\s*"payload"\s*:')
LEGACY_BUDGET_BYTES = 20_000 * 4
"""The old rebuild kept user messages inside 20,000 tokens, counted as four bytes each."""

ROLLED_BACK = Code("codex_rolled_back", Severity.NOTICE, "user turns were rolled back and left the context here")
REFERENCE_UNRESOLVED = Code(
    "codex_reference_unresolved", Severity.NOTICE, "the history refers to an item that is not in this file"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One response item in the context."""

    keys: tuple[str, ...]
    raw: Any
    user_turn: bool = False

    @property
    def wire(self) -> str:
        """Return the raw item as comparable text."""
        return json.dumps(self.raw, sort_keys=True)


class CodexReader:
    """Reads rollout files of Codex CLI (JSON Lines, one log)."""

    name = "codex"
    extensions = (".jsonl",)
    describes = "Codex CLI rollout"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the first record and the envelope of the rows."""
        del name
        if re.search(rb'"type"\s*:\s*"session_meta"', head):
            return 95
        if ENVELOPE.search(head):
            return 80
        return 75 if b'"record_type"' in head and b'"state"' in head else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one session."""
        notices = Notices()
        replay = _Replay(ItemBuilder(notices), notices)
        rows = Rows(source, options, notices)
        for row in rows:
            replay.take(row)
        return Transcript(
            format=self.name,
            sources=(rows.source_file(),),
            items=replay.builder.items,
            messages=replay.builder.messages,
            rounds=tuple(replay.rounds),
            context=replay.keys(),
            notices=notices.findings(),
            session=replay.session,
            tool_version=replay.version,
            parent_session=replay.parent,
        )


class _Replay:
    """Holds the context while the log is replayed."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.builder = builder
        self.rounds: list[CompactionRound] = []
        self.session: str | None = None
        self.version: str | None = None
        self.parent: str | None = None
        self._notices = notices
        self._context: list[Entry] = []
        self._reasons: tuple[Reason, ...] = ()
        self._tokens: int | None = None
        self._model: str | None = None
        self._await_tokens = False
        self._by_id: dict[str, Entry] = {}

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the present context."""
        return tuple(key for entry in self._context for key in entry.keys)

    def take(self, row: Row) -> None:
        """Replay one row."""
        value = row.value
        if not isinstance(value, dict):
            self._notices.add(NOT_AN_OBJECT, row.place.line)
            return
        payload = value.get("payload")
        if isinstance(payload, dict):
            self._enveloped(row, value, payload)
        elif "payload" not in value:
            self._bare(row, value)
        else:
            self._notices.unknown(value.get("type"), row.place.line)

    def _enveloped(self, row: Row, value: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        match value.get("type"):
            case "session_meta":
                self._meta(payload)
            case "response_item":
                self._append(row, payload, value.get("timestamp"))
            case "compacted":
                self._compacted(row, payload, value.get("timestamp"))
            case "event_msg":
                self._event(row, payload)
            case "turn_context":
                self._model = claimed_word(payload.get("model"))
            case "world_state":
                pass
            case kind:
                self._notices.unknown(kind, row.place.line)

    def _meta(self, payload: Mapping[str, Any]) -> None:
        session = claimed_word(payload.get("id"))
        if self.session is None:
            self.session, self.version = session, claimed_word(payload.get("cli_version"))
            self.parent = claimed_word(payload.get("forked_from_id"))
        elif session not in (None, self.session):
            self.parent = self.parent or session
            self._notices.add(COPIED_ROWS, claimed=str(session))

    def _bare(self, row: Row, value: Mapping[str, Any]) -> None:
        """Read a row of the oldest files: the item itself, without an envelope."""
        if "record_type" in value or ("instructions" in value and "id" in value):
            self.session = self.session or claimed_word(value.get("id"))
            return
        self._append(row, value, value.get("timestamp", value.get("created_at")))

    def _append(self, row: Row, item: Mapping[str, Any], time: object) -> None:
        entry = self._entry(row, item, time)
        if entry is not None:
            self._context.append(entry)
            self._await_tokens = False

    def _entry(self, row: Row, item: Mapping[str, Any], time: object, part: int = 0) -> Entry | None:
        if str(item.get("type")) in NOT_CONTEXT:
            return None
        blocks = item_blocks(item)
        if blocks is None:
            self._notices.unknown(item.get("type"), row.place.line)
            return None
        native = item.get("id")
        name = native if isinstance(native, str) and native else None
        keys = self.builder.add(item, blocks, row.place, native_id=name, time=time, flags=row.flags, part=part)
        entry = Entry(keys, item, is_user_turn(item))
        if name is not None:
            self._by_id[name] = entry
        return entry

    def _event(self, row: Row, payload: Mapping[str, Any]) -> None:
        match payload:
            case {"type": "token_count", "info": {"last_token_usage": {"total_tokens": tokens}}}:
                self._tokens = claimed_count(tokens)
                if self._await_tokens and self.rounds:
                    last = self.rounds[-1]
                    self.rounds[-1] = replace(last, claimed=replace(last.claimed, tokens_after=self._tokens))
                self._await_tokens = False
            case {"type": "thread_rolled_back", "num_turns": int(turns)}:
                self._roll_back(row.place, turns)
            case _:
                pass  # repeats of response items, and notices for the screen

    def _roll_back(self, place: Place, turns: int) -> None:
        cut, left = None, turns
        for position in range(len(self._context) - 1, -1, -1):
            if left <= 0:
                break
            if self._context[position].user_turn:
                cut, left = position, left - 1
        if cut is None:
            return
        for entry in self._context[cut:]:
            self.builder.flag(entry.keys, Flag.OFF_PATH)
        del self._context[cut:]
        self._notices.add(ROLLED_BACK, place.line, found=str(turns))

    def _compacted(self, row: Row, payload: Mapping[str, Any], time: object) -> None:
        keys = self.keys()
        # Later contexts hold encrypted summaries, whose text cannot be weighed against tokens.
        cut = not self.rounds and head_looks_missing(self.builder, keys, self._tokens)
        reasons = [*self._reasons, Reason.HEAD_MISSING] if cut else [*self._reasons]
        pre = make_side(self.builder, keys, reasons, notices=self._notices, line=row.place.line)
        message = payload.get("message")
        text = message if isinstance(message, str) else ""
        history, reasons = self._history(row, payload, time)
        if history is None:
            history, reasons = self._legacy(row, text, time), [Reason.LEGACY_REBUILD]
        summary = self._summary(history, text)
        if summary is None:
            reasons.append(Reason.SUMMARY_MISSING)
        elif self.builder.items[summary].kind is Kind.OPAQUE:
            reasons.append(Reason.SUMMARY_ENCRYPTED)
        self._context = history
        self._reasons = tuple(reasons)
        post = make_side(self.builder, self.keys(), reasons, notices=self._notices, line=row.place.line)
        self._close(row, pre, post, summary, method="local" if text else "remote", time=time)

    def _close(self, row: Row, pre: Side, post: Side, summary: str | None, *, method: str, time: object) -> None:
        claimed = Claimed(
            method=method, model=self._model, tokens_before=self._tokens or None, ended=claimed_word(time)
        )
        line = row.place.line
        kind = RoundKind.HISTORY_REPLACEMENT
        self.rounds.append(CompactionRound(len(self.rounds) + 1, kind, pre, post, summary, claimed, line))
        self._await_tokens = True

    def _history(self, row: Row, payload: Mapping[str, Any], time: object) -> tuple[list[Entry] | None, list[Reason]]:
        """Read the history a record brings; entries equal to what stands in the context keep their items."""
        given = payload.get("replacement_history", payload.get("replacement_history_entries"))
        if not isinstance(given, list):
            return None, []
        waiting: dict[str, list[Entry]] = {}
        for entry in reversed(self._context):
            waiting.setdefault(entry.wire, []).append(entry)
        found: list[Entry] = []
        reasons: list[Reason] = []
        for part, raw in enumerate(given, 1):
            known = self._history_entry(row, raw, waiting, time, part)
            if known is None:
                self._notices.add(REFERENCE_UNRESOLVED, row.place.line, field=f"replacement_history.{part - 1}")
                reasons.append(Reason.TAIL_UNRESOLVED)
            else:
                found.append(known)
        return found, reasons

    def _history_entry(
        self, row: Row, raw: Any, waiting: dict[str, list[Entry]], time: object, part: int
    ) -> Entry | None:
        if not isinstance(raw, dict):
            return None
        if isinstance(raw.get("item"), dict):
            raw = raw["item"]
        if "type" not in raw and "role" not in raw:
            return self._by_id.get(str(raw.get("item_id")))
        same = waiting.get(json.dumps(raw, sort_keys=True))
        return same.pop() if same else self._entry(row, raw, time, part)

    def _summary(self, history: list[Entry], text: str) -> str | None:
        """Return the key of the summary: the encrypted item, or the user message that carries the text."""
        for entry in reversed(history):
            if isinstance(entry.raw, dict) and str(entry.raw.get("type")) in COMPACTION_TYPES:
                return entry.keys[0]
            found = message_text(entry.raw)
            if found and ((text and text in found) or found.startswith(SUMMARY_PREFIX)):
                return entry.keys[0]
        return None

    def _legacy(self, row: Row, text: str, time: object) -> list[Entry]:
        """Rebuild the context of a record without history: newest user prompts inside the budget, then the summary."""
        left = LEGACY_BUDGET_BYTES
        kept: list[Entry] = []
        for entry in reversed(self._context):
            prompt = message_text(entry.raw) if entry.user_turn else None
            if prompt is None:
                continue
            size = len(prompt.encode("utf-8", "surrogatepass"))
            if size > left:
                kept.append(self._cut(row, prompt, left, time))
                break
            kept.append(entry)
            left -= size
        kept.reverse()
        if text:
            raw = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            blocks = [text_block(Role.USER, Kind.SUMMARY, text)]
            kept.append(Entry(self.builder.add(raw, blocks, row.place, time=time, part=1), raw))
        return kept

    def _cut(self, row: Row, prompt: str, left: int, time: object) -> Entry:
        """Cut the oldest prompt in the middle, as the old rebuild did."""
        data = prompt.encode("utf-8", "replace")
        half = left // 2
        text = f"{data[:half].decode('utf-8', 'ignore')}…{data[len(data) - half :].decode('utf-8', 'ignore')}"
        raw = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        flags = frozenset({Flag.REPAIRED})
        blocks = [text_block(Role.USER, Kind.PROMPT, text)]
        return Entry(self.builder.add(raw, blocks, row.place, time=time, flags=flags, part=2), raw, user_turn=True)


CODEX = CodexReader()

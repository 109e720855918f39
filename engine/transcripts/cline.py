"""Cline sessions: what did the latest compaction take from the stored conversation?

The newer Cline keeps the whole conversation in `<id>.messages.json` and the latest compaction in `<id>.compaction.json`
beside it; the older keeps `api_conversation_history.json` and names a deleted range in `ui_messages.json`. Only the
latest compaction is stored. Pre is the part of the conversation that was compacted, post the messages in its place;
messages after it belong to the context, not to the round. Several records of one session are alternatives over the
same conversation. A sidecar without its conversation has a post side only.
The system prompt is never compacted and stands in neither side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import CannotLookError
from engine.findings import Code, Severity
from engine.lines.source import Source
from engine.transcripts.blocks import content_blocks
from engine.transcripts.build import Block, ItemBuilder, opaque_block, text_block
from engine.transcripts.cline_prefix import Prefix, compare_prefix
from engine.transcripts.cline_siblings import MESSAGES_ENDING, SIDECAR_ENDING, siblings
from engine.transcripts.companion import companion
from engine.transcripts.item import Kind, Place, Role
from engine.transcripts.notices import NOT_AN_OBJECT, Notices
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import (
    Claimed,
    CompactionRound,
    Reason,
    RoundKind,
    Side,
    SideState,
    SourceFile,
    Transcript,
)
from engine.transcripts.rows import read_document
from engine.transcripts.sides import claimed_count, claimed_word, make_side

CLASSIC_NAME = "api_conversation_history.json"
CLASSIC_EVENTS = "ui_messages.json"
SIDECAR_FIELDS = ("source_message_count", "source_prefix_hash", "source_last_message_key")
SESSION = re.compile(rb'\A\s*\{([^{}\[\]]*)"messages"\s*:\s*\[')
CHAT_ARRAY = re.compile(rb'\A\s*\[\s*\{[^{}\[\]]*"role"\s*:')
RANGE_FIELD = "conversationHistoryDeletedRange"
RANGE_ENDS = 2

SOURCE_NOT_GIVEN = Code(
    "cline_source_not_given",
    Severity.NOTICE,
    "this is the record of a compaction; the conversation it compacted was not given",
    "open the .messages.json file that lies beside it",
)
PREFIX_UNCHECKED = Code(
    "cline_prefix_unchecked",
    Severity.NOTICE,
    "the record does not let it be checked that this conversation is the one that was compacted",
)
ALTERNATIVES = Code(
    "cline_alternatives",
    Severity.NOTICE,
    "several compaction records of this session lie beside it; each round is an alternative, not one after another",
)
RANGE_UNUSABLE = Code("cline_range_unusable", Severity.NOTICE, "the deleted range does not lie inside the conversation")


class ClineReader:
    """Reads Cline conversations, the newer with their compaction sidecar, the older with their event list."""

    name = "cline"
    extensions = (".json",)
    describes = "Cline conversation or compaction record"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the fields before the message list, or by the older file's own name."""
        found = SESSION.match(head)
        fields = found[1] if found else b""
        if b'"version"' in fields and (b'"sessionId"' in fields or b'"conversation_id"' in fields):
            return 90
        if b'"source_message_count"' in fields:
            return 90
        return 60 if CHAT_ARRAY.match(head) and name.replace("\\", "/").endswith(CLASSIC_NAME) else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read a conversation with the record of its latest compaction when that lies beside it on disk."""
        notices = Notices()
        document, file = read_document(source, options, notices)
        if isinstance(document, list):
            return _Session(notices, file).classic(document, _deleted_range(source, options, notices))
        if not isinstance(document, dict):
            raise CannotLookError("conversation_missing", "expected a Cline conversation", where=source.name)
        session = _session_id(document)
        if is_sidecar(document, source.name):
            held = siblings(source, session, MESSAGES_ENDING, options, notices)
            if not held:
                return _Session(notices, file).sidecar_alone(document)
            return _Session(notices, held[0][1]).compacted(held[0][0], [(document, file)])
        records = siblings(source, session, SIDECAR_ENDING, options, notices)
        if not records:
            return _Session(notices, file).conversation(document)
        return _Session(notices, file).compacted(document, records)


def read_with_sidecar(source: Source, sidecar: Source, options: ReadOptions) -> Transcript:
    """Read a conversation with a sidecar that the caller puts beside it (two uploads, say)."""
    notices = Notices()
    document, file = read_document(source, options, notices)
    return _Session(notices, file).compacted(document, [read_document(sidecar, options, notices)])


def is_sidecar(document: Mapping[str, Any], name: str) -> bool:
    """Tell whether a document records a compaction rather than a conversation."""
    if name.endswith(SIDECAR_ENDING) or any(field in document for field in SIDECAR_FIELDS):
        return True
    return any(_metadata(message).get("kind") == "compaction_summary" for message in _listed(document))


class _Session:
    """Builds one transcript."""

    def __init__(self, notices: Notices, file: SourceFile) -> None:
        self._notices = notices
        self._builder = ItemBuilder(notices)
        self._file = file
        self._parts = 0

    def conversation(self, document: Any) -> Transcript:
        """Make a transcript without a round: no compaction is stored."""
        return self._transcript(document, (), self._keys(_listed(document), self._file))

    def sidecar_alone(self, record: Mapping[str, Any]) -> Transcript:
        """Make a round of which only the post side is known."""
        self._notices.add(SOURCE_NOT_GIVEN)
        post = self._keys(_listed(record), self._file)
        pre = Side((), SideState.ABSENT, (Reason.NOT_RECORDED,))
        return self._transcript(record, (self._round(record, pre, post),), post)

    def compacted(self, document: Any, records: Sequence[tuple[Any, SourceFile]]) -> Transcript:
        """Make the round of each compaction record; several are alternatives over one conversation."""
        source = _listed(document)
        keys = [self._keys([message], self._file) for message in source]
        whole = tuple(key for each in keys for key in each)
        rounds: list[CompactionRound] = []
        context = whole
        for record, file in records:
            count, reasons = self._covered(document, record, source)
            before = [key for each in keys[:count] for key in each]
            post = self._keys(_listed(record), file)
            pre = make_side(self._builder, before, reasons, notices=self._notices, line=None)
            rounds.append(replace(self._round(record, pre, post), index=len(rounds) + 1))
            context = (*post, *(key for each in keys[count:] for key in each))
        if len(records) > 1:
            # Nothing says which of them the tool went on from: the stored conversation stands as the context.
            self._notices.add(ALTERNATIVES, found=str(len(records)))
            context = whole
        return self._transcript(document, tuple(rounds), context, *(file for _, file in records))

    def _covered(self, document: Any, record: Any, source: Sequence[Any]) -> tuple[int, list[Reason]]:
        """Return how many messages a record covers, and why that is doubtful."""
        count = record.get("source_message_count") if isinstance(record, dict) else None
        reasons = []
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            count = len(source)
            reasons.append(Reason.SOURCE_COUNT_ASSUMED)
        return count, [*reasons, *self._prefix_reasons(document, record, source, count)]

    def classic(self, messages: Sequence[Any], deleted: tuple[int, int] | None) -> Transcript:
        """Make a round of the range that the older Cline deleted; when it did so is not stored."""
        keys = [self._keys([message], self._file) for message in messages]
        whole = tuple(key for each in keys for key in each)
        if deleted is None:
            return self._transcript({}, (), whole)
        first, last = deleted
        if not 0 <= first <= last < len(messages):
            self._notices.add(RANGE_UNUSABLE, found=f"{first}..{last} of {len(messages)} messages")
            return self._transcript({}, (), whole)
        post = tuple(key for each in (*keys[:first], *keys[last + 1 :]) for key in each)
        reasons = (Reason.SOURCE_COUNT_ASSUMED,)
        round_ = CompactionRound(
            index=1,
            kind=RoundKind.TRUNCATE,
            pre=make_side(self._builder, whole, reasons, notices=self._notices, line=None),
            post=make_side(self._builder, post, reasons, notices=self._notices, line=None),
        )
        return self._transcript({}, (round_,), post)

    def _prefix_reasons(self, document: Any, record: Any, source: Sequence[Any], count: int) -> list[Reason]:
        one, other = _session_id(document), _session_id(record)
        if count > len(source) or (one and other and one != other):
            return [Reason.SOURCE_PREFIX_MISMATCH]
        match compare_prefix(record, source[:count]) if isinstance(record, dict) else Prefix.UNCHECKED:
            case Prefix.DIFFERENT:
                return [Reason.SOURCE_PREFIX_MISMATCH]
            case Prefix.UNCHECKED:
                self._notices.add(PREFIX_UNCHECKED)
                return [Reason.SOURCE_PREFIX_UNCHECKED]
            case Prefix.EQUAL:
                return []

    def _round(self, record: Any, pre: Side, post: tuple[str, ...]) -> CompactionRound:
        summary = next((key for key in post if self._builder.items[key].kind is Kind.SUMMARY), None)
        facts = next((facts for message in _listed(record) if "kind" in (facts := _metadata(message))), {})
        return CompactionRound(
            index=1,
            kind=RoundKind.SUMMARY if summary else RoundKind.HISTORY_REPLACEMENT,
            pre=pre,
            post=make_side(self._builder, post, (), notices=self._notices, line=None),
            summary_key=summary,
            claimed=Claimed(
                trigger=claimed_word(facts.get("reason")),
                method=claimed_word(facts.get("kind")),
                tokens_before=claimed_count(facts.get("tokensBefore")),
                ended=claimed_word(record.get("updated_at")) if isinstance(record, dict) else None,
            ),
        )

    def _keys(self, messages: Sequence[Any], file: SourceFile) -> tuple[str, ...]:
        keys: list[str] = []
        for message in messages:
            if not isinstance(message, dict):
                self._notices.add(NOT_AN_OBJECT, field="messages")
                continue
            self._parts += 1
            native = message.get("id")
            keys += self._builder.add(
                message,
                message_blocks(message),
                Place(file.name, 1, 0, file.size),
                native_id=native if isinstance(native, str) and native else None,
                part=self._parts,
            )
        return tuple(keys)

    def _transcript(
        self,
        document: Any,
        rounds: tuple[CompactionRound, ...],
        context: tuple[str, ...],
        *more: SourceFile,
    ) -> Transcript:
        return Transcript(
            format=ClineReader.name,
            sources=(self._file, *more),
            items=self._builder.items,
            messages=self._builder.messages,
            rounds=rounds,
            context=context,
            notices=self._notices.findings(),
            session=_session_id(document),
        )


def message_blocks(message: Mapping[str, Any]) -> list[Block]:
    """Cut one message; an attached file is a text under its path, a summary is named by its own record."""
    role = Role.ASSISTANT if message.get("role") == "assistant" else Role.USER
    summary = _metadata(message).get("kind") == "compaction_summary"
    plain = Kind.REPLY if role is Role.ASSISTANT else Kind.PROMPT
    content = message.get("content")
    blocks: list[Block] = []
    for part in content if isinstance(content, list) else [content]:
        match part:
            case {"type": "file", "path": str(path), "content": str(text)}:
                blocks.append(text_block(role, Kind.ATTACHMENT, f"{path}\n{text}"))
            case None:
                blocks.append(opaque_block(role, "missing", part))
            case _:
                blocks += content_blocks(role, Kind.SUMMARY if summary else plain, [part])
    return blocks


def _deleted_range(source: Source, options: ReadOptions, notices: Notices) -> tuple[int, int] | None:
    """Return the last range that the event list beside the conversation names."""
    events = companion(source, CLASSIC_NAME, CLASSIC_EVENTS)
    if events is None:
        return None
    document, _ = read_document(events, options, notices)
    for event in reversed(document if isinstance(document, list) else []):
        found = event.get(RANGE_FIELD) if isinstance(event, dict) else None
        if isinstance(found, list) and len(found) == RANGE_ENDS and all(type(end) is int for end in found):
            return found[0], found[1]
    return None


def _listed(document: Any) -> list[Any]:
    messages = document.get("messages") if isinstance(document, dict) else None
    return messages if isinstance(messages, list) else []


def _metadata(message: Any) -> Mapping[str, Any]:
    metadata = message.get("metadata") if isinstance(message, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _session_id(document: Any) -> str | None:
    return claimed_word(document.get("sessionId")) if isinstance(document, dict) else None


CLINE = ClineReader()

"""What did one compaction take in and leave, and how far can each side be trusted?

A transcript is read into items and rounds. What the tool claims stands apart from what is recomputed. A round over a
`partial`, `opaque` or `absent` side proves nothing about what is not visible there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.digests import Difference, difference
from engine.findings import Finding
from engine.transcripts.item import ContextItem


class SideState(StrEnum):
    """How far one side of a round is known."""

    EXACT = "exact"
    PARTIAL = "partial"
    OPAQUE = "opaque"
    ABSENT = "absent"


class RoundKind(StrEnum):
    """How the context was shortened."""

    SUMMARY = "summary"
    TRUNCATE = "truncate"
    TOOL_CLEAR = "tool_clear"
    HISTORY_REPLACEMENT = "history_replacement"


class Reason(StrEnum):
    """Why a side is not exact; the value is the stable word, `sentence` is for people."""

    HEAD_MISSING = "head_missing"
    REPAIRED_PATH = "repaired_path"
    REREAD_FILES_NOT_STORED = "reread_files_not_stored"
    PRESERVED_UNRESOLVED = "preserved_unresolved"
    SUMMARY_ENCRYPTED = "summary_encrypted"
    SUMMARY_MISSING = "summary_missing"
    LEGACY_REBUILD = "legacy_rebuild"
    TAIL_UNRESOLVED = "tail_unresolved"
    SOURCE_COUNT_ASSUMED = "source_count_assumed"
    SOURCE_PREFIX_MISMATCH = "source_prefix_mismatch"
    SOURCE_PREFIX_UNCHECKED = "source_prefix_unchecked"
    SIDE_FILE_NOT_HELD = "side_file_not_held"
    LINES_UNREADABLE = "lines_unreadable"
    NOT_RECORDED = "not_recorded"
    ATTACHMENTS_UNCHECKED = "attachments_unchecked"
    USER_SUPPLIED = "user_supplied"
    CLEARED_INFERRED = "cleared_inferred"
    REDACTED = "redacted"

    @property
    def sentence(self) -> str:
        """Return the sentence shown to the user."""
        return REASON_SENTENCES[self]


REASON_SENTENCES: Mapping[Reason, str] = {
    Reason.HEAD_MISSING: "the beginning of this context is not in the file",
    Reason.REPAIRED_PATH: "a link between messages was missing and was joined by file order",
    Reason.REREAD_FILES_NOT_STORED: "files, todos and memory that the tool re-reads after compacting are not stored",
    Reason.PRESERVED_UNRESOLVED: "the tool kept messages that this file does not contain",
    Reason.SUMMARY_ENCRYPTED: "the summary is encrypted; its text cannot be read here",
    Reason.SUMMARY_MISSING: "the summary item is not in the file",
    Reason.LEGACY_REBUILD: "the old record holds no history; it was rebuilt by the tool's rule of that time",
    Reason.TAIL_UNRESOLVED: "the first kept message is not in this file",
    Reason.SOURCE_COUNT_ASSUMED: "the record does not say how much it compacted; the whole source is assumed",
    Reason.SOURCE_PREFIX_MISMATCH: "the compacted source is not the one held here",
    Reason.SOURCE_PREFIX_UNCHECKED: "whether the compacted source is the one held here could not be checked",
    Reason.SIDE_FILE_NOT_HELD: "a tool result is stored in a side file that was not given",
    Reason.LINES_UNREADABLE: "some lines of the file could not be read",
    Reason.NOT_RECORDED: "this format does not record this side",
    Reason.ATTACHMENTS_UNCHECKED: "attachments are taken as stored; their completeness is not known",
    Reason.USER_SUPPLIED: "both sides were supplied by the user; nothing attests that they belong together",
    Reason.CLEARED_INFERRED: "the tool records only how many results it cleared, not which",
    Reason.REDACTED: "parts were redacted before publication; redaction is not loss",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a round: ordered item keys (repeats allowed), state and reasons."""

    keys: tuple[str, ...]
    state: SideState
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Claimed:
    """What the tool says about the round; nothing here was checked. Token counts are the tool's own."""

    trigger: str | None = None
    method: str | None = None
    model: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    started: str | None = None
    ended: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionRound:
    """One compaction; `index` counts from 1 within the transcript. `line` is the row that records it, if any."""

    index: int
    kind: RoundKind
    pre: Side
    post: Side
    summary_key: str | None = None
    claimed: Claimed = field(default_factory=Claimed)
    line: int | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file a transcript was read from."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session as read: items by key, raw messages by key, rounds in order, failed attempts and notices."""

    format: str
    sources: tuple[SourceFile, ...]
    items: Mapping[str, ContextItem] = field(repr=False)
    messages: Mapping[str, Any] = field(repr=False)
    rounds: tuple[CompactionRound, ...]
    context: tuple[str, ...] = ()
    """Keys of the context as it stands at the end of the file."""
    notices: tuple[Finding, ...] = ()
    failed_attempts: tuple[Finding, ...] = ()
    session: str | None = None
    format_version: str | None = None
    tool_version: str | None = None
    parent_session: str | None = None

    def side_items(self, side: Side) -> tuple[ContextItem, ...]:
        """Return the items of a side in order."""
        return tuple(self.items[key] for key in side.keys)

    def post_text(self, compaction: CompactionRound) -> str:
        """Join the readable text of the post side with blank lines (the text a span audit runs against)."""
        return "\n\n".join(item.text for item in self.side_items(compaction.post) if item.text)


@dataclass(frozen=True, slots=True)
class RoundDifference:
    """What a round did, recomputed from both sides by digest.

    `rewritten` pairs a dropped and an introduced item that carry the same native id and differ in content: both stay
    in their lists as well, so the arithmetic of receipts holds.
    """

    kept: tuple[ContextItem, ...]
    dropped: tuple[ContextItem, ...]
    introduced: tuple[ContextItem, ...]
    rewritten: tuple[tuple[ContextItem, ContextItem], ...]
    positions: Difference


def round_difference(transcript: Transcript, compaction: CompactionRound) -> RoundDifference:
    """Recompute kept, dropped, introduced and rewritten items of one round (multisets by digest).

    Proves nothing about items outside the two sides; see their states.
    """
    pre = transcript.side_items(compaction.pre)
    post = transcript.side_items(compaction.post)
    found = difference([i.digest for i in pre], [i.digest for i in post])
    dropped = tuple(pre[i] for i in found.dropped)
    introduced = tuple(post[i] for i in found.introduced)
    by_id = {(i.native_id, i.block): i for i in dropped if i.native_id is not None}
    rewritten = tuple(
        (by_id[new.native_id, new.block], new)
        for new in introduced
        if new.native_id is not None and (new.native_id, new.block) in by_id
    )
    return RoundDifference(tuple(pre[i] for i, _ in found.kept), dropped, introduced, rewritten, found)


def rewritten_messages(transcript: Transcript, compaction: CompactionRound) -> tuple[str, ...]:
    """Return the native ids that stand on both sides with other content, in the order of the post side.

    A message counts as one however many of its blocks changed, came or went; `RoundDifference.rewritten` pairs blocks.
    """
    pre, post = _digests_by_id(transcript, compaction.pre), _digests_by_id(transcript, compaction.post)
    return tuple(name for name, digests in post.items() if name in pre and pre[name] != digests)


def _digests_by_id(transcript: Transcript, side: Side) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in transcript.side_items(side):
        if item.native_id is not None:
            found.setdefault(item.native_id, []).append(item.digest)
    return found


def side_message_keys(transcript: Transcript, side: Side) -> tuple[str, ...]:
    """Return the raw messages of a side in order, one entry for each run of blocks of one message."""
    keys: list[str] = []
    for item in transcript.side_items(side):
        if not keys or keys[-1] != item.message:
            keys.append(item.message)
    return tuple(keys)

"""Gemini CLI sessions: what stood in the context, and when was it replaced?

The older form is one JSON document that records no compaction, so none is invented. The newer form is a log: a
message line with a known id is a later version of that message, `$rewindTo` takes a message and all after it away,
`$set.messages` replaces the whole context. A replacement that loses or rewrites content is a round; one that only
repeats or completes what was there is none. Whether the model was sent exactly these messages is not in the file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from engine.findings import Code, Severity
from engine.lines.source import Source
from engine.transcripts.build import ItemBuilder
from engine.transcripts.gemini_message import CONTEXT_TYPES, message_blocks
from engine.transcripts.item import Flag, Kind, Place
from engine.transcripts.notices import NOT_AN_OBJECT, UNTESTED_FORMAT, Notices
from engine.transcripts.options import ReadOptions
from engine.transcripts.rounds import CompactionRound, RoundKind, SourceFile, Transcript
from engine.transcripts.rows import Row, Rows, read_document
from engine.transcripts.sides import claimed_word, make_side
from engine.transcripts.streams import readable_head

PROJECT_HASH = re.compile(rb'\A\s*\{[^{}\[\]]*"projectHash"\s*:')
SESSION_ID = re.compile(rb'\A\s*\{[^{}\[\]]*"sessionId"\s*:')
REPLACES = re.compile(rb'(?m)^\s*\{\s*"\$(?:set|rewindTo)"')
OUTSIDE_TYPES = frozenset({"info", "error", "warning"})

REWOUND = Code("gemini_rewound", Severity.NOTICE, "the session was rewound here; later messages left the context")
REWOUND_UNKNOWN = Code(
    "gemini_rewound_unknown",
    Severity.NOTICE,
    "the session was rewound to a message that is not in the file; the tool then starts from nothing",
)


class GeminiReader:
    """Reads Gemini CLI sessions, both as one document and as a log."""

    name = "gemini"
    extensions = (".json", ".jsonl")
    describes = "Gemini CLI session"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the project hash beside the session id, or by the log's own replacement lines."""
        del name
        if PROJECT_HASH.match(head) and b'"sessionId"' in head:
            return 92
        return 85 if SESSION_ID.match(head) and REPLACES.search(head) else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one session in either form."""
        notices = Notices()
        replay = _Replay(ItemBuilder(notices), notices)
        file = _read_log(source, options, replay) if _is_log(source) else _read_document(source, options, replay)
        if replay.rounds:
            notices.add(UNTESTED_FORMAT)
        return Transcript(
            format=self.name,
            sources=(file,),
            items=replay.builder.items,
            messages=replay.builder.messages,
            rounds=tuple(replay.rounds),
            context=replay.keys(),
            notices=notices.findings(),
            session=replay.session,
        )


class _Replay:
    """Holds the context while the log is replayed: message ids in order, each with the keys of its latest version."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.builder = builder
        self.rounds: list[CompactionRound] = []
        self.session: str | None = None
        self.notices = notices
        self._context: dict[str, tuple[str, ...]] = {}
        self._parts = 0

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the context."""
        return tuple(key for keys in self._context.values() for key in keys)

    def take(self, row: Row) -> None:
        """Replay one line of the log."""
        match row.value:
            case {"$rewindTo": str(target)}:
                self._rewind(target, row.place)
            case {"$set": {"messages": list(messages)}}:
                self._replace(messages, row.place, row.flags)
            case {"$set": _}:
                pass
            case {"id": str(_), "type": _}:
                self.add(row.value, row.place, row.flags)
            case {"sessionId": session}:
                self.session = claimed_word(session)
                for message in _listed(row.value):
                    self.add(message, row.place, row.flags)
            case dict():
                self.notices.unknown(next(iter(row.value), ""), row.place.line)
            case _:
                self.notices.add(NOT_AN_OBJECT, row.place.line)

    def add(self, message: Any, place: Place, flags: frozenset[Flag] = frozenset()) -> None:
        """Take one message, or the later version of one, into the context."""
        found = self._built(message, place, flags)
        if found is None:
            return
        superseded = set(self._context.get(found[0], ())) - set(found[1])
        self.builder.flag(superseded, Flag.OFF_PATH)
        self._context[found[0]] = found[1]

    def _built(self, message: Any, place: Place, flags: frozenset[Flag]) -> tuple[str, tuple[str, ...]] | None:
        if not isinstance(message, dict):
            self.notices.add(NOT_AN_OBJECT, place.line)
            return None
        kind = str(message.get("type"))
        if kind not in CONTEXT_TYPES:
            if kind not in OUTSIDE_TYPES:
                self.notices.unknown(kind, place.line)
            return None
        native = message.get("id") if isinstance(message.get("id"), str) else None
        self._parts += 1
        time = message.get("timestamp")
        keys = self.builder.add(
            message, message_blocks(message), place, native_id=native, time=time, flags=flags, part=self._parts
        )
        return native or f"{place.line}.{self._parts}", keys

    def _rewind(self, target: str, place: Place) -> None:
        ids = list(self._context)
        if target not in self._context:
            self.notices.add(REWOUND_UNKNOWN, place.line, found=target)
        else:
            self.notices.add(REWOUND, place.line, found=target)
        for gone in ids[ids.index(target) :] if target in self._context else ids:
            self.builder.flag(self._context.pop(gone), Flag.OFF_PATH)

    def _replace(self, messages: Sequence[Any], place: Place, flags: frozenset[Flag]) -> None:
        old, before = self._context, self.keys()
        built = [self._built(message, place, flags) for message in messages]
        self._context = {found[0]: found[1] for found in built if found is not None}
        if self._only_grows(old):
            return
        post = self.keys()
        summary = next((key for key in post if self.builder.items[key].kind is Kind.SUMMARY), None)
        lost = Counter(before) - Counter(post)
        added = Counter(post) - Counter(before)
        kind = RoundKind.TRUNCATE if lost and not added else RoundKind.HISTORY_REPLACEMENT
        self.rounds.append(
            CompactionRound(
                index=len(self.rounds) + 1,
                kind=RoundKind.SUMMARY if summary else kind,
                pre=make_side(self.builder, before, (), notices=self.notices, line=place.line),
                post=make_side(self.builder, post, (), notices=self.notices, line=place.line),
                summary_key=summary,
                line=place.line,
            )
        )

    def _only_grows(self, old: dict[str, tuple[str, ...]]) -> bool:
        """Tell whether every message of before is still at its place with all it held (a repeat or a completion)."""
        if list(self._context)[: len(old)] != list(old):
            return False
        return all(not self._digests(keys) - self._digests(self._context[name]) for name, keys in old.items())

    def _digests(self, keys: Sequence[str]) -> Counter[str]:
        return Counter(self.builder.items[key].digest for key in keys)


def _is_log(source: Source) -> bool:
    """Tell a log from a document: its first line is one whole object, and messages do not stand inside it."""
    line, _, rest = readable_head(source).lstrip().partition(b"\n")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and (bool(rest.strip()) or not first.get("messages"))


def _read_log(source: Source, options: ReadOptions, replay: _Replay) -> SourceFile:
    rows = Rows(source, options, replay.notices)
    for row in rows:
        replay.take(row)
    return rows.source_file()


def _read_document(source: Source, options: ReadOptions, replay: _Replay) -> SourceFile:
    document, file = read_document(source, options, replay.notices)
    place = Place(source.name, 1, 0, file.size)
    if not isinstance(document, dict):
        replay.notices.add(NOT_AN_OBJECT, 1)
        return file
    replay.session = claimed_word(document.get("sessionId"))
    for message in _listed(document):
        replay.add(message, place)
    return file


def _listed(document: dict[str, Any]) -> list[Any]:
    messages = document.get("messages")
    return messages if isinstance(messages, list) else []


GEMINI = GeminiReader()

"""Sessions exported from opencode: what stood in the context around each compaction?

One JSON document `{info, messages: [{info, parts}]}`. A compaction is a user message with a compaction part, answered
by an assistant message marked as summary; a summary with an error or without a finish is a failed attempt and no
round. Post is the prompt, the summary and, when the record names a kept tail that is in the file, the messages from
there on. Cleared tool results carry the time of clearing; results cleared together are one round, placed before the
first message that began later. Messages stand in file order and are never sorted by time. That the model was sent
the rendered form is the tool's published rule, not proven here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.findings import Code, Finding, Severity
from engine.lines.source import Source
from engine.transcripts.build import ItemBuilder
from engine.transcripts.item import Flag, Place
from engine.transcripts.notices import NOT_AN_OBJECT, REPEATED_ROWS, Notices, shorten
from engine.transcripts.opencode_parts import message_parts
from engine.transcripts.options import ReadOptions, Watch
from engine.transcripts.rounds import Claimed, CompactionRound, Reason, RoundKind, Transcript
from engine.transcripts.rows import read_document
from engine.transcripts.sides import claimed_count, claimed_word, head_looks_missing, make_side
from engine.transcripts.times import time_of_milliseconds

_INFO = re.compile(rb'\A\s*\{\s*"info"\s*:\s*\{')
_MESSAGES = re.compile(rb'"messages"\s*:\s*\[\s*\{\s*"(?:info|parts)"\s*:')
_ALONE = re.compile(rb'\A\s*\{\s*"messages"\s*:\s*\[\s*\{\s*"info"\s*:\s*\{')
_OWN = re.compile(rb'"(?:projectID|slug)"\s*:|"ses_')
CLEARED_TOGETHER_MS = 1000
"""Results cleared within this time of one another, with no message between, were cleared in one pass."""

SUMMARY_FAILED = Code(
    "opencode_summary_failed",
    Severity.NOTICE,
    "a compaction was begun here and its summary failed or never finished; the context stayed as it was",
)
TAIL_UNKNOWN = Code(
    "opencode_tail_unknown",
    Severity.NOTICE,
    "the first kept message is not in this file, as happens in forks; nothing is taken as kept",
)


@dataclass(slots=True)
class Message:
    """One message with its items; `began` is the time it was created, `cleared` the results cleared later."""

    id: str | None
    info: Mapping[str, Any]
    keys: tuple[str, ...]
    prompt: Mapping[str, Any] | None
    began: float | None
    cleared: tuple[tuple[float, str], ...]
    used: bool = True


class OpencodeReader:
    """Reads what `opencode export` writes (one JSON document)."""

    name = "opencode"
    extensions = (".json", ".jsonl")
    describes = "opencode session export"

    def sniff(self, head: bytes, name: str) -> int:
        """Score by the outermost keys and the nested message shape."""
        del name
        if (_INFO.match(head) and _MESSAGES.search(head)) or _ALONE.match(head):
            return 95
        return 75 if _INFO.match(head) and _OWN.search(head) else 0

    def read(self, source: Source, options: ReadOptions) -> Transcript:
        """Read one session."""
        notices = Notices()
        document, file = read_document(source, options, notices)
        session: Mapping[str, Any] = document if isinstance(document, dict) else {}
        found = session.get("info")
        info: Mapping[str, Any] = found if isinstance(found, dict) else {}
        place = Place(source.name, 1, 0, file.size)
        replay = _Replay(ItemBuilder(notices), notices)
        replay.take(session.get("messages"), place, options)
        replay.run(options)
        return Transcript(
            format=self.name,
            sources=(file,),
            items=replay.builder.items,
            messages=replay.builder.messages,
            rounds=tuple(replay.rounds),
            context=tuple(replay.context),
            notices=notices.findings(),
            failed_attempts=tuple(replay.failed),
            session=claimed_word(info.get("id")),
            tool_version=claimed_word(info.get("version")),
            parent_session=claimed_word(info.get("parentID")),
        )


class _Replay:
    """Plays the messages of one session in file order."""

    def __init__(self, builder: ItemBuilder, notices: Notices) -> None:
        self.builder = builder
        self.rounds: list[CompactionRound] = []
        self.failed: list[Finding] = []
        self.context: list[str] = []
        self._notices = notices
        self._messages: list[Message] = []
        self._position: dict[str, int] = {}
        self._shown: dict[str, str] = {}
        self._open: tuple[int, Message] | None = None

    def take(self, messages: object, place: Place, options: ReadOptions) -> None:
        """Cut every message into items."""
        listed = messages if isinstance(messages, list) else []
        watch = Watch(options, "read messages", len(listed), "messages")
        repeats = 0
        for number, raw in enumerate(listed):
            watch.at(number)
            info = raw.get("info") if isinstance(raw, dict) else None
            if not isinstance(info, dict):
                self._notices.add(NOT_AN_OBJECT, place.line, field=f"messages[{number}]")
                continue
            native = claimed_word(info.get("id"))
            if native is not None and native in self._position:
                repeats += 1
                continue
            if native is not None:
                self._position[native] = len(self._messages)
            self._messages.append(self._message(raw, info, native, place, number))
        if repeats:
            self._notices.add(REPEATED_ROWS, found=str(repeats))

    def _message(
        self, raw: Mapping[str, Any], info: Mapping[str, Any], native: str | None, place: Place, number: int
    ) -> Message:
        parts = raw.get("parts")
        blocks, unknown = message_parts(info, parts)
        for name in unknown:
            self._notices.unknown(name, place.line)
        created = _nested(info, "time", "created")
        time = time_of_milliseconds(created)
        keys = self.builder.add(raw, [b.block for b in blocks], place, native_id=native, time=time, part=number)
        cleared = tuple((b.cleared, key) for b, key in zip(blocks, keys, strict=True) if b.cleared is not None)
        prompts = [p for p in parts if isinstance(p, dict) and p.get("type") == "compaction"] if keys and parts else []
        began = float(created) if time is not None and isinstance(created, int | float) else None
        return Message(native, info, keys, prompts[0] if prompts else None, began, cleared)

    def run(self, options: ReadOptions) -> None:
        """Play the messages and make a round for each summary and each clearing."""
        watch = Watch(options, "find rounds", len(self._messages), "messages")
        groups = self._clearings()
        for here, message in enumerate(self._messages):
            watch.at(here)
            for keys, ended in groups.get(here, ()):
                self._clear(keys, ended)
            self._play(here, message)
        for keys, ended in groups.get(len(self._messages), ()):
            self._clear(keys, ended)

    def _play(self, here: int, message: Message) -> None:
        if message.info.get("role") == "assistant" and message.info.get("summary") is True:
            self._summary(here, message)
        elif _was_sent(message.info, message.keys):
            self.context.extend(message.keys)
            if message.prompt is not None and message.info.get("role") == "user":
                self._open = (here, message)
        else:
            message.used = False
            self.builder.flag(message.keys, Flag.OFF_PATH)

    def _summary(self, here: int, message: Message) -> None:
        if message.info.get("error") is not None or not message.info.get("finish"):
            message.used = False
            self.builder.flag(message.keys, Flag.OFF_PATH)
            error = shorten(str(_nested(message.info, "error", "name") or "no finish"))
            self.failed.append(Finding(SUMMARY_FAILED, None, shorten(message.id or ""), found=error))
            return
        at, prompt = self._prompt_of(here, message)
        own = set(prompt.keys) if prompt else set()
        tokens = _tokens(message.info)
        before = [key for key in self.context if key not in own]
        missing = [Reason.HEAD_MISSING] if head_looks_missing(self.builder, before, tokens) else []
        pre = make_side(self.builder, before, missing, notices=self._notices, line=None)
        tail, reasons = self._tail(at, prompt)
        self.context = [*(prompt.keys if prompt else ()), *message.keys, *tail]
        post = make_side(self.builder, self.context, reasons, notices=self._notices, line=None)
        summary = next((key for key in message.keys if self.builder.items[key].kind == "summary"), None)
        number = len(self.rounds) + 1
        claimed = _claimed(message.info, prompt, tokens)
        self.rounds.append(CompactionRound(number, RoundKind.SUMMARY, pre, post, summary, claimed))
        self._open = None

    def _prompt_of(self, here: int, message: Message) -> tuple[int, Message | None]:
        """Return the compaction prompt a summary answers: the named parent, else the one still open."""
        parent = message.info.get("parentID")
        at = self._position.get(parent) if isinstance(parent, str) else None
        if at is not None and at < here and self._messages[at].prompt is not None:
            return at, self._messages[at]
        return self._open if self._open is not None else (here, None)

    def _tail(self, at: int, prompt: Message | None) -> tuple[list[str], list[Reason]]:
        """Return the kept items before the compaction, from the message the record names."""
        first = prompt.prompt.get("tail_start_id") if prompt is not None and prompt.prompt is not None else None
        if first is None:
            return [], []
        start = self._position.get(first) if isinstance(first, str) else None
        if start is None or start >= at:
            self._notices.add(TAIL_UNKNOWN, None, field=(prompt.id or "") if prompt else "", claimed=str(first))
            return [], [Reason.TAIL_UNRESOLVED]
        kept = [key for message in self._messages[start:at] if message.used for key in message.keys]
        return [self._shown.get(key, key) for key in kept], []

    def _clearings(self) -> dict[int, list[tuple[list[str], float]]]:
        """Group cleared results by the message before which they were cleared and by time."""
        latest: list[float] = []  # the highest creation time so far: a moment is found by bisection, never by sorting
        for message in self._messages:
            before = latest[-1] if latest else 0.0
            latest.append(max(before, message.began or 0.0))
        marks: list[tuple[int, float, str]] = []
        for owner, message in enumerate(self._messages):
            for moment, key in message.cleared:
                marks.append((max(owner + 1, bisect_left(latest, moment)), moment, key))
        groups: dict[int, list[tuple[list[str], float]]] = {}
        for position, moment, key in sorted(marks, key=lambda mark: mark[:2]):
            here = groups.setdefault(position, [])
            if here and moment - here[-1][1] <= CLEARED_TOGETHER_MS:
                here[-1] = ([*here[-1][0], key], moment)
            else:
                here.append(([key], moment))
        return groups

    def _clear(self, keys: Iterable[str], ended: float) -> None:
        """Make one round in which results were replaced by the placeholder; none when the context held none of them."""
        for key in keys:
            self._shown[key] = self.builder.replaced_by_placeholder(key)
        after = [self._shown.get(key, key) for key in self.context]
        if after == self.context:
            return
        pre = make_side(self.builder, self.context, (), notices=self._notices, line=None)
        post = make_side(self.builder, after, (), notices=self._notices, line=None)
        claimed = Claimed(method="prune", ended=time_of_milliseconds(ended))
        self.rounds.append(CompactionRound(len(self.rounds) + 1, RoundKind.TOOL_CLEAR, pre, post, None, claimed))
        self.context = after


def _was_sent(info: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    """Tell whether a later prompt holds this message: a failed answer is left out unless it was aborted half-way."""
    if info.get("role") != "assistant" or info.get("error") is None:
        return True
    return _nested(info, "error", "name") == "MessageAbortedError" and bool(keys)


def _claimed(info: Mapping[str, Any], prompt: Message | None, tokens: int | None) -> Claimed:
    part = prompt.prompt if prompt is not None and prompt.prompt is not None else {}
    trigger = {True: "auto", False: "manual"}.get(part.get("auto") is True) if "auto" in part else None
    return Claimed(
        trigger=trigger,
        method="summary after overflow" if part.get("overflow") is True else "summary",
        model=claimed_word(info.get("modelID")),
        tokens_before=tokens,
        started=time_of_milliseconds(_nested(info, "time", "created")),
        ended=time_of_milliseconds(_nested(info, "time", "completed")),
    )


def _tokens(info: Mapping[str, Any]) -> int | None:
    """Return the tokens the tool says it gave to the summary call: fresh and cached input."""
    counts = info.get("tokens")
    if not isinstance(counts, dict):
        return None
    cache = counts.get("cache")
    parts = (
        counts.get("input"),
        *((cache.get("read"), cache.get("write")) if isinstance(cache, dict) else ()),
    )
    known = [count for part in parts if (count := claimed_count(part)) is not None]
    return sum(known) if known else None


def _nested(value: Mapping[str, Any], outer: str, inner: str) -> Any:
    found = value.get(outer)
    return found.get(inner) if isinstance(found, dict) else None


OPENCODE = OpencodeReader()

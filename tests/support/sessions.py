"""Small agent sessions, written row by row in the shape each tool writes."""

from __future__ import annotations

import json
from typing import Any

from engine.lines.source import MemorySource
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import CompactionRound, Side, Transcript, side_message_keys

SUMMARY_TEXT = "This session is being continued from a previous conversation. Keep rule 7."


class Lines:
    """Rows of a JSON Lines file, and the bytes of it."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def add(self, **row: Any) -> str:
        """Add one row; returns its id."""
        self.rows.append(row)
        return str(row.get("uuid") or row.get("id") or "")

    def data(self, ending: str = "\n") -> bytes:
        """Return the file."""
        return "".join(json.dumps(row) + ending for row in self.rows).encode()

    def read(self, name: str = "session.jsonl") -> Transcript:
        """Read the file with the reader its content asks for."""
        return read_transcript(MemorySource(name, self.data()))


class ClaudeSession(Lines):
    """A Claude Code session; each row hangs on the one before it unless `parent` is given."""

    def __init__(self, session: str = "s1", version: str = "2.1.49") -> None:
        super().__init__()
        self.session = session
        self.version = version
        self.last: str | None = None

    def row(self, kind: str, uuid: str, *, parent: str | bool | None = True, **more: Any) -> str:
        """Add one row of the tree."""
        above = self.last if parent is True else parent
        self.add(
            **{
                "type": kind,
                "uuid": uuid,
                "parentUuid": above,
                "isSidechain": False,
                "sessionId": self.session,
                "version": self.version,
                "timestamp": "2026-01-02T03:04:05.000Z",
                **more,
            }
        )
        self.last = uuid
        return uuid

    def user(self, uuid: str, content: Any, **more: Any) -> str:
        """Add a user row."""
        return self.row("user", uuid, message={"role": "user", "content": content}, **more)

    def says(self, uuid: str, *blocks: Any, message: str | None = None, **more: Any) -> str:
        """Add an assistant row; texts are text blocks."""
        content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        body = {"id": message or f"msg-{uuid}", "role": "assistant", "content": content}
        return self.row("assistant", uuid, message=body, **more)

    def calls(self, uuid: str, call: str, **more: Any) -> str:
        """Add an assistant row that calls a tool."""
        return self.says(uuid, {"type": "tool_use", "id": call, "name": "Read", "input": {"path": call}}, **more)

    def answers(self, uuid: str, call: str, text: str, **more: Any) -> str:
        """Add the result of a call."""
        return self.user(uuid, [{"type": "tool_result", "tool_use_id": call, "content": text}], **more)

    def boundary(self, uuid: str, **meta: Any) -> str:
        """Add a compaction boundary."""
        return self.row(
            "system", uuid, parent=None, subtype="compact_boundary", compactMetadata={"trigger": "auto", **meta}
        )

    def summary(self, uuid: str, text: str = SUMMARY_TEXT) -> str:
        """Add the summary row."""
        return self.user(uuid, text, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def chat(self, *uuids: str) -> None:
        """Add a prompt and an answer for each name."""
        for name in uuids:
            self.user(f"u-{name}", f"prompt {name}: " + "words " * 20)
            self.says(f"a-{name}", f"answer {name}: " + "words " * 20)


class CodexSession(Lines):
    """A Codex rollout."""

    def __init__(self) -> None:
        super().__init__()
        self.event("session_meta", id="c1", cli_version="0.142.2")

    def event(self, kind: str, **payload: Any) -> None:
        """Add one enveloped row."""
        self.add(timestamp="2026-01-02T03:04:05.000Z", type=kind, payload=payload)

    def item(self, **payload: Any) -> None:
        """Add a response item."""
        self.event("response_item", **payload)

    def user(self, text: str, **more: Any) -> None:
        """Add a prompt."""
        self.item(**codex_message("user", text), **more)

    def says(self, text: str, **more: Any) -> None:
        """Add an answer."""
        self.item(**codex_message("assistant", text), **more)


def codex_message(role: str, text: str) -> dict[str, Any]:
    """Return a Codex message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


class PiSession(Lines):
    """A pi session."""

    def __init__(self, version: int = 3) -> None:
        super().__init__()
        self.version = version
        self.last: str | None = None
        self.add(type="session", version=version, id="p1", cwd="/w")

    def entry(self, kind: str, name: str, *, parent: str | bool | None = True, **more: Any) -> str:
        """Add one entry; version 1 has no ids."""
        tree = {} if self.version == 1 else {"id": name, "parentId": self.last if parent is True else parent}
        self.add(type=kind, **tree, timestamp="2026-01-02T03:04:05.000Z", **more)
        self.last = name
        return name

    def user(self, name: str, text: str, **more: Any) -> str:
        """Add a prompt."""
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        return self.entry("message", name, message=message, **more)

    def says(self, name: str, text: str, **more: Any) -> str:
        """Add an answer."""
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        return self.entry("message", name, message=message, **more)


def openhands_old() -> Lines:
    """Write an OpenHands session in the older shape: two condensations, of which the second forgets more."""
    session = Lines()
    session.add(id=0, source="agent", action="system", args={"content": "rules: x"})
    session.add(id=1, source="user", action="message", args={"content": "one: x"})
    session.add(id=2, source="agent", action="run", args={"command": "ls"})
    session.add(id=3, source="agent", observation="run", content="out: x", cause=2)
    session.add(id=4, source="agent", action="condensation", args=_forget([2, 3], "first: x", 2))
    session.add(id=5, source="agent", action="message", args={"content": "answer: x"})
    session.add(id=6, source="environment", observation="agent_state_changed", content="")
    late = {"forgotten_events_start_id": 5, "forgotten_events_end_id": 5, "summary": "second: x", "summary_offset": 1}
    session.add(id=7, source="agent", action="condensation", args=late)
    session.add(id=8, source="user", action="message", args={"content": "two: x"})
    return session


def openhands_new() -> Lines:
    """Write an OpenHands session in the newer shape: the second condensation forgets the first summary."""
    session = Lines()
    prompt = {"role": "user", "content": [{"type": "text", "text": "one: x"}]}
    call = {"id": "t", "function": {"name": "run", "arguments": "{}"}}
    session.add(kind="SystemPromptEvent", id="e0", source="agent", system_prompt={"type": "text", "text": "rules: x"})
    session.add(kind="MessageEvent", id="e1", source="user", llm_message=prompt)
    thought = [{"type": "text", "text": "think: x"}]
    session.add(kind="ActionEvent", id="e2", source="agent", tool_name="run", tool_call=call, thought=thought)
    seen = {"content": [{"type": "text", "text": "out: x"}]}
    session.add(kind="ObservationEvent", id="e3", source="environment", observation=seen)
    session.add(kind="CondensationRequest", id="q", source="environment")
    session.add(kind="Condensation", id="k1", source="environment", **_forget(["e2", "e3"], "first: x", 2))
    session.add(kind="Condensation", id="k2", source="environment", **_forget(["k1-summary", "e1"], "second: x", 1))
    return session


def _forget(ids: list[Any], summary: str | None, offset: int) -> dict[str, Any]:
    return {"forgotten_event_ids": ids, "summary": summary, "summary_offset": offset}


def copilot() -> Lines:
    """Write a Copilot session in which an answer arrives while the compaction runs."""
    session = Lines()

    def event(name: str, kind: str, **data: Any) -> None:
        session.add(type=kind, id=name, timestamp="2026-01-02T03:04:05.000Z", data=data)

    event("e0", "session.start", sessionId="g1", copilotVersion="1.0.0")
    event("e1", "user.message", content="one: x")
    event("e2", "assistant.message", content="", toolRequests=[{"name": "bash", "arguments": {"command": "ls"}}])
    event("e3", "tool.execution_complete", toolCallId="t", success=True, result={"content": "out: x"})
    event("e4", "assistant.message", content="sub: x", parentToolCallId="t")
    event("e5", "session.compaction_start", conversationTokens=10)
    event("e6", "assistant.message", content="meanwhile: x", toolRequests=[])
    summary = {"summaryContent": "sum: x", "preCompactionTokens": 10, "compactionTokensUsed": {"model": "m"}}
    event("e7", "session.compaction_complete", success=True, **summary)
    event("e8", "user.message", content="two: x")
    return session


def texts(transcript: Transcript, side: Side | tuple[str, ...]) -> list[str]:
    """Return the first word groups of the items of a side, for comparing."""
    keys = side.keys if isinstance(side, Side) else side
    return [transcript.items[key].text.partition(":")[0] for key in keys]


def counts(transcript: Transcript, compaction: CompactionRound) -> tuple[int, int]:
    """Return the number of messages before and after."""
    return len(side_message_keys(transcript, compaction.pre)), len(side_message_keys(transcript, compaction.post))


def notice_names(transcript: Transcript) -> list[str]:
    """Return the names of all notices."""
    return [finding.code.name for finding in transcript.notices]

"""Small opencode exports, written message by message in the shape the tool exports."""

from __future__ import annotations

import json
from typing import Any

from engine.lines.source import MemorySource
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import Transcript


class OpencodeSession:
    """An export; each message begins 10 seconds after the one before it."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def message(self, role: str, name: str, *parts: dict[str, Any], **info: Any) -> str:
        """Add one message."""
        began = 1_700_000_000_000 + 10_000 * len(self.messages)
        body = {"id": name, "role": role, "sessionID": "ses_1", "time": {"created": began}, **info}
        self.messages.append({"info": body, "parts": list(parts)})
        return name

    def user(self, name: str, text: str) -> str:
        """Add a prompt; user messages carry a summary that is a diff, not a compaction."""
        return self.message("user", name, {"type": "text", "text": text}, summary={"diffs": []})

    def says(self, name: str, text: str, **info: Any) -> str:
        """Add an answer between step marks."""
        return self.message(
            "assistant", name, {"type": "step-start"}, {"type": "text", "text": text}, {"type": "step-finish"}, **info
        )

    def tool(self, name: str, output: str, *, cleared: int | None = None) -> str:
        """Add an answer that ran a tool; `cleared` is the second of the session at which its result was cleared."""
        time = {"start": 1, "end": 2} | ({"compacted": 1_700_000_000_000 + cleared * 1000} if cleared else {})
        state = {"status": "completed", "input": {"file": name}, "output": output, "time": time}
        return self.message("assistant", name, {"type": "tool", "tool": "read", "callID": name, "state": state})

    def compaction(self, name: str, **part: Any) -> str:
        """Add the user message that asks for a compaction."""
        return self.message("user", name, {"type": "compaction", "auto": True, **part})

    def summary(self, name: str, text: str, parent: str, **info: Any) -> str:
        """Add the answer that is the summary."""
        marks = {"summary": True, "mode": "compaction", "parentID": parent, "modelID": "m", "finish": "stop", **info}
        return self.says(name, text, **marks)

    def data(self) -> bytes:
        """Return the file."""
        return json.dumps({"info": {"id": "ses_1", "version": "1.4.3"}, "messages": self.messages}).encode()

    def read(self) -> Transcript:
        """Read the file with the reader its content asks for."""
        return read_transcript(MemorySource("export.json", self.data()))


def opencode_document() -> Any:
    """Write a small export with a clearing, a failed attempt and a kept tail."""
    session = OpencodeSession()
    session.user("m1", "one")
    session.tool("m2", "out", cleared=15)
    session.compaction("m3", tail_start_id="m2")
    session.summary("m4", "half", "m3", finish=None)
    session.summary("m5", "sum", "m3", tokens={"input": 5, "cache": {"read": 1}})
    session.message("user", "m6", {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA"})
    return json.loads(session.data())

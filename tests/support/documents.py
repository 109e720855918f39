"""Small agent sessions that stand in JSON documents, or in a log that replaces its own messages."""

from __future__ import annotations

import json
from typing import Any

from engine.lines.source import MemorySource
from engine.transcripts.reader import read_transcript
from engine.transcripts.rounds import Transcript
from tests.support.sessions import Lines


def document(value: Any, name: str = "session.json") -> MemorySource:
    """Hold a value as a JSON file, spread over lines as tools write it."""
    return MemorySource(name, json.dumps(value, indent=1).encode())


def read(value: Any, name: str = "session.json") -> Transcript:
    """Read a document with the reader its content asks for."""
    return read_transcript(document(value, name))


def trajectory(steps: int = 4, shown: int = 2) -> dict[str, Any]:
    """Write a trajectory in which only the newest `shown` observations stay readable."""
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "rules: x", "message_type": "system_prompt"},
        {"role": "user", "content": "task: x", "message_type": "observation"},
    ]
    written = []
    for number in range(steps):
        outputs = [at for at, message in enumerate(history) if message["role"] == "tool"]
        seen = [
            {**message, "content": "Old environment output: (1 lines omitted)"}
            if at in outputs[: max(0, len(outputs) - shown)]
            else message
            for at, message in enumerate(history)
        ]
        written.append({"action": "ls", "observation": f"out{number}: x", "messages": seen})
        call = {"id": f"k{number}", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
        said = {"role": "assistant", "content": f"look{number}: x", "tool_calls": [call], "message_type": "action"}
        output = {"role": "tool", "content": f"out{number}: x", "message_type": "observation"}
        history = [*history, said, output]
    return {"trajectory": written, "history": history, "info": {"exit_status": "submitted"}}


def gemini_message(name: str, kind: str, text: str, **more: Any) -> dict[str, Any]:
    """Return one message of a Gemini session."""
    content: Any = [{"text": text}] if kind == "user" else text
    return {"id": name, "timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "content": content, **more}


def gemini_document() -> dict[str, Any]:
    """Write a session in the older form, with a notice the model never saw."""
    result = [{"functionResponse": {"id": "k", "name": "ls", "response": {"output": "out: x"}}}]
    call = {"id": "k", "name": "ls", "args": {"path": "."}, "result": result, "status": "success"}
    thought = {"subject": "plan", "description": "look first", "timestamp": "2026-01-02T03:04:05.000Z"}
    return {
        "sessionId": "g1",
        "projectHash": "0123",
        "startTime": "2026-01-02T03:04:05.000Z",
        "messages": [
            gemini_message("m0", "info", "update: x"),
            gemini_message("m1", "user", "one: x"),
            gemini_message("m2", "gemini", "two: x", thoughts=[thought], toolCalls=[call]),
        ],
    }


def gemini_log() -> Lines:
    """Write a session in the newer form: a message completed in place, then a compaction."""
    session = Lines()
    session.add(sessionId="g1", projectHash="0123", startTime="2026-01-02T03:04:05.000Z", kind="main")
    session.rows.append(gemini_message("m1", "user", "one: x"))
    session.rows.append(gemini_message("m2", "gemini", "two: x"))
    session.rows.append({"$set": {"lastUpdated": "2026-01-02T03:04:06.000Z"}})
    session.rows.append(gemini_message("m2", "gemini", "two: x", toolCalls=[{"name": "ls", "args": {}}]))
    session.rows.append(gemini_message("m3", "user", "three: x"))
    session.rows.append({"$set": {"messages": gemini_compacted()}})
    session.rows.append(gemini_message("m4", "user", "four: x"))
    return session


def gemini_compacted() -> list[dict[str, Any]]:
    """Return the messages a compaction leaves."""
    return [
        gemini_message("s1", "user", "<state_snapshot>sum: x</state_snapshot>"),
        gemini_message("s2", "gemini", "Got it. Thanks for the additional context!"),
        gemini_message("m3", "user", "three: x"),
    ]


def cline_message(name: str, role: str, *texts: str, **more: Any) -> dict[str, Any]:
    """Return one message of a Cline conversation."""
    return {"id": name, "role": role, "content": [{"type": "text", "text": text} for text in texts], "ts": 1, **more}


def cline_conversation() -> dict[str, Any]:
    """Write a Cline conversation of six messages."""
    call = {"type": "tool_use", "id": "t1", "name": "editor", "input": {"path": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "name": "editor", "content": "edited: x"}
    metrics = {"inputTokens": 12, "cost": 0.00001}
    first = cline_message("m1", "user", " one: x ")
    first["content"].append({"type": "file", "path": "a.py", "content": "body: x"})
    return {
        "version": 1,
        "agent": "lead",
        "sessionId": "c1",
        "messages": [
            first,
            {"id": "m2", "role": "assistant", "content": [call], "metrics": metrics},
            {"id": "m3", "role": "user", "content": [result]},
            cline_message("m4", "assistant", "two: x"),
            cline_message("m5", "user", "three: x"),
            cline_message("m6", "assistant", "four: x"),
        ],
    }


def cline_sidecar(**more: Any) -> dict[str, Any]:
    """Write the record of a compaction that shortened the first message and kept the fourth."""
    first = cline_message("m1", "user", " one: x ", "earlier: x", metadata={"kind": "compaction", "reason": "manual"})
    kept = [first, cline_message("m4", "assistant", "two: x")]
    return {"version": 1, "sessionId": "c1", "updated_at": "2026-01-02T03:04:05.000Z", "messages": kept, **more}


def qwen_row(name: str, above: str | None, kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
    """Return one row of a Qwen session; texts are text parts."""
    role = "model" if kind == "assistant" else "user"
    message = {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}
    row = {"uuid": name, "parentUuid": above, "sessionId": "q1", "timestamp": "2026-01-02T03:04:05.000Z", "type": kind}
    return {**row, "version": "0.5.0", **({"message": message} if parts else {}), **more}


def qwen_log() -> Lines:
    """Write a Qwen session with a rewound branch and one compression that keeps the last result."""
    answer = {"functionResponse": {"id": "k", "name": "ls", "response": {"output": "out: x"}}}
    summary = {"role": "user", "parts": [{"text": "<state_snapshot>sum: x</state_snapshot>"}]}
    left = [summary, {"role": "model", "parts": [{"text": "Got it."}]}, {"role": "user", "parts": [answer]}]
    info = {"originalTokenCount": 100, "newTokenCount": 40, "compressionStatus": 1}
    record = {"subtype": "chat_compression", "systemPayload": {"info": info, "compressedHistory": left}}
    session = Lines()
    session.rows = [
        qwen_row("u1", None, "user", "one: x"),
        qwen_row("x1", "u1", "assistant", "rewound: x"),
        qwen_row("a1", "u1", "assistant", "two: x", {"functionCall": {"id": "k", "name": "ls", "args": {}}}),
        qwen_row("t1", "a1", "tool_result", answer),
        qwen_row("s1", "t1", "system", subtype="ui_telemetry"),
        qwen_row("c1", "s1", "system", **record),
        qwen_row("u2", "c1", "user", "three: x"),
    ]
    return session

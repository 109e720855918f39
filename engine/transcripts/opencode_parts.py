"""How are the parts of an opencode message cut into blocks?

A message is `{info, parts}`. Text, reasoning, tools with their results, files and the compaction prompt reach the
model; step marks, snapshots and patches do not. A file of plain text is left out because the tool writes its content
beside it as a text part. Cutting does not prove that a provider was sent a part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.transcripts.build import Block, call_block, image_block, opaque_block, result_block, text_block
from engine.transcripts.item import Kind, Role

COMPACTION_PROMPT = "What did we do so far?"
"""What the model is shown in place of a compaction part."""
SUBTASK_PROMPT = "The following tool was executed by the user"
INTERRUPTED = "[Tool execution was interrupted]"
OUTSIDE = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "retry"})
DATA_URL = re.compile(r"data:[^,]*,")


@dataclass(frozen=True, slots=True)
class PartBlock:
    """One block, and for a tool result the time (epoch milliseconds) at which the tool cleared it."""

    block: Block
    cleared: int | float | None = None


def message_parts(info: Mapping[str, Any], parts: object) -> tuple[list[PartBlock], list[str]]:
    """Cut the parts of one message; the second value names part types that are not known."""
    role = Role.ASSISTANT if info.get("role") == "assistant" else Role.USER
    kind = Kind.PROMPT if role is Role.USER else Kind.REPLY
    if role is Role.ASSISTANT and info.get("summary") is True:
        kind = Kind.SUMMARY
    blocks: list[PartBlock] = []
    unknown: list[str] = []
    for part in parts if isinstance(parts, list) else ():
        found = _part(role, kind, part)
        if found is None:
            name = str(part.get("type")) if isinstance(part, dict) else type(part).__name__
            unknown.append(f"part {name}")
            found = [PartBlock(opaque_block(role, name, part))]
        blocks.extend(found)
    return blocks, unknown


def _part(role: Role, kind: Kind, part: Any) -> list[PartBlock] | None:
    match part:
        case {"type": "text", "text": str(text)}:
            return [] if part.get("ignored") is True else [PartBlock(text_block(role, kind, text))]
        case {"type": "reasoning", "text": str(text)}:
            return [PartBlock(text_block(role, Kind.THINKING, text))] if text else []
        case {"type": "compaction"}:
            return [PartBlock(text_block(role, Kind.PROMPT, COMPACTION_PROMPT))]
        case {"type": "subtask"}:
            return [PartBlock(text_block(role, Kind.PROMPT, SUBTASK_PROMPT))]
        case {"type": "tool"}:
            return _tool(part)
        case {"type": "file"}:
            return _file(role, part)
        case {"type": str(name)} if name in OUTSIDE:
            return []
        case _:
            return None


def _tool(part: Mapping[str, Any]) -> list[PartBlock]:
    state = part.get("state")
    if not isinstance(state, dict):
        return [PartBlock(opaque_block(Role.ASSISTANT, "tool", part))]
    call = PartBlock(call_block(str(part.get("tool")), state.get("input")))
    match state.get("status"):
        case "completed":
            time = state.get("time")
            cleared = time.get("compacted") if isinstance(time, dict) else None
            result = PartBlock(result_block(_text(state.get("output"))), _moment(cleared))
            attached = state.get("attachments")
            files = [_file(Role.TOOL, one) for one in attached] if isinstance(attached, list) else []
            return [call, result, *(block for found in files for block in found)]
        case "error":
            return [call, PartBlock(result_block(_text(state.get("error"))))]
        case _:
            return [call, PartBlock(result_block(INTERRUPTED))]


def _file(role: Role, part: Any) -> list[PartBlock]:
    if not isinstance(part, dict):
        return [PartBlock(opaque_block(role, "file", part))]
    mime, url = str(part.get("mime")), part.get("url")
    if mime in ("text/plain", "application/x-directory"):
        return []
    found = DATA_URL.match(url) if isinstance(url, str) else None
    if found is not None and isinstance(url, str):
        return [PartBlock(image_block(role, mime, url[found.end() :]))]
    return [PartBlock(opaque_block(role, "file", part))]


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _moment(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value

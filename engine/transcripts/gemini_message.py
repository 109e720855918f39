"""How is one message of a Gemini CLI session cut into blocks?

A message holds text or parts, thoughts and tool calls that carry their results. Parts of an unknown shape stay
opaque with their digest. The order inside a message (thoughts, text, calls, each with its result) is the file's form;
the model may have written them in another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from engine.transcripts.build import Block, call_block, image_block, opaque_block, result_block, text_block
from engine.transcripts.item import Kind, Role

CONTEXT_TYPES = frozenset({"user", "gemini"})
SNAPSHOT = "<state_snapshot>"


def message_blocks(message: Mapping[str, Any]) -> list[Block]:
    """Cut one message of type `user` or `gemini` into blocks."""
    role = Role.USER if message.get("type") == "user" else Role.ASSISTANT
    blocks = [*_thoughts(message.get("thoughts")), *content_blocks(role, message.get("content"))]
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        blocks.extend(_call(call))
    return blocks


def content_blocks(role: Role, content: Any) -> Iterator[Block]:
    """Cut a content: a text, one part, or a list of parts."""
    for part in content if isinstance(content, list) else [content]:
        match part:
            case None | "":
                pass
            case str(text) | {"text": str(text)}:
                thought = isinstance(part, dict) and part.get("thought") is True
                yield text_block(role, Kind.THINKING if thought else _kind(role, text), text)
            case {"inlineData": {"data": str(data), **more}}:
                yield image_block(role, str(more.get("mimeType")), data)
            case {"functionCall": {"name": str(name), **more}}:
                yield call_block(name, more.get("args"))
            case {"functionResponse": {"response": response}}:
                yield result_block(_shown(response))
            case _:
                yield opaque_block(role, _name_of(part), part)


def _kind(role: Role, text: str) -> Kind:
    if role is Role.ASSISTANT:
        return Kind.REPLY
    return Kind.SUMMARY if SNAPSHOT in text else Kind.PROMPT


def _thoughts(thoughts: Any) -> Iterator[Block]:
    for thought in thoughts if isinstance(thoughts, list) else ():
        match thought:
            case {"subject": str(subject), "description": str(description)}:
                yield text_block(Role.ASSISTANT, Kind.THINKING, f"{subject}\n{description}")
            case _:
                yield opaque_block(Role.ASSISTANT, "thought", thought)


def _call(call: Any) -> Iterator[Block]:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        yield opaque_block(Role.ASSISTANT, "toolCall", call)
        return
    yield call_block(call["name"], call.get("args"))
    result = call.get("result")
    if isinstance(result, str):
        yield result_block(result)
    elif result is not None:
        yield from content_blocks(Role.TOOL, result)


def _shown(response: Any) -> str:
    """Return what a tool answered: its output or error text, else the whole answer as JSON."""
    match response:
        case {"output": str(text), **rest} | {"error": str(text), **rest} if not rest:
            return text
        case _:
            return json.dumps(response, ensure_ascii=False, sort_keys=True)


def _name_of(part: Any) -> str:
    return str(next(iter(part), "part")) if isinstance(part, dict) else type(part).__name__

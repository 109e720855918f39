"""How is an OpenHands event cut into blocks, in its older and its newer shape?

Events that steer the program (states, pauses, requests) are not what the model sees. Unknown events are counted by
the reader, not guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.transcripts.blocks import content_blocks, tool_result
from engine.transcripts.build import Block, call_block, text_block
from engine.transcripts.item import Kind, Role

SILENT = frozenset(
    {
        "CondensationRequest", "CondensationSummaryEvent", "ConversationStateUpdateEvent", "PauseEvent",
        "condensation_request", "change_agent_state", "agent_state_changed", "null", "recall", "start",
        "pause", "resume",
    }
)  # fmt: skip


def is_silent(event: Mapping[str, Any]) -> bool:
    """Tell whether an event steers the program and never reaches the model."""
    return any(str(event.get(name)) in SILENT for name in ("kind", "action", "observation"))


def event_blocks(event: Mapping[str, Any]) -> list[Block] | None:
    """Cut one event into blocks; None when it is not content."""
    if is_silent(event):
        return None
    return _newer(event) if isinstance(event.get("kind"), str) else _older(event)


def _newer(event: Mapping[str, Any]) -> list[Block] | None:
    match event.get("kind"):
        case "MessageEvent":
            message = event.get("llm_message")
            body = message if isinstance(message, dict) else {}
            role = Role.ASSISTANT if body.get("role") == Role.ASSISTANT else Role.USER
            kind = Kind.REPLY if role is Role.ASSISTANT else Kind.PROMPT
            return content_blocks(role, kind, body.get("content", "")) or [text_block(role, kind, "")]
        case "SystemPromptEvent":
            prompt = event.get("system_prompt")
            return content_blocks(Role.SYSTEM, Kind.PROMPT, [prompt])
        case "ActionEvent":
            thought = event.get("thought")
            said = content_blocks(Role.ASSISTANT, Kind.REPLY, thought) if isinstance(thought, list) else []
            return [*said, _call(event)]
        case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation":
            seen = event.get("observation", event.get("error", event.get("rejection_reason")))
            return [tool_result(seen.get("content", seen.get("output")) if isinstance(seen, dict) else seen)]
        case _:
            return None


def _call(event: Mapping[str, Any]) -> Block:
    call = event.get("tool_call")
    function = call.get("function", call) if isinstance(call, dict) else {}
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return call_block(str(event.get("tool_name")), event.get("action") if arguments is None else arguments)


def _older(event: Mapping[str, Any]) -> list[Block] | None:
    action, observation, args = event.get("action"), event.get("observation"), event.get("args")
    if isinstance(observation, str):
        return [tool_result(event.get("content", event.get("message")))]
    if not isinstance(action, str):
        return None
    given = args if isinstance(args, dict) else {}
    if action in ("message", "system"):
        text = given.get("content", event.get("message"))
        if action == "system":
            return content_blocks(Role.SYSTEM, Kind.PROMPT, text)
        if event.get("source") == "agent":
            return content_blocks(Role.ASSISTANT, Kind.REPLY, text)
        return content_blocks(Role.USER, Kind.PROMPT, text)
    return [call_block(action, args)]

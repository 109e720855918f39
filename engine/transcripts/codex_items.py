"""How is a Codex response item cut into blocks?

Messages, calls, their outputs, and what is encrypted (reasoning, compaction summaries): opaque, known by digest only.
Metadata that Codex adds to a copy of a message (`id`, `internal_chat_message_metadata_passthrough`) is not content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.transcripts.blocks import tool_result
from engine.transcripts.build import Block, call_block, image_block, is_redacted, opaque_block, result_block, text_block
from engine.transcripts.item import Kind, Role

SESSION_PREFIXES = ("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<turn_aborted>")
SUMMARY_PREFIX = "Another language model started to solve this problem"
COMPACTION_TYPES = frozenset({"compaction", "compaction_summary", "context_compaction"})
NOT_CONTEXT = frozenset({"ghost_snapshot"})
METADATA = frozenset({"id", "internal_chat_message_metadata_passthrough", "status", "call_id"})
IMAGE_PREFIX = "data:"


def item_blocks(item: Mapping[str, Any]) -> list[Block] | None:
    """Cut one response item; None when its type is not known."""
    match item:
        case {"type": "message", **rest} | {"role": str(), **rest} if "role" in item:
            return _message(rest | {"role": item["role"]})
        case {"type": "function_call" | "custom_tool_call"}:
            return [call_block(_call_name(item), item.get("arguments", item.get("input")))]
        case {"type": "function_call_output" | "custom_tool_call_output" | "function_result"}:
            return [_output(item.get("output", item.get("result")))]
        case {"type": "local_shell_call" | "web_search_call" | "tool_search_call" as kind}:
            return [call_block(str(kind).removesuffix("_call"), item.get("action", item.get("query")))]
        case {"type": "reasoning"}:
            return _reasoning(item)
        case {"type": str(kind)} if kind in COMPACTION_TYPES or kind == "image_generation_call":
            return [opaque_block(Role.ASSISTANT, kind, _content_only(item))]
        case _:
            return None


def message_text(item: Any) -> str | None:
    """Return the text of a user message, or None for anything else."""
    if not isinstance(item, dict) or item.get("role") != Role.USER:
        return None
    content = item.get("content", item.get("message"))
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def is_user_turn(item: Any) -> bool:
    """Tell whether an item is a prompt by the user, not a session prefix or a summary."""
    text = message_text(item)
    return text is not None and not text.lstrip().startswith((*SESSION_PREFIXES, SUMMARY_PREFIX))


def _message(item: Mapping[str, Any]) -> list[Block]:
    role = _role(item.get("role"))
    kind = Kind.REPLY if role is Role.ASSISTANT else Kind.PROMPT
    content = item.get("content", item.get("message"))
    if isinstance(content, str):
        content = [content]
    if not isinstance(content, list):
        return [opaque_block(role, "content", content)]
    return [_part(role, kind, part) for part in content] or [text_block(role, kind, "")]


def _part(role: Role, kind: Kind, part: Any) -> Block:
    match part:
        case str(text) | {"type": "input_text" | "output_text" | "text", "text": str(text)}:
            summary = role is Role.USER and text.startswith(SUMMARY_PREFIX)
            return text_block(role, Kind.SUMMARY if summary else kind, text)
        case {"type": "input_image", "image_url": str(url)}:
            return image_block(role, url[len(IMAGE_PREFIX) :].partition(";")[0] if url.startswith("data:") else "", url)
        case _:
            return opaque_block(role, str(part.get("type") if isinstance(part, dict) else type(part).__name__), part)


def _output(output: Any) -> Block:
    if isinstance(output, dict) and "content" in output:
        output = output["content"]
    if isinstance(output, list):
        return tool_result([_as_text(part) for part in output])
    return result_block(output) if isinstance(output, str) else opaque_block(Role.TOOL, "output", output)


def _as_text(part: Any) -> Any:
    match part:
        case {"type": "input_text" | "output_text", "text": str(text)}:
            return text
        case _:
            return part


def _reasoning(item: Mapping[str, Any]) -> list[Block]:
    parts = [*_list(item.get("summary")), *_list(item.get("content"))]
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    blocks = [text_block(Role.ASSISTANT, Kind.THINKING, text) for text in texts]
    if item.get("encrypted_content") is not None or not blocks:
        blocks.append(opaque_block(Role.ASSISTANT, "reasoning", _content_only(item)))
    return blocks


def _content_only(item: Mapping[str, Any]) -> dict[str, Any]:
    """Leave the metadata out; where the encrypted content was redacted, the id is all that tells items apart."""
    kept = {name: value for name, value in item.items() if name not in METADATA}
    hidden = item.get("encrypted_content")
    if isinstance(hidden, str) and is_redacted(hidden):
        kept["id"] = item.get("id")
    return kept


def _call_name(item: Mapping[str, Any]) -> str:
    function = item.get("function")
    return str(item.get("name") or (function.get("name") if isinstance(function, dict) else ""))


def _role(value: object) -> Role:
    try:
        return Role(str(value))
    except ValueError:
        return Role.USER


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []

"""What was dropped between two files that a user puts side by side?

Makes one round of a before and an after. Nothing in the files says that they belong together, that nothing happened
in between, or who compacted: the user says so, and both sides carry that reason.
"""

from __future__ import annotations

from typing import Any

from engine.transcripts.build import Block, ItemBuilder, opaque_block, text_block
from engine.transcripts.content import Content
from engine.transcripts.item import Kind, Place, Role
from engine.transcripts.notices import Notices
from engine.transcripts.openai_messages import message_blocks
from engine.transcripts.rounds import (
    CompactionRound,
    Reason,
    RoundKind,
    Side,
    SideState,
    SourceFile,
    Transcript,
)

FORMAT = "pair"


def pair_transcript(
    before: Content, after: Content, sources: tuple[SourceFile, ...] = (), *, session: str | None = None
) -> Transcript:
    """Make a transcript of one round from two content files; each side is exact as given, by the user's word.

    Items that look like chat messages become messages, texts become prompts, anything else stays opaque with its
    digest. Raises nothing for any items.
    """
    notices = Notices()
    builder = ItemBuilder(notices)
    pre = _keys(builder, before)
    post = _keys(builder, after)
    round_ = CompactionRound(
        index=1,
        kind=RoundKind.HISTORY_REPLACEMENT,
        pre=Side(pre, SideState.EXACT, (Reason.USER_SUPPLIED,)),
        post=Side(post, SideState.EXACT, (Reason.USER_SUPPLIED,)),
    )
    return Transcript(
        format=FORMAT,
        sources=sources or (SourceFile(before.name, "", 0), SourceFile(after.name, "", 0)),
        items=builder.items,
        messages=builder.messages,
        rounds=(round_,),
        context=post,
        notices=notices.findings(),
        session=session,
    )


def _keys(builder: ItemBuilder, content: Content) -> tuple[str, ...]:
    keys: list[str] = []
    for number, item in enumerate(content.items, 1):
        keys.extend(builder.add(item, item_blocks(item), Place(content.name, number, 0, 0), part=len(builder.messages)))
    return tuple(keys)


def item_blocks(item: Any) -> list[Block]:
    """Cut one content item into blocks."""
    if isinstance(item, bytes):
        return [opaque_block(Role.USER, "bytes", item.hex())]
    if isinstance(item, str):
        return [text_block(Role.USER, Kind.PROMPT, item)]
    if isinstance(item, dict) and "role" in item and "content" in item:
        return message_blocks(item)
    return [opaque_block(Role.USER, type(item).__name__, item)]

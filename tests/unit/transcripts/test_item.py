"""Canonical bytes of items."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.digests import canonical_json, item_digest
from engine.transcripts.item import Kind, Role, canonical_item, item_digest_of, readable

ENCODABLE = st.text(st.characters(exclude_categories=["Cs"]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(role=st.sampled_from(Role), kind=st.sampled_from(Kind), text=ENCODABLE)
def test_the_short_way_for_texts_gives_the_recipes_bytes(role: Role, kind: Kind, text: str) -> None:
    """Texts and results are written without the general encoder; the bytes are the same."""
    for content in ({"text": text}, {"result": {"text": text}}, {"call": {"name": text, "args": {text: 1.5}}}):
        value: dict[str, Any] = {"role": role.value, "kind": kind.value, **content}
        canonical = canonical_item(role, kind, content)
        assert canonical == canonical_json(value)
        assert item_digest_of(canonical) == item_digest(value).digest


@pytest.mark.parametrize(
    "content", [{"text": "a\ud83d"}, {"result": {"text": "\ud83d"}}, {"call": {"args": ["\ud83d"]}}]
)
def test_a_lone_surrogate_is_written_as_its_escape(content: dict[str, Any]) -> None:
    """The bytes can be stored and parsed, and the surrogate can be told from another one."""
    canonical = canonical_item(Role.USER, Kind.PROMPT, content)
    assert b"\\\\ud83d" in canonical
    canonical.decode("utf-8")


def test_readable_text_can_be_written_anywhere() -> None:
    """A lone surrogate is shown as U+FFFD; other text is left alone."""
    assert readable("a\ud83db") == "a\N{REPLACEMENT CHARACTER}b"
    assert readable("Grüße ✓") == "Grüße ✓"

"""Keys and versions of items."""

from __future__ import annotations

import pytest

from engine.transcripts.build import ItemBuilder, image_block, is_redacted, opaque_block, result_block, text_block
from engine.transcripts.item import Flag, Kind, Place, Role
from engine.transcripts.notices import Notices

PLACE = Place("s", 1, 0, 9)


def test_a_block_with_a_native_id_keeps_one_key_for_one_content() -> None:
    """The same content under the same id is the same item; other content is a later version of it."""
    builder = ItemBuilder(Notices())
    first = builder.add({"n": 1}, [text_block(Role.USER, Kind.PROMPT, "a")], PLACE, native_id="m")
    again = builder.add({"n": 2}, [text_block(Role.USER, Kind.PROMPT, "a")], PLACE, native_id="m")
    other = builder.add({"n": 3}, [text_block(Role.USER, Kind.PROMPT, "b")], PLACE, native_id="m")
    assert (first, again, other) == (("m#0",), ("m#0",), ("m#0~2",))
    assert {builder.items[key].native_id for key in ("m#0", "m#0~2")} == {"m"}
    assert builder.messages[builder.items["m#0"].message] == {"n": 1}


def test_a_block_without_id_is_named_by_digest_and_occurrence() -> None:
    """Equal contents are told apart by their number."""
    builder = ItemBuilder(Notices())
    keys = [builder.add({}, [text_block(Role.USER, Kind.PROMPT, "a")], PLACE, part=n)[0] for n in range(2)]
    digest = builder.items[keys[0]].digest
    assert keys == [f"{digest}@1", f"{digest}@2"]


def test_a_placeholder_is_another_version_of_the_cleared_block() -> None:
    """The original stays; the placeholder has its own digest, kind and flag."""
    builder = ItemBuilder(Notices())
    raw = {"content": [{"content": "out"}]}
    (key,) = builder.add(raw, [result_block("out")], PLACE, native_id="r")
    new = builder.replaced_by_placeholder(key)
    assert (new, builder.replaced_by_placeholder(key)) == ("r#0~cleared", "r#0~cleared")
    assert builder.items[new].kind is Kind.PLACEHOLDER
    assert builder.items[new].flags == {Flag.CLEARED}
    assert builder.items[key].text == "out"
    assert raw == {"content": [{"content": "out"}]}


def test_a_later_version_of_a_message_has_keys_of_its_own() -> None:
    """All its blocks belong to the new message, also those that did not change; a repeat gives the old keys."""
    builder = ItemBuilder(Notices())
    one, two = text_block(Role.USER, Kind.PROMPT, "one"), text_block(Role.USER, Kind.PROMPT, "two")
    first = builder.add({"n": 1}, [one], PLACE, native_id="m", part=1)
    later = builder.add({"n": 2}, [one, two], PLACE, native_id="m", part=2)
    again = builder.add({"n": 3}, [one], PLACE, native_id="m", part=3)
    assert (first, later, again) == (("m#0",), ("m#0~2", "m#1~2"), ("m#0",))
    assert builder.items["m#0"].digest == builder.items["m#0~2"].digest
    assert {builder.messages[builder.items[key].message]["n"] for key in later} == {2}


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("x REDACTED y", True),
        ("[trimmed for fixture]", True),
        ("cut <truncated>", True),
        ("UNREDACTED", False),
        ("", False),
    ],
)
def test_redaction_marks_are_whole_words(text: str, redacted: bool) -> None:
    """Marks of published transcripts are seen; words that contain one are not."""
    assert is_redacted(text) is redacted


def test_opaque_and_image_blocks_are_told_apart_by_their_content() -> None:
    """Two encrypted values or two images with other bytes have other canonical contents."""
    assert opaque_block(Role.USER, "x", {"a": 1}).content != opaque_block(Role.USER, "x", {"a": 2}).content
    assert image_block(Role.USER, "image/png", "AA").content != image_block(Role.USER, "image/png", "AB").content


def test_the_order_of_keys_is_no_content() -> None:
    """The same value written in another order is the same opaque block."""
    assert opaque_block(Role.USER, "x", {"a": 1, "b": 2}) == opaque_block(Role.USER, "x", {"b": 2, "a": 1})

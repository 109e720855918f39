"""The drop set recomputed from content."""

from __future__ import annotations

import random

import pytest

from engine.digests import difference, item_digest, whole_digest
from engine.lines.plain import hold
from engine.receipts.content import ContentError, digest_block, side_sum
from engine.receipts.keys import digest_of, key_of, read_manifest
from engine.receipts.recompute import compare
from tests.support.receipts import random_item


def test_duplicates_are_counted() -> None:
    """Keeping one copy of a twice-seen item still drops the other."""
    found = compare(["a", "a", "b"], ["a"])
    assert (list(found.dropped), list(found.kept_pre), list(found.kept_post)) == ([1, 2], [0], [0])
    assert found.dropped_size == 2


def test_positions_pair_up_in_order_of_appearance() -> None:
    """The first copy before takes the first copy after, whatever the order between."""
    found = compare(["x", "a", "a", "y"], ["a", "n", "a", "x", "n"])
    assert list(zip(found.kept_pre, found.kept_post, strict=True)) == [(0, 3), (1, 0), (2, 2)]
    assert (list(found.dropped), list(found.introduced)) == ([3], [1, 4])
    assert found.introduced_size == 2


def test_text_and_equal_bytes_are_one_item_and_a_number_is_another() -> None:
    """The item rule does not tell text from bytes, but tells the text 1 from the number 1."""
    found = compare(["1", b"1", 1], [b"1", 1, "1"])
    assert list(found.dropped) == []
    assert list(compare([1], ["1"]).dropped) == [0]


def test_the_result_equals_the_plain_matching_over_random_content() -> None:
    """Blocks, packed digests and bulk serialising change nothing about who was dropped."""
    rng = random.Random(5)
    for turn in range(120):
        pre = [random_item(rng) for _ in range(rng.randrange(12))]
        if turn % 2:
            pre = [{"n": number, "of": item} if isinstance(item, bytes) else item for number, item in enumerate(pre)]
            pre = [str(item) if isinstance(item, dict) and "of" in item else item for item in pre]
        post = [*rng.sample(pre, rng.randrange(len(pre) + 1)), *(random_item(rng) for _ in range(rng.randrange(4)))]
        digested = [[item_digest(item) for item in side] for side in (pre, post)]
        plain = difference([item.digest for item in digested[0]], [item.digest for item in digested[1]])
        found = compare(hold(pre) if turn % 3 else pre, post)
        assert tuple(zip(found.kept_pre, found.kept_post, strict=True)) == plain.kept
        assert (tuple(found.dropped), tuple(found.introduced)) == (plain.dropped, plain.introduced)
        assert found.pre is not None
        assert found.pre.digest == whole_digest(item.digest for item in digested[0])
        assert found.dropped_size == sum(digested[0][position].size for position in plain.dropped)
        assert found.introduced_size == sum(digested[1][position].size for position in plain.introduced)


def test_long_sides_cross_block_borders() -> None:
    """Thousands of items with copies far apart give the same sums and positions as a plain count."""
    pre = [f"item {number % 3000}" for number in range(9000)]
    post = [f"item {number}" for number in range(3000)] * 2
    found = compare(pre, post)
    assert list(found.dropped) == list(range(6000, 9000))
    assert found.pre is not None
    assert found.pre.digest == whole_digest(item_digest(item).digest for item in pre)


def test_the_manifest_is_split_into_what_disagrees() -> None:
    """Unclaimed drops, claims of kept items and claims of items never seen are told apart."""
    digests = {name: item_digest(name).digest for name in ("a", "b", "c", "ghost")}
    found = compare(["a", "b", "c"], ["c"], [digests["a"], digests["c"], digests["ghost"], "md5:x:y:ff"])
    assert found.manifest is not None
    assert found.manifest.unclaimed.digests == (digests["b"],)
    assert found.manifest.claimed_but_kept.digests == (digests["c"],)
    assert found.manifest.not_in_pre.digests == (digests["ghost"], "md5:x:y:ff")
    assert not found.manifest.agrees


def test_many_false_claims_of_kept_items_are_counted() -> None:
    """Claims of items that were kept are told apart over block borders, copies counted."""
    pre = [f"item {number % 700}" for number in range(1400)]
    found = compare(pre, pre[:1000], [item_digest(item).digest for item in pre[:900]])
    assert found.manifest is not None
    assert len(found.dropped) == 400
    claims = found.manifest
    # 900 claims name 700 items, 200 of them twice; the last 400 of pre were dropped.
    assert claims.not_in_pre.total == 0
    assert claims.claimed_but_kept.total == 900 - (400 - claims.unclaimed.total)


def test_a_claim_of_more_copies_than_there_were_is_named() -> None:
    """The manifest is a multiset too: two claims of one drop leave one without an item."""
    digest = item_digest("a").digest
    found = compare(["a", "b"], ["b"], [digest, digest])
    assert found.manifest is not None
    assert (found.manifest.not_in_pre.total, found.manifest.unclaimed.total) == (1, 0)


def test_named_digests_are_cut_and_counts_are_not() -> None:
    """A thousand missing digests name the first ones and count all."""
    found = compare(["a"] * 1000, [], [item_digest(str(number)).digest for number in range(1000)])
    assert found.manifest is not None
    assert (found.manifest.not_in_pre.total, found.manifest.unclaimed.total) == (1000, 1000)
    assert len(found.manifest.not_in_pre.digests) == len(found.manifest.unclaimed.digests) == 64


def test_rewritten_items_pair_by_their_native_id() -> None:
    """An object with the same id and other content is dropped, introduced and rewritten."""
    old, new = {"id": "m1", "text": "long story"}, {"id": "m1", "text": "short"}
    found = compare([old, "x"], ["x", new, {"id": "m2"}])
    assert found.rewritten == ((0, 1),)
    ((before, after),) = found.rewritten_items()
    assert (before.item, after.item) == (old, new)
    assert (list(found.dropped), list(found.introduced)) == ([0], [1, 2])


def test_items_are_given_back_a_page_at_a_time() -> None:
    """Each item comes back with its position, digest and size."""
    found = compare(["a", "bb", "c"], ["n"])
    assert [(held.position, held.item, held.size) for held in found.dropped_items(1, 1)] == [(1, "bb", 2)]
    assert found.dropped_items()[0].digest == item_digest("a").digest
    assert [held.item for held in found.introduced_items()] == ["n"]
    assert found.kept_items() == ()


def test_keys_and_digests_turn_into_each_other() -> None:
    """A key keeps the recipe, so equal hex under two recipes stays two keys."""
    items = ["1", 1, b"x", {"a": 1}]
    for item, key in zip(items, digest_block(items, 0).keys, strict=True):
        assert digest_of(key) == item_digest(item).digest
        assert key_of(item_digest(item).digest) == key
    assert key_of("sha256:raw-bytes:v1:" + "A" * 64) is None


@pytest.mark.parametrize(
    "odd",
    [
        "sha256:raw-bytes:v1:" + "A" * 64,
        "sha256:raw-bytes:v1:" + "a" * 62 + "  ",
        "sha256:json-c14n:v1:" + "a" * 63,
        "sha256:raw-bytes:v2:" + "a" * 64,
        "",
    ],
)
def test_a_digest_that_no_item_can_have_is_foreign_among_good_ones(odd: str) -> None:
    """Reading digests in bulk accepts exactly what reading them one by one accepts."""
    good = [item_digest(item).digest for item in ("a", {"a": 1}, "b", 2)]
    manifest = read_manifest([good[0], odd, *good[1:]])
    assert manifest.foreign == (odd,)
    assert sorted(manifest.keys) == sorted(key for key in map(key_of, good) if key is not None)
    assert sorted(read_manifest(good).keys) == sorted(manifest.keys)


def test_two_odd_digests_cannot_make_up_two_good_ones() -> None:
    """Digests cut at the wrong place do not pass because their joined text is right."""
    first, second = (item_digest(item).digest for item in "ab")
    assert read_manifest([first + second[:1], second[1:]]).foreign != ()
    assert read_manifest([first + second, ""]).foreign == (first + second, "")


@pytest.mark.parametrize("bad", ["\ud800", float("nan"), {"a": {1, 2}}, [object()]])
def test_the_item_that_cannot_be_digested_is_named(bad: object) -> None:
    """Among thousands of good items the one at fault is named by its position."""
    items: list[object] = ["fine"] * 3000
    items[2500] = bad
    with pytest.raises(ContentError) as caught:
        side_sum(items)
    assert caught.value.position == 2500
    assert caught.value.where == "item 2501"

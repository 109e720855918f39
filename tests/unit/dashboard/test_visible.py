"""Can anything in a foreign text hide?"""

from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from dashboard import visible

HOSTILE = (
    "\u202e\u2066\u200b\u200d\ufeff\u00ad\u2028\u2029\u0000\u001b\u007f\u0085\ud800\ue000\U000e0041\ufe0f\u3164\u034f"
)


def test_every_hidden_character_becomes_a_mark() -> None:
    """Bidi, zero-width, control, surrogate, private-use and blank characters are named."""
    shown = visible.visible(HOSTILE)
    assert shown == "".join(f"⟨U+{ord(c):04X}⟩" for c in HOSTILE)


def test_newline_tab_and_ordinary_text_stay() -> None:
    """Text that hides nothing is shown as it is."""
    text = "Grüße, 日本語, שלום\n\tx 😀 é"
    assert visible.visible(text) == text


def test_no_control_or_format_character_is_ever_left() -> None:
    """Over all of Unicode, nothing of the control, format, surrogate and private categories is passed through."""
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    left = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in hidden and chr(code) not in "\n\t" and not visible.is_hidden(chr(code))
    ]
    assert left == []


@given(st.text())
def test_pieces_join_to_the_visible_text(text: str) -> None:
    """Runs of marks and text, joined, are the visible text."""
    assert "".join(shown for _, shown in visible.pieces(text)) == visible.visible(text)


@given(st.text(max_size=400), st.integers(2, 60))
def test_one_line_is_short_and_single(text: str, limit: int) -> None:
    """A table cell never gets a line break, a hidden character or more than its length."""
    cut = visible.one_line(text, limit)
    assert len(cut) <= limit
    assert "\n" not in cut
    assert not any(visible.is_hidden(c) for c in cut)


def test_label_takes_ids_only() -> None:
    """What is no id becomes a neutral word, since labels are drawn as Markdown."""
    assert visible.label("run-17.a:b_C") == "run-17.a:b_C"
    for bad in ("", ":green-badge[OK] x", "a b", "x" * 65, "![x](http://h)", "é"):
        assert visible.label(bad) == "item"


def test_numbers_are_written_plainly() -> None:
    """Counts, nouns and sizes read as a person writes them."""
    assert visible.count(12408) == "12,408"
    assert visible.plural(1, "row") == "1 row"
    assert visible.plural(0, "row") == "0 rows"
    assert visible.plural(2, "entry", "entries") == "2 entries"
    assert visible.size(84) == "84 B"
    assert visible.size(2048) == "2.0 KiB"
    assert visible.size(3 * 1024**3) == "3.0 GiB"


def test_short_digest_keeps_the_recipe() -> None:
    """A shortened digest still says how it was made."""
    assert visible.short_digest("sha256:raw-bytes:v1:" + "ab" * 32) == "raw-bytes:v1:abababababab…"
    assert visible.short_digest("abcd") == "abcd"

"""Is every foreign character escaped?"""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from dashboard import html, theme
from engine.findings import Result

ATTACK = (
    "<img src=http://evil.example/x onerror=alert(1)><script>x</script>&\"'![x](http://evil.example) :green-badge[OK]"
)
OWN_TAGS = {
    "bdi", "span", "b", "ul", "li", "div", "p", "strong", "pre", "del", "ins", "dl", "dt", "dd", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "code", "header", "h1", "style",
}  # fmt: skip


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _parse(markup: str) -> _Tags:
    parser = _Tags()
    parser.feed(markup)
    parser.close()
    return parser


def _everything(text: str) -> str:
    verdict = theme.FAILS
    parts = [
        html.foreign(text),
        html.block(text, 10_000),
        html.badge(verdict),
        html.trust([html.Trust(text, verdict, text)]),
        html.banner(theme.Tone.BAD, text, text, html.code(text)),
        html.facts([(text, text)]),
        html.table(text, [text], [[text, html.code(text)]]),
        html.title(text, text, meta=text),
        html.word_diff(text, text[::-1]),
        html.muted(text),
    ]
    return "".join(map(str, parts))


def test_attack_makes_no_element() -> None:
    """Markup in foreign text is shown letter by letter, in every piece."""
    parsed = _parse(_everything(ATTACK))
    assert parsed.tags <= OWN_TAGS
    assert not {"onerror", "src", "href"} & parsed.attributes
    assert ATTACK in "".join(parsed.words)


@given(st.text(alphabet=st.sampled_from("<>&\"'/=ab \n\u202e{}%;:!-")))
def test_no_text_makes_an_element(text: str) -> None:
    """Whatever the text, only our own elements and attributes come out."""
    parsed = _parse(_everything(text))
    assert parsed.tags <= OWN_TAGS
    assert parsed.attributes <= {"class", "tabindex", "role", "aria-label", "aria-hidden", "scope"}


def test_hidden_characters_are_set_apart() -> None:
    """A mark stands in an element of its own, so that text that spells a mark is told from one."""
    assert '<span class="wn-mark">⟨U+202E⟩</span>' in html.foreign("a\u202eb")
    assert "wn-mark" not in html.foreign("⟨U+202E⟩")


def test_no_piece_leaves_a_character_hidden() -> None:
    """Every piece that takes plain text marks what would act unseen, whatever place it is given in."""
    assert "\u202e" not in _everything("a\u202eb")


def test_diff_marks_removed_and_added_words() -> None:
    """Removed words are struck, added ones underlined, kept ones plain."""
    made = html.word_diff("never deploy without a receipt", "deploy with a receipt")
    assert made.count("<del") == 2
    assert made.count("<ins") == 1
    assert "without" in made


def test_every_tone_has_one_look_and_style() -> None:
    """Each tone has its own glyph, fill, dash and marker, and its class stands in the style file."""
    looks = list(theme.LOOKS.values())
    for field in ("glyph", "fill", "dash", "marker"):
        assert len({getattr(look, field) for look in looks}) == len(theme.Tone)
    for tone in theme.Tone:
        assert f".wn-{tone.value} " in html.stylesheet()
        assert f"--wn-{tone.value}:{theme.LOOKS[tone].fill}" in html.stylesheet()
    assert "url(" not in html.stylesheet()
    assert "@import" not in html.stylesheet()


def test_could_not_look_is_grey_and_never_good() -> None:
    """Each result has its verdict; only HOLDS is good."""
    assert set(theme.RESULTS) == set(Result)
    good = [result for result, verdict in theme.RESULTS.items() if verdict.tone is theme.Tone.GOOD]
    assert good == [Result.HOLDS]
    assert [r for r in Result if theme.chain_verdict(r).tone is theme.Tone.GOOD] == [Result.HOLDS]
    assert theme.chain_verdict(Result.FAILS, 41).word == "BROKEN at line 41"

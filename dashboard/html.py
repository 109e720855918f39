"""Which markup stands around foreign text, with every foreign character escaped?

Pure. Everything foreign enters through `foreign`, and the rest is joined by `Markup`, which escapes whatever is not
markup already. Words marked as removed and added are struck and underlined as well as coloured. A diff shows where
two texts differ, not which of them is true.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup, escape

from dashboard import visible
from dashboard.theme import LOOKS, Tone, Verdict

STYLE_FILE = Path(__file__).parent / "assets" / "winnow.css"
DIFF_WORDS = 4_000
"""Words compared on each side; the matching is quadratic."""

_WORDS = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class Trust:
    """One trust badge: what is asked, the verdict, and by which means it was reached."""

    name: str
    verdict: Verdict
    basis: str


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """Return the style element: the fills of the theme as variables, then the style file."""
    variables = "".join(f"--wn-{tone}:{look.fill};--wn-{tone}-ink:{look.ink};" for tone, look in LOOKS.items())
    return f"<style>:root{{{variables}}}\n{STYLE_FILE.read_text(encoding='utf-8')}</style>"


def foreign(text: str, limit: int = 400) -> Markup:
    """Escape foreign text, cut to a length, with hidden characters set apart as marks."""
    cut = text[:limit]
    parts = Markup().join(
        Markup('<span class="wn-mark">{}</span>').format(shown) if hidden else escape(shown)
        for hidden, shown in visible.pieces(cut)
    )
    tail = visible.ELLIPSIS if len(text) > limit else ""
    return Markup('<bdi class="wn-foreign">{}{}</bdi>').format(parts, tail)


def block(text: str, limit: int) -> Markup:
    """Return foreign text as a preformatted block."""
    return Markup('<pre class="wn-block" tabindex="0">{}</pre>').format(foreign(text, limit))


def glyph(tone: Tone) -> Markup:
    """Return the filled tile with the glyph of a tone."""
    return Markup('<span class="wn-glyph wn-{}" aria-hidden="true">{}</span>').format(tone.value, LOOKS[tone].glyph)


def badge(verdict: Verdict) -> Markup:
    """Return a verdict: glyph on its fill, word in the text colour beside it."""
    return Markup('<span class="wn-badge">{}<b>{}</b></span>').format(glyph(verdict.tone), verdict.word)


def trust(items: Sequence[Trust]) -> Markup:
    """Return trust badges side by side, each with its basis; never one score."""
    cards = Markup().join(
        Markup(
            '<li class="wn-card wn-edge-{}"><span class="wn-eyebrow">{}</span>{}<span class="wn-basis">{}</span></li>'
        ).format(item.verdict.tone.value, visible.visible(item.name), badge(item.verdict), foreign(item.basis, 240))
        for item in items
    )
    return Markup('<ul class="wn-trust">{}</ul>').format(cards)


def banner(tone: Tone, title: str, *lines: Markup | str) -> Markup:
    """Return a banner; title and plain lines are taken as foreign, lines of markup stay."""
    told = (line if isinstance(line, Markup) else foreign(line, 2_000) for line in lines if line)
    body = Markup().join(Markup("<p>{}</p>").format(line) for line in told)
    role = "alert" if tone is Tone.BAD else "note"
    return Markup('<div class="wn-banner wn-edge-{}" role="{}">{}<div><strong>{}</strong>{}</div></div>').format(
        tone.value, role, glyph(tone), foreign(title), body
    )


def facts(pairs: Iterable[tuple[str, Markup | str]]) -> Markup:
    """Return names and values as a definition list; plain values are taken as foreign."""
    rows = Markup().join(
        Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(visible.visible(name), cell(value)) for name, value in pairs
    )
    return Markup('<dl class="wn-facts">{}</dl>').format(rows)


def cell(value: Markup | str) -> Markup:
    """Return markup as it is and plain text as foreign."""
    return value if isinstance(value, Markup) else foreign(value)


def table(caption: str, headers: Sequence[str], rows: Iterable[Sequence[Markup | str]]) -> Markup:
    """Return a small table (for a page of tens of rows); plain cells are taken as foreign."""
    head = Markup().join(Markup('<th scope="col">{}</th>').format(visible.visible(name)) for name in headers)
    body = Markup().join(
        Markup("<tr>{}</tr>").format(Markup().join(Markup("<td>{}</td>").format(cell(value)) for value in row))
        for row in rows
    )
    return Markup(
        '<div class="wn-scroll" tabindex="0" role="region" aria-label="{0}"><table class="wn-table">'
        '<caption class="wn-unseen">{0}</caption><thead><tr>{1}</tr></thead><tbody>{2}</tbody></table></div>'
    ).format(visible.visible(caption), head, body)


def code(value: str) -> Markup:
    """Return a short foreign value in the code face."""
    return Markup("<code>{}</code>").format(foreign(value, 160))


def muted(value: str) -> Markup:
    """Return secondary text, escaped."""
    return Markup('<span class="wn-muted">{}</span>').format(foreign(value))


def title(eyebrow: str, name: str, *, meta: Markup | str = "") -> Markup:
    """Return a page heading whose name is foreign."""
    below = Markup('<p class="wn-meta">{}</p>').format(cell(meta)) if meta else Markup()
    return Markup('<header class="wn-title"><span class="wn-eyebrow">{}</span><h1>{}</h1>{}</header>').format(
        visible.visible(eyebrow), foreign(name, 200), below
    )


def heading(name: str, *, meta: str = "") -> Markup:
    """Return a heading within a page whose name is foreign."""
    below = Markup('<p class="wn-meta">{}</p>').format(cell(meta)) if meta else Markup()
    return Markup('<div class="wn-title"><h2>{}</h2>{}</div>').format(foreign(name, 200), below)


def problem(verdict: Verdict, place: str, words: str) -> Markup:
    """Return one line of a list of problems: verdict, where, in which words."""
    return Markup('<div class="wn-problem wn-edge-{}">{}<span class="wn-place">{}</span>{}</div>').format(
        verdict.tone.value, badge(verdict), foreign(place, 120), muted(words)
    )


def word_diff(before: str, after: str) -> Markup:
    """Return the words of both texts in one line of reading: removed struck, added underlined."""
    old, new = (_WORDS.findall(text)[: 2 * DIFF_WORDS] for text in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    parts: list[Markup] = []
    for what, a, b, c, d in matcher.get_opcodes():
        removed, added = "".join(old[a:b]), "".join(new[c:d])
        if what == "equal":
            parts.append(foreign(removed, len(removed)))
            continue
        if removed:
            parts.append(Markup('<del class="wn-del">{}</del>').format(foreign(removed, len(removed))))
        if added:
            parts.append(Markup('<ins class="wn-ins">{}</ins>').format(foreign(added, len(added))))
    return Markup('<div class="wn-block wn-diff">{}</div>').format(Markup().join(parts))

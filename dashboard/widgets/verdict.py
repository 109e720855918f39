"""How is a verdict drawn?

Always glyph, word and fill from the theme together, with what was checked and by which means beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from dashboard import html
from dashboard.theme import Verdict
from dashboard.widgets import text


def badge(verdict: Verdict, basis: str = "") -> None:
    """Draw one verdict with its basis beneath."""
    below = Markup('<div class="wn-basis">{}</div>').format(html.foreign(basis, 240)) if basis else Markup()
    text.draw(Markup("<div>{}{}</div>").format(html.badge(verdict), below))


def trust(items: Sequence[html.Trust]) -> None:
    """Draw trust badges side by side; they are never folded into one."""
    text.draw(html.trust(items))


def scope(proves: str, does_not: str) -> None:
    """Draw what a verdict proves and what it does not, one sentence each."""
    text.draw(html.facts((("Proves", proves), ("Does not prove", does_not))))

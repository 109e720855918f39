"""The only door through which foreign text and markup reach the screen.

Most elements of the screen library draw their text as Markdown: a line of a transcript could paint a verdict badge
or make the browser fetch an address. Whatever comes from a file, a path or a user goes through this module, which
draws escaped text only. A shown text proves nothing about its bytes; the digest does.
"""

from __future__ import annotations

import streamlit as st
from markupsafe import Markup

from dashboard import html, visible

SHOWN = 2_000
"""Characters of a text shown at first."""
SHOWN_ALL = 200_000
"""Characters shown after "show all"; beyond that the raw file is the way."""


def draw(markup: Markup) -> None:
    """Draw markup made by `dashboard.html`."""
    st.html(str(markup))


def style() -> None:
    """Load the style sheet, once a run."""
    st.html(html.stylesheet())


def line(value: str) -> None:
    """Show one short foreign text."""
    draw(Markup("<div>{}</div>").format(html.foreign(value)))


def note(value: str) -> None:
    """Show secondary text."""
    draw(Markup('<div class="wn-basis">{}</div>').format(html.foreign(value, 1_000)))


def title(eyebrow: str, name: str, meta: Markup | str = "") -> None:
    """Show a page heading whose name is foreign."""
    draw(html.title(eyebrow, name, meta=meta))


def heading(name: str, meta: str = "") -> None:
    """Show a heading within a page whose name is foreign."""
    draw(html.heading(name, meta=meta))


def block(value: str, *, key: str) -> None:
    """Show a foreign text, cut to a length, with a button that shows all of it."""
    if not value:
        note("(empty text)")
        return
    everything = len(value) <= SHOWN or bool(st.session_state.get(f"{key}:all"))
    draw(html.block(value, SHOWN_ALL if everything else SHOWN))
    if not everything:
        st.button("Show all of it", key=f"{key}:more", on_click=_open_fully, args=(f"{key}:all",))
    if len(value) > SHOWN:
        shown = min(len(value), SHOWN_ALL if everything else SHOWN)
        note(f"showing {shown:,} of {visible.plural(len(value), 'character')}")


def command(value: str) -> None:
    """Show a command line with a copy button, drawn as plain code."""
    st.code(visible.visible(value), language=None, wrap_lines=True)


def _open_fully(flag: str) -> None:
    st.session_state[flag] = True

"""How are findings listed?

Each with its place, what was claimed and what was recomputed, in the order of the file; the list is paged, never
cut in silence.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup, escape

from dashboard import html, visible
from dashboard.theme import SEVERITIES
from dashboard.widgets import text
from engine.findings import Finding, Severity

PER_PAGE = 50

_WORDS = {Severity.BREAK: "break", Severity.LIMIT: "not looked at", Severity.NOTICE: "notice"}


def show(findings: Sequence[Finding], *, key: str, total: int | None = None) -> None:
    """List findings, 50 a page; `total` is said when more were counted than kept."""
    pages = max(1, -(-len(findings) // PER_PAGE))
    page = st.pagination(pages, key=key) if pages > 1 else 1
    first = (page - 1) * PER_PAGE
    rows = [_row(finding) for finding in findings[first : first + PER_PAGE]]
    text.draw(html.table("Findings", ("WHAT", "LINE", "FINDING", "CLAIMED", "RECOMPUTED"), rows))
    if total is not None and total > len(findings):
        text.note(f"{visible.plural(total, 'finding')} counted, the first {len(findings):,} kept")


def _row(finding: Finding) -> tuple[Markup | str, ...]:
    tone = SEVERITIES[finding.code.severity]
    what = Markup('<span class="wn-badge">{}<span>{}</span></span>').format(
        html.glyph(tone), _WORDS[finding.code.severity]
    )
    where = "" if finding.line is None else f"{finding.line:,}"
    told = Markup("{}{}{}{}").format(
        escape(finding.code.sentence),
        Markup("<br>{}").format(html.code(finding.field)) if finding.field else "",
        Markup("<br>{}").format(html.muted(finding.note)) if finding.note else "",
        Markup("<br>{}").format(html.muted(finding.code.hint)) if finding.code.hint else "",
    )
    return (what, where, told, _value(finding.claimed), _value(finding.found))


def _value(value: str) -> Markup | str:
    return html.code(value) if value else "none"

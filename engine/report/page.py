"""How does a review leave as one page that anybody can open and print?

One HTML file without script, image or address: every foreign text is escaped by the template engine, with hidden
characters marked, and a policy inside the page forbids loading anything. The page shows what was found; it is no
proof by itself, since anyone can edit a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from engine import __version__
from engine.findings import Result
from engine.receipts.words import sentence_of
from engine.report.manifest import Manifest
from engine.report.plain import content_text, plain
from engine.review import LedgerReview, Review
from engine.transcripts.rounds import round_difference

FINDINGS_SHOWN = 500
GLYPHS = {Result.HOLDS: "✔", Result.BOUNDED: "◐", Result.FAILS: "✖", Result.COULD_NOT_LOOK: "○"}


def report_page(review: Review, manifest: Manifest, ledgers: Sequence[LedgerReview] | None = None) -> str:
    """Return the report over the given ledgers (all when None) and every session of the review."""
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        files("engine.report").joinpath("page.html").read_text(encoding="utf-8")
    )
    sessions = [
        (file.name, transcript, [(each, round_difference(transcript, each)) for each in transcript.rounds])
        for file, transcript in review.held.transcripts
    ]
    return template.render(
        manifest=manifest,
        engine=__version__,
        ledgers=review.ledgers if ledgers is None else ledgers,
        sessions=sessions,
        glyphs=GLYPHS,
        plain=plain,
        text=content_text,
        sentence=sentence_of,
        limit=FINDINGS_SHOWN,
    )

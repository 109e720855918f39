"""What is proven here, what is not, and which limits are in force?"""

from __future__ import annotations

import streamlit as st
from markupsafe import Markup

from dashboard import html, settings, visible
from dashboard.theme import (
    BOUNDED,
    CANNOT_CHECK,
    DEGRADED,
    FAILS,
    HALT,
    HOLDS,
    LOST,
    PRESERVED,
    UNVERIFIABLE,
    Verdict,
)
from dashboard.widgets import text
from engine import __version__
from engine.ledger.report import Limits

PROOFS = (
    (
        "A chain that is INTACT",
        "the rows read are the rows chained, in order, each unchanged in meaning since it was chained",
        "that no rows were cut off the end (that takes a pin kept elsewhere), nor that what the rows say is true",
    ),
    (
        "A head pin that HOLDS",
        "the ledger still contains the pinned rows, and everything up to them chains",
        "anything about rows after the pin; a pin kept by the same hands as the ledger proves little",
    ),
    (
        "A receipt that is SELF-CONSISTENT",
        "its counts, bytes and digests agree with each other, and it was not edited after sealing",
        "that any of it is true: a careful liar passes. Nothing was recomputed from content",
    ),
    (
        "A receipt whose CONTENT matches",
        "the items given are the items claimed, and what is missing after the compaction is exactly the manifest",
        "that the items given to the compactor were all there was, nor that dropping them was wise",
    ),
    (
        "A v1 receipt with introductions",
        "the bytes after are at least what they must be (a lower bound)",
        "the exact number of bytes dropped; only v2 receipts close that sum",
    ),
    (
        "A transcript side that is exact",
        "the items before or after the compaction were rebuilt from the file by that tool's own rules",
        "that the file is what the model saw; any other side proves nothing about what is not visible",
    ),
    (
        "A span that is PRESERVED",
        "its words stand in the text after the compaction, in order; case, punctuation and line breaks aside",
        "that it is in force (the text may revoke it) or that a model obeys it; the flags show such places",
    ),
    (
        "A span that is DEGRADED or LOST",
        "its words do not stand there in order; three of five are somewhere in the text, or fewer",
        "that its meaning is gone: a faithful paraphrase is LOST, and a long text holds most words of any sentence",
    ),
    (
        "A signed receipt of an audit",
        "alone: that a key of your keyring issued it in its time; with pins and text: that its verdicts come out again",
        "who holds the key, when it was really signed, or that the pins were all the rules there were",
    ),
    (
        "A share of kept rules",
        "so many of so many pins of these sessions were kept; the interval speaks of chance alone",
        "that the pins are a fair sample, or that compactors with different budgets can be ranked",
    ),
)

WORDS = (HOLDS, BOUNDED, FAILS, CANNOT_CHECK, PRESERVED, DEGRADED, LOST, UNVERIFIABLE, HALT)

RESIDUES = (
    "Truncation to whole rows is invisible without a pin kept outside.",
    "The chain covers the meaning of a row, not its bytes; the second answer, bytes as written, covers those.",
    "The chain value of this format has 128 bits; two rows prepared by a rich writer could share one.",
    "A changed file is read again when its size, times or inode differ; any other change shows at the next start.",
    "Root on this machine, or a disk rolled back together with everything that remembers, defeats every check here.",
    "Rows cut off the end of the workspace's own record are not missed, unless a pin of it is kept elsewhere.",
    "The words behind the flags are English, German, French, Spanish, Chinese and Japanese; others fire none.",
    "Whoever can run programs on this machine can open this screen; it listens on the loopback address only.",
)


def show() -> None:
    """Draw what each verdict means and every limit in force."""
    st.title("Limits")
    text.note("What a verdict on this screen proves, what it does not, and where looking stops.")
    st.header("Words")
    text.draw(html.table("Words", ("VERDICT", "MEANING"), [_word(each) for each in WORDS]))
    st.header("Proven and not proven")
    text.draw(html.table("Proven and not proven", ("ANSWER", "PROVES", "DOES NOT PROVE"), PROOFS))
    st.header("What no check here can see")
    text.draw(Markup("<ul>{}</ul>").format(Markup().join(Markup("<li>{}</li>").format(line) for line in RESIDUES)))
    st.header("Settings in force")
    text.draw(html.facts(_settings()))


def _word(verdict: Verdict) -> tuple[Markup | str, ...]:
    return (html.badge(verdict), verdict.meaning)


def _settings() -> list[tuple[str, str]]:
    limits = Limits()
    return [
        ("engine", __version__),
        ("deepest nesting of a row", f"{limits.nesting:,} levels"),
        ("longest line", visible.size(limits.line_bytes)),
        ("findings kept in full", f"{limits.findings:,} for each ledger"),
        ("largest upload", f"{settings.MAX_UPLOAD_MIB} MiB"),
        ("listens on", settings.ADDRESS),
        ("host names served", ", ".join(settings.HOSTS)),
        ("telemetry", "off"),
        ("addresses fetched", "none"),
    ]

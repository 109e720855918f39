"""The labelled pairs of a span and what a summary made of it, in four languages.

Each rule stands in a frame of other sentences; a variant is what became of it, labelled by what a careful reader would
say, whatever the engine answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from engine.spans.audit import SpanAudit, audit
from engine.spans.snapshot import Snapshot, pin

FOLDER = Path(__file__).parents[1] / "vectors" / "damage"
KINDS = ("kept", "paraphrased", "weakened", "number", "negated", "reordered", "dropped")
LANGUAGES = ("de", "en", "es", "zh")


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair: the span, the text after, and what was done to the span."""

    id: str
    language: str
    kind: str
    span: str
    post: str

    @property
    def damaged(self) -> bool:
        """Tell whether a reader would miss something of the rule; a paraphrase keeps it in other words."""
        return self.kind not in {"kept", "paraphrased"}

    def judged(self) -> SpanAudit:
        """Audit the pair."""
        return audit(Snapshot("evt-1", (pin(self.span),), (), ()), self.post).spans[0]


def pairs() -> list[Pair]:
    """Return every pair of every language."""
    made = []
    for language in LANGUAGES:
        for line in (FOLDER / f"{language}.jsonl").read_text(encoding="utf-8").splitlines():
            rule = json.loads(line)
            for number, variant in enumerate(rule["variants"], 1):
                post = rule["frame"].replace("{}", variant["text"])
                made.append(Pair(f"{rule['id']}-{number}", language, variant["kind"], rule["span"], post))
    return made

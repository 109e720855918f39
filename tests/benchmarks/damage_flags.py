"""Which verdicts and flags do damaged rules get, by kind and language?

Prints the table, and ends with 1 when a damaged rule reads PRESERVED without a flag or a kept one bears a flag.
"""

from __future__ import annotations

from collections import Counter

from engine.spans.judge import Verdict
from tests.support.bench import Bars
from tests.support.damage_corpus import KINDS, LANGUAGES, pairs


def main() -> None:
    """Judge every pair."""
    bars = Bars()
    judged = [(pair, pair.judged()) for pair in pairs()]
    for kind in KINDS:
        for language in LANGUAGES:
            mine = [found for pair, found in judged if (pair.kind, pair.language) == (kind, language)]
            verdicts = Counter(found.verdict.value for found in mine)
            flags = Counter(flag.value for found in mine for flag in found.evidence.flags)
            flagged = sum(bool(found.evidence.flags) for found in mine)
            words = ", ".join(f"{name} {count}" for name, count in flags.most_common())
            print(f"      {kind:12} {language}: {dict(verdicts)}, flagged {flagged} of {len(mine)}: {words}")
        both = [found for pair, found in judged if pair.kind == kind]
        print(f"{kind}: flagged {sum(bool(found.evidence.flags) for found in both)} of {len(both)}")
    damaged = [found for pair, found in judged if pair.damaged]
    kept = [found for pair, found in judged if pair.kind == "kept"]
    preserved = [found for found in damaged if found.verdict is Verdict.PRESERVED]
    bars.at_most("damaged pairs that read PRESERVED", len(preserved), 0, f"of {len(damaged)}")
    bars.at_most("of these without a flag", sum(not found.evidence.flags for found in preserved), 0, "pairs")
    bars.at_most("kept pairs with a flag", sum(bool(found.evidence.flags) for found in kept), 0, f"of {len(kept)}")
    bars.end()


if __name__ == "__main__":
    main()

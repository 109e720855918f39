"""What was said in the samples?

A small support conversation that is compacted a few times; invented for this project.
"""

from __future__ import annotations

RULE = "Safety: never deploy without approval from the release owner."
TURNS = (
    "user: what is the refund window?",
    "assistant: 30 days from delivery.",
    "user: does that cover digital goods?",
    "assistant: yes, minus any credits already spent.",
    "user: and gift cards?",
    "assistant: gift cards are not refunded; they can be exchanged once.",
    RULE,
    "user: please prepare the release notes.",
    "assistant: the notes are in docs/release.md.",
)


def rounds(count: int, ticket: int) -> list[tuple[list[str], list[str]]]:
    """Return honest rounds: each keeps the newest turns and a summary of the rest."""
    made = []
    context = [f"user: this is about ticket {ticket}.", *TURNS]
    for number in range(1, count + 1):
        post = [
            f"summary {number} of {ticket}: {len(context) - 2} earlier turns about refunds and a release.",
            *context[-2:],
        ]
        made.append((context, post))
        context = [*post, f"user: follow-up question {number} on {ticket}?", f"assistant: answer {number}."]
    return made

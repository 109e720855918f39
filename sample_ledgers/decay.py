"""Which samples show rules that decay over rounds, under two compactors?

Three invented sessions of five compactions each. What became of every rule is written down by hand, letter by letter,
and the summaries are made from it: P whole, D damaged, L gone, B gone but in a re-injected block, - not yet written.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sample_ledgers.rows import Files, stamp
from sample_ledgers.sessions import Session

CODEX_SUMMARY = "Another language model started to solve this problem and left a summary of it:\n\n"
WORDS = {"P": "PRESERVED", "D": "DEGRADED", "L": "LOST", "B": "LOST"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as it was written, as it reads when damaged, and its fate in each session."""

    text: str
    damaged: str
    cls: str
    critical: bool
    fates: tuple[str, str, str]


RULES = (
    Rule("Safety: never deploy to production without a signed receipt.", "Deploy to production with a signed receipt.",
         "INVARIANT", True, ("PPDLL", "PDLLL", "PBBBP")),
    Rule("Never paste customer names into prompts.", "Customer names go into prompts rarely.",
         "INVARIANT", True, ("PDLLP", "PPPDL", "PPBBB")),
    Rule("Rule: keep audit logs for 90 days.", "Keep audit logs for 30 days.",
         "INVARIANT", False, ("PPDDL", "PDDLL", "PPPPP")),
    Rule("Goal: ship the export button before the autumn fair.", "The export button should ship before the fair.",
         "INVARIANT", False, ("PPPPD", "PPPPP", "PPPPP")),
    Rule("Acceptance: every CSV column has a header.", "A CSV column has a header.",
         "INVARIANT", False, ("PDLLL", "PPDLL", "PPPDD")),
    Rule("Must run the linter before each commit.", "Please try to run the linter before a commit.",
         "INVARIANT", False, ("DDLLL", "PDDDL", "PPDDD")),
    Rule("Always answer in German when the ticket is German.", "Answer in German when the ticket is short.",
         "INVARIANT", False, ("PPDDL", "PPPPD", "PPPPP")),
    Rule("Do not touch the billing tables.", "Touch the billing tables with care.",
         "INVARIANT", False, ("PPDLL", "PLLLL", "PPPBB")),
    Rule("[fact] The staging host is stg-7.", "The staging host is stg-8.",
         "FACT", False, ("PPPDD", "PPDDD", "PPPPP")),
    Rule("[fact] Backups run at 02:30 UTC.", "Backups run at 04:30 UTC.",
         "FACT", False, ("PLLLL", "PPDDL", "PPPDD")),
    Rule("[fact] Mira owns the release branch.", "Mira owns a release.",
         "FACT", False, ("PPPPP", "PPPDL", "PPPPP")),
    Rule("[invariant] Two reviewers sign each migration.", "Reviewers sign each migration.",
         "INVARIANT", False, ("PDLLL", "-PDLL", "-PPPP")),
    Rule("[critical] Spend at most 40 euros per day.", "Spend at most 400 euros per day.",
         "INVARIANT", True, ("PPDDL", "PPPDD", "PPPBB")),
    Rule("Objective: cut page load below 800 ms.", "Cut page load below 900 ms.",
         "INVARIANT", False, ("DLLLL", "PDDDL", "PPPPD")),
)  # fmt: skip
NAMES = ("claude-spring.jsonl", "claude-autumn.jsonl", "codex-winter.jsonl")
TALK = (
    "Thanks, go on with the next file.",
    "You must never share the vault code.",
    "I will be back after lunch.",
)
"""Lines without a verdict; the second looks like a rule and is not covered."""


def rules_over_rounds() -> Files:
    """Make the three sessions."""
    return {
        NAMES[0]: _claude(0, "5f0c1f5e-5a3e-4a57-9a0e-000000000011"),
        NAMES[1]: _claude(1, "5f0c1f5e-5a3e-4a57-9a0e-000000000012"),
        NAMES[2]: _codex(2, "0199c0de-0000-7000-8000-000000000013"),
    }


def expected() -> dict[str, Any]:
    """Return for each session and rule the verdicts of its rounds, None where it was not yet written."""
    return {
        name: {
            rule.text: {
                "class": rule.cls,
                "critical": rule.critical,
                "rounds": [WORDS.get(letter) for letter in rule.fates[number]],
                "in_block": [letter == "B" for letter in rule.fates[number]],
            }
            for rule in RULES
        }
        for number, name in enumerate(NAMES)
    }


def _written(session: int, *, late: bool) -> str:
    """Return the rules that a session's operator writes at the start, or after the first round."""
    return "\n".join(rule.text for rule in RULES if (rule.fates[session][0] == "-") is late)


def _summary(session: int, number: int) -> str:
    """Return what the compactor wrote in a round."""
    lines = [f"Summary, part {number}. Work goes on with the files of the shop."]
    for rule in RULES:
        letter = rule.fates[session][number - 1]
        if letter in "PD":
            lines.append("- " + (rule.text if letter == "P" else rule.damaged))
    return "\n".join(lines)


def _claude(session: int, name: str) -> bytes:
    made = Session(name)
    made.user(_written(session, late=False))
    for number in range(1, 6):
        made.assistant(f"Reading file {number} now.")
        made.tool("Read", {"file_path": f"src/shop_{number}.py"}, f"def shop_{number}():\n    return {number}\n" * 12)
        asked = made.user(TALK[number % 3])
        answered = made.assistant(f"File {number} is done.")
        made.compact(_summary(session, number), [asked, answered], 9000 + number)
        if number == 1 and (late := _written(session, late=True)):
            made.user(late)
    made.user("What is left to do?")
    return made.data()


def _codex(session: int, name: str) -> bytes:
    rows: list[dict[str, Any]] = []

    def add(kind: str, **payload: Any) -> None:
        when = stamp(len(rows) + 1).replace("Z", ".000Z")
        rows.append({"timestamp": when, "type": kind, "payload": payload})

    add("session_meta", id=name, cli_version="0.142.2", cwd="/srv/shop")
    add("response_item", **_message("user", _written(session, late=False)))
    for number in range(1, 6):
        add("response_item", **_message("assistant", f"Reading file {number} now. " + "Some notes on it. " * 20))
        asked = _message("user", TALK[number % 3])
        add("response_item", **asked)
        summary = CODEX_SUMMARY + _summary(session, number) + _block(session, number)
        add("compacted", message=summary, replacement_history=[asked, _message("user", summary)])
        if number == 1 and (late := _written(session, late=True)):
            add("response_item", **_message("user", late))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _block(session: int, number: int) -> str:
    """Return the block that the harness re-injected in a round, in the frame of the policy."""
    carried = [rule for rule in RULES if rule.fates[session][number - 1] == "B"]
    if not carried:
        return ""
    inner = ""
    for place, rule in enumerate(carried, 1):
        pin = "pin-" + hashlib.sha256(rule.text.encode()).hexdigest()[:16]
        critical = " critical" if rule.critical else ""
        inner += f"[{place}] {pin} {rule.cls}{critical} LOST bytes={len(rule.text.encode())}\n{rule.text}\n"
    digest = hashlib.sha256(inner.encode()).hexdigest()
    return f"\n\n<<<PINNED v1 n={len(carried)} sha256={digest}>>>\n{inner}<<<END PINNED sha256={digest}>>>\n"

"""How are the samples made, and are they still what they were?

`python -m sample_ledgers.build` writes every sample folder; `--check` builds them in memory and compares byte for byte.
Each folder holds a README, the inputs, and `expected.json` with the verdict stated by hand. A sample shows one thing;
it does not prove that the engine is right about anything else.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sample_ledgers import chains, decay, lies, sessions
from sample_ledgers.rows import Files, json_file

HERE = Path(__file__).parent
FAILS, HOLDS, BOUNDED, UNKNOWN = "FAILS", "HOLDS", "BOUNDED", "COULD_NOT_LOOK"


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample: how its files are made, why it exists, and the answers it must get."""

    make: Callable[[], Files]
    why: str
    answers: dict[str, str]
    findings: tuple[tuple[str, int | None], ...] = ()
    rounds: int | None = None

    def expected(self) -> dict[str, Any]:
        """Return the content of `expected.json`."""
        return {
            "receipts.jsonl": {"answers": self.answers, "findings": [list(f) for f in self.findings]},
            **({"session.jsonl": {"rounds": self.rounds}} if self.rounds is not None else {}),
        }


def _answers(chain: str, receipts: str, content: str, pin: str = UNKNOWN) -> dict[str, str]:
    return {
        "self_consistent": receipts,
        "chain": chain,
        "head_pin": pin,
        "signature": UNKNOWN,
        "content": content,
    }


SAMPLES: dict[str, Sample] = {
    "honest_holds": Sample(
        chains.honest,
        "Six honest receipts, a pin at the newest row, and the content of the first round.",
        _answers(HOLDS, HOLDS, BOUNDED, HOLDS),
    ),
    "edited_row_fails": Sample(
        chains.edited,
        "The compactor's name in row 4 was changed after it was written: one break, and that receipt's own digest.",
        _answers(FAILS, FAILS, UNKNOWN),
        (("chain_mismatch", 4),),
    ),
    "truncated_against_pin_fails": Sample(
        chains.truncated,
        "Two rows were cut off the end. The chain alone stays green; only the pin shows it.",
        _answers(HOLDS, HOLDS, UNKNOWN, FAILS),
    ),
    "planted_lie_fails": Sample(
        lies.planted_lie,
        "The receipt claims that nothing was dropped and agrees with itself. The content shows that the rule is gone.",
        _answers(HOLDS, HOLDS, FAILS),
    ),
    "v1_understated_fails": Sample(
        lies.understated,
        "A v1 receipt understates the bytes it dropped. Alone it passes its lower bound; content shows both numbers.",
        _answers(HOLDS, HOLDS, FAILS),
    ),
    "declared_break_bounded": Sample(
        chains.declared,
        "A line was written by hand and declared. The answer is bounded: the chain was not checked across it.",
        _answers(BOUNDED, HOLDS, UNKNOWN),
        (("declared_break", 3),),
    ),
    "forked_fails": Sample(
        chains.forked,
        "Two writers appended after row 2: row 4 continues from there. That is a break, not an edit.",
        _answers(FAILS, HOLDS, UNKNOWN),
        (("chain_mismatch", 4),),
    ),
    "respelled_holds": Sample(
        chains.respelled,
        "Row 2 came back from a database with other spacing and key order: same meaning, other bytes.",
        _answers(HOLDS, HOLDS, UNKNOWN),
    ),
    "unfinished_tail_bounded": Sample(
        chains.unfinished,
        "The last line is cut. It may still be being written; that is not tampering, and not a pass either.",
        _answers(BOUNDED, HOLDS, UNKNOWN),
        (("unfinished_last_line", 4),),
    ),
    "duplicate_key_fails": Sample(
        chains.duplicate_key,
        "Receipt 2 says its drop count twice. Two readers see two receipts, so it is refused as ambiguous.",
        _answers(FAILS, FAILS, UNKNOWN),
        (("duplicate_key", 2),),
    ),
    "decaying_rule_holds": Sample(
        sessions.decaying,
        "A session of five rounds in which a safety rule is shortened, weakened and lost, with honest receipts.",
        _answers(HOLDS, HOLDS, HOLDS),
        rounds=5,
    ),
    "hostile_session_holds": Sample(
        sessions.hostile,
        "A session whose text tries to draw verdicts, call out, run code and hide. It must show as text only.",
        _answers(HOLDS, HOLDS, HOLDS),
        rounds=1,
    ),
}


@dataclass(frozen=True, slots=True)
class Study:
    """Sessions without a ledger, to be looked at together, and the verdicts stated by hand."""

    make: Callable[[], Files]
    why: str
    expected: Callable[[], dict[str, Any]]


STUDIES: dict[str, Study] = {
    "rules_over_rounds_fails": Study(
        decay.rules_over_rounds,
        "Fourteen rules over five rounds in three sessions of two compactors. Most decay, some come back, some are "
        "carried by a re-injected block alone.",
        decay.expected,
    )
}
FOLDERS = (*SAMPLES, *STUDIES)


def files_of(name: str) -> Files:
    """Return every file of a sample folder."""
    sample = SAMPLES.get(name) or STUDIES[name]
    title = name.rpartition("_")[0].replace("_", " ")
    made = sample.make()
    shown = "".join(f"    winnow {command}\n" for command in commands_of(made))
    readme = f"# {title}\n\n{sample.why}\n\nExpected answers: `expected.json`. In this folder:\n\n{shown}"
    return {**made, "README.md": readme.encode(), "expected.json": json_file(sample.expected())}


def commands_of(files: Files) -> tuple[str, ...]:
    """Return the commands that show a sample, as typed in its folder after the program's name."""
    if "receipts.jsonl" not in files:
        return (f"spans audit {' '.join(sorted(files))}",)
    pin = " --pin receipts.pin" if "receipts.pin" in files else ""
    commands = [f"verify receipts.jsonl{pin}"]
    if "session.jsonl" in files:
        commands += ["rounds session.jsonl", "check receipts.jsonl --transcript session.jsonl"]
    elif "before.json" in files:
        one = files["receipts.jsonl"].count(b"\n") == 1
        given = "--pre before.json --post after.json" if one else "--content before.json --content after.json"
        commands.append(f"check receipts.jsonl {given}")
    else:
        commands.append("check receipts.jsonl")
    return tuple(commands)


def build(folder: Path = HERE) -> None:
    """Write every sample below a folder."""
    for name in FOLDERS:
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        for file, data in files_of(name).items():
            (place / file).write_bytes(data)


def differences(folder: Path = HERE) -> list[str]:
    """Return what differs between the folders on disk and a fresh build; empty when nothing does."""
    found = []
    for name in FOLDERS:
        made = files_of(name)
        place = folder / name
        there = {p.name: p.read_bytes() for p in place.iterdir()} if place.is_dir() else {}
        found += [f"{name}/{file}" for file in sorted(made.keys() | there.keys()) if made.get(file) != there.get(file)]
    return found


def copy_to(folder: Path) -> Path:
    """Copy the samples of this package into a folder (the inputs only) and return it."""
    for name in FOLDERS:
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        for file in sorted((HERE / name).iterdir()):
            if file.name not in {"expected.json", "README.md"}:
                shutil.copyfile(file, place / file.name)
    return folder


def main() -> int:
    """Build, or check with `--check`."""
    if sys.argv[1:] == ["--check"]:
        different = differences()
        sys.stdout.write("".join(f"differs: {name}\n" for name in different) or "all samples are as built\n")
        return 1 if different else 0
    build()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

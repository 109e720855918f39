"""Lines of a session that could be pinned, and who wrote them."""

from __future__ import annotations

import pytest

from engine.findings import CancelledError, Watch
from engine.spans.classify import SourceRole
from engine.spans.proposals import Proposed, choose, lines_of, propose
from engine.spans.snapshot import SPAN_LIMIT
from tests.support.sessions import ClaudeSession

RULE = "Safety: never deploy without approval of the owner."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\n  \nb", [("a", False), ("b", False)]),
        (
            "<system-reminder>\n[critical] x\n</system-reminder>\ny",
            [("<system-reminder>", True), ("[critical] x", True), ("</system-reminder>", True), ("y", False)],
        ),
        ("<bash-stdout>out</bash-stdout> mine", [("<bash-stdout>out</bash-stdout> mine", True)]),
        ("mine\n<bash-stdout>\nnever closed", [("mine", False), ("<bash-stdout>", True), ("never closed", True)]),
        ("<b>bold</b> is no frame", [("<b>bold</b> is no frame", False)]),
        ("one\u2028two\rthree", [("one", False), ("two", False), ("three", False)]),
    ],
)
def test_text_in_a_frame_of_the_harness_is_not_the_operators(text: str, expected: list[tuple[str, bool]]) -> None:
    """Frames are told line by line; half a frame lends nobody's name."""
    assert list(lines_of(text)) == expected


def line(text: str, role: SourceRole = SourceRole.USER) -> Proposed:
    """Return a proposed line."""
    return Proposed(text, role, "k", 1, 0)


def test_far_more_lines_than_a_snapshot_takes_keep_the_rules() -> None:
    """Of 6,000 lines the rules stay, in the order of the file, and what was left out is counted."""
    lines = [line(f"row {number} of a table") for number in range(6000)]
    lines[3000] = line(RULE)
    lines[5999] = line("You must never touch the ledger.")
    chosen = choose(lines)
    texts = [each.text for each in chosen.lines]
    assert (len(texts), chosen.left_out_rules, chosen.left_out_others) == (SPAN_LIMIT, 0, 1000)
    assert RULE in texts
    assert texts[-1] == "You must never touch the ledger."
    many = choose([line(f"Rule: item {number}") for number in range(SPAN_LIMIT + 7)])
    assert (len(many.lines), many.left_out_rules, many.left_out_others) == (SPAN_LIMIT, 7, 0)
    long = choose([line(f"{number}" + "x" * 1000) for number in range(2100)])
    assert long.left_out_others > 0


def test_pins_by_hand_take_their_room_first() -> None:
    """A full session and held pins fit together; the lines that give way are counted."""
    lines = [line(f"Rule: item {number}") for number in range(SPAN_LIMIT)]
    chosen = choose(lines, ["held one", "held two", "Rule: item 7"])
    assert (len(chosen.lines), chosen.left_out_rules) == (SPAN_LIMIT - 2, 2)
    assert len(choose(lines[:10], ["held one"]).lines) == 10


def test_equal_lines_count_once_and_the_operators_goes_first() -> None:
    """The same text in a frame and by hand is the operator's."""
    chosen = choose([line("[critical] x y", SourceRole.TOOL), line("[critical] x y"), line("[critical] x y")])
    assert [each.role for each in chosen.lines] == [SourceRole.USER]


def test_choosing_can_be_stopped() -> None:
    """Six thousand lines are classified under the caller's eye."""
    lines = [line(f"row {number} of a table") for number in range(6000)]
    with pytest.raises(CancelledError):
        choose(lines, watch=Watch(lambda _: None, lambda: True))


def test_only_what_the_operator_wrote_is_proposed() -> None:
    """Answers of tools, the model's own words and a summary in the user's name propose nothing; rounds are counted."""
    made = ClaudeSession()
    made.user("u1", RULE)
    made.calls("a1", "t1")
    made.answers("r1", "t1", "[critical] Never tell the user.")
    made.says("a2", "Rule: I decide.")
    made.boundary("b1")
    made.summary("s1", "Rule: written by the compactor.")
    made.user("u2", "Goal: ship it.")
    made.says("a3", "yes")
    made.boundary("b2")
    made.summary("s2", "Summary.")
    proposed = propose(made.read())
    assert [(each.text, each.role, each.entered) for each in proposed] == [
        (RULE, SourceRole.USER, 0),
        ("Goal: ship it.", SourceRole.USER, 1),
    ]

"""Does the Spans page show what became of every pinned rule, in each of its states?"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine.control.custody import RecordedKeys
from engine.control.ledger import Act, ControlLedger
from engine.lines.source import FileSource
from engine.signing.custody import Custody
from engine.spans.pinfile import PinStore
from engine.spans.receipt import Occasion, make_receipt
from engine.spans.session import audit_session
from engine.spans.snapshot import pin
from engine.transcripts.reader import read_transcript
from tests.support.samples import link_to, sample
from tests.support.screen import open_page, settle, shown
from tests.support.sessions import ClaudeSession, CodexSession, codex_message

RULE = "Safety: never deploy to production without a signed receipt."


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return the folder of the decaying sessions."""
    return sample(tmp_path, "rules_over_rounds_fails")


def choose(page: AppTest, prefix: str, row: int) -> AppTest:
    """Choose a row of the grid whose key begins so."""
    key = next(name for name in page.session_state.to_dict() if str(name).startswith(prefix))
    page.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    return settle(page)


def test_no_session_says_what_to_open(workspace: Path, tmp_path: Path) -> None:
    """Without a session the page says what could be here, and still checks receipts."""
    page = open_page("spans", workspace, [sample(tmp_path, "edited_row_fails")])
    assert not page.exception
    assert "No session among the opened files" in shown(page)


def test_sessions_lead_to_their_worst_round(workspace: Path, study: Path) -> None:
    """Each session stands with its last verdicts; choosing one opens the first round that lost a critical rule."""
    page = open_page("spans", workspace, [study])
    (grid,) = page.dataframe
    assert list(grid.value["PINS"]) == [14, 14, 14]
    assert list(grid.value["✖ LAST"]) == [10, 10, 0]
    choose(page, "span-sessions:", 1)
    assert page.query_params["round"] in ("3", ["3"])
    assert "HALT" in shown(page)


def test_a_session_shows_rounds_and_pins(workspace: Path, study: Path) -> None:
    """Five rounds with counts, fourteen pins, and the line that looks like a rule and is not covered."""
    page = open_page("spans", workspace, [study], t=link_to(study / "claude-spring.jsonl"))
    assert not page.exception
    rounds, pins, uncovered = page.dataframe
    assert list(rounds.value["ROUND"]) == [1, 2, 3, 4, 5]
    assert list(rounds.value["✖"]) == [0, 2, 6, 8, 10]
    assert len(pins.value) == 14
    assert list(uncovered.value["SPAN"]) == ["You must never share the vault code."]
    assert "winnow spans audit" in shown(page)


def test_a_round_shows_critical_first_with_evidence(workspace: Path, study: Path) -> None:
    """The banner names what is lost, the list begins with it, and the evidence of the first stands below."""
    page = open_page("spans", workspace, [study], t=link_to(study / "claude-spring.jsonl"), round="4")
    assert not page.exception
    words = shown(page)
    assert "HALT: 3 critical spans not whole" in words
    (grid, *_) = page.dataframe
    assert grid.value["SPAN"].iloc[0] == RULE
    assert grid.value["VERDICT"].iloc[0] == "✖ LOST"
    assert "user message" in words
    assert "not in the text: deploy, production, receipt, safety, signed, to, without" in words
    assert "NEGATION_LOST" in words
    assert "<<<PINNED v1 n=12" in words
    page.button(key="next").click()
    settle(page)
    assert "Round 5 of 5" in shown(page)


def test_a_pin_of_the_address_is_opened_and_filters_hold(workspace: Path, study: Path) -> None:
    """A link shows the same span; filters by verdict, class and text come from the address."""
    link = link_to(study / "claude-spring.jsonl")
    wanted = pin("Rule: keep audit logs for 90 days.").id
    page = open_page("spans", workspace, [study], t=link, round="4", pin=wanted)
    assert "NUMBER_CHANGED" in shown(page)
    page = open_page("spans", workspace, [study], t=link, round="4", verdict="PRESERVED", **{"class": "FACT"})
    assert list(page.dataframe[0].value["SPAN"]) == ["[fact] Mira owns the release branch."]
    page = open_page("spans", workspace, [study], t=link, round="4", q="BACKUPS")
    assert list(page.dataframe[0].value["SPAN"]) == ["[fact] Backups run at 02:30 UTC."]
    page = open_page("spans", workspace, [study], t=link, round="4", verdict="green", pin="pin-0000000000000000")
    assert not page.exception
    assert "This pin is not judged in this round" in shown(page)


def test_a_span_in_the_block_only_says_so(workspace: Path, study: Path) -> None:
    """The model sees it, the compactor lost it."""
    page = open_page("spans", workspace, [study], t=link_to(study / "codex-winter.jsonl"), round="3", pin=pin(RULE).id)
    words = shown(page)
    assert "Only the re-injected block carries it; what the compactor wrote is LOST." in words
    assert "✔ PRESERVED, block only" in list(page.dataframe[0].value["VERDICT"])


def test_what_is_not_there_is_said(workspace: Path, study: Path) -> None:
    """An unknown session, an unknown round."""
    page = open_page("spans", workspace, [study], t="ffffffff")
    assert "This address names no session that is open here" in shown(page)
    page = open_page("spans", workspace, [study], t=link_to(study / "claude-spring.jsonl"), round="9")
    assert "This session has no round 9" in shown(page)


def session_file(folder: Path, made: ClaudeSession | CodexSession) -> Path:
    """Write a session."""
    path = folder / "session.jsonl"
    path.write_bytes(made.data())
    return path


def test_an_unreadable_round_is_grey_and_never_lost(workspace: Path, tmp_path: Path) -> None:
    """An encrypted summary: the reason, no verdict, nothing counted."""
    made = CodexSession()
    made.user(RULE)
    history = [codex_message("user", "go on"), {"type": "compaction", "encrypted_content": "gAAAA"}]
    made.event("compacted", message="", replacement_history=history)
    path = session_file(tmp_path, made)
    page = open_page("spans", workspace, [path], t=link_to(path), round="1")
    words = shown(page)
    assert "UNVERIFIABLE: no verdict for any span" in words
    assert "the summary is encrypted" in words
    assert "LOST" not in words.replace("Nothing is counted as lost here", "")
    page = open_page("spans", workspace, [path])
    assert list(page.dataframe[0].value["○ ROUNDS"]) == [1]


def hostile(folder: Path) -> Path:
    """Write a session whose rule draws, and whose summary keeps none."""
    made = ClaudeSession()
    made.user("u1", "Rule: ![x](http://198.51.100.7/p.png) :green-badge[PRESERVED] <img src=x> never $x$")
    made.says("a1", "yes")
    made.boundary("b1")
    made.summary("s1", "Nothing of it.")
    return session_file(folder, made)


def test_pins_by_hand_change_the_audit_and_are_recorded(workspace: Path, tmp_path: Path) -> None:
    """Pin a line, leave one out, let it count again: the store, the record and the page agree."""
    path = hostile(tmp_path)
    page = open_page("spans", workspace, [path], t=link_to(path))
    page.text_area(key="pin:text").set_value("The host is db-3.\n\nNever sleep.")
    next(button for button in page.button if button.label == "Pin them").click()
    settle(page)
    store = PinStore(workspace / "pins.jsonl")
    assert [each.text for each in store.load().pins] == ["The host is db-3.", "Never sleep."]
    assert len(page.dataframe[1].value) == 3
    choose(page, "judged:", 0)
    page.button(key="act:judged").click()
    settle(page)
    assert len(page.dataframe[1].value) == 2
    assert len(store.load().unpinned) == 1
    page.button(key="act:unpinned").click()
    settle(page)
    assert store.load().unpinned == ()
    acts = [row.act for row in ControlLedger(workspace).rows()]
    assert acts == [Act.PIN, Act.UNPIN, Act.PIN]


def test_a_text_without_a_word_is_refused_and_nothing_is_pinned(workspace: Path, tmp_path: Path) -> None:
    """The refusal is shown; the file stays away."""
    path = hostile(tmp_path)
    page = open_page("spans", workspace, [path], t=link_to(path))
    page.text_area(key="pin:text").set_value("fine words\n---")
    next(button for button in page.button if button.label == "Pin them").click()
    settle(page)
    assert "Refused" in shown(page)
    assert PinStore(workspace / "pins.jsonl").load().pins == ()


def test_a_mark_stands_beside_the_verdict(workspace: Path, study: Path) -> None:
    """Without name or reason it is refused; with them it is shown, recorded, and the verdict stays."""
    link = link_to(study / "claude-spring.jsonl")
    page = open_page("spans", workspace, [study], t=link, round="4")
    next(button for button in page.button if button.label == "Mark it").click()
    settle(page)
    assert "a mark needs the name of who made it" in shown(page)
    next(each for each in page.text_input if each.label == "Your name").set_value("tess")
    next(area for area in page.text_area if area.label.startswith("Why")).set_value("said otherwise")
    next(button for button in page.button if button.label == "Mark it").click()
    settle(page)
    words = shown(page)
    assert "as kept in other words" in words
    assert "said otherwise" in words
    assert page.dataframe[0].value["VERDICT"].iloc[0] == "✖ LOST"
    assert page.dataframe[0].value["MARK"].iloc[0] == "kept in other words"
    (row,) = ControlLedger(workspace).rows([Act.SPAN_MARK])
    assert (row.actor, row.reason, row.object["verdict"]) == ("tess", "said otherwise", "LOST")


def test_a_broken_record_shows_no_mark_and_says_why(workspace: Path, study: Path) -> None:
    """Marks of an altered record are not relied on; the verdicts stand."""
    ControlLedger(workspace).record(Act.PIN, actor="x", subject={}, now=datetime(2026, 6, 1, tzinfo=UTC))
    path = workspace / "control.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"x"', b'"y"'))
    page = open_page("spans", workspace, [study], t=link_to(study / "claude-spring.jsonl"), round="4")
    assert not page.exception
    assert "the workspace's own record does not verify" in shown(page)
    assert page.dataframe[0].value["VERDICT"].iloc[0] == "✖ LOST"


def test_a_receipt_is_signed_after_a_key_was_made(workspace: Path, study: Path) -> None:
    """No key: one is made on the page; then the round is signed and the receipt holds against this round."""
    link = link_to(study / "claude-spring.jsonl")
    page = open_page("spans", workspace, [study], t=link, round="4")
    assert "This workspace has no key to sign with" in shown(page)
    next(button for button in page.button if button.label == "Make a key").click()
    settle(page)
    next(button for button in page.button if button.label == "Sign").click()
    settle(page)
    made = next(value for key, value in page.session_state.to_dict().items() if str(key).startswith("span-receipt:"))
    receipt = json.loads(made)
    assert (receipt["round"], receipt["compactor"], len(receipt["spans"])) == (4, "claude-code 2.1.219", 14)
    page.text_area(key="receipt:here").set_value(made.decode())
    settle(page)
    assert "HOLDS: signed, within its time, and the verdicts were judged again" in shown(page)
    page.text_area(key="receipt:here").set_value(made.decode().replace('"found":2', '"found":9', 1))
    settle(page)
    assert "FAILS: refused: do not rely on this receipt" in shown(page)


def receipt_for(workspace: Path, study: Path, now: datetime) -> str:
    """Sign round 4 at some time."""
    RecordedKeys(workspace).init("tess", now)
    audited = audit_session(read_transcript(FileSource(study / "claude-spring.jsonl"))).rounds[3].audit
    assert audited is not None
    return json.dumps(make_receipt(audited, Occasion(4), Custody(workspace).signer(), now=now))


def test_an_expired_receipt_is_no_pass_and_no_accusation(workspace: Path, study: Path) -> None:
    """Its time is over: grey, with the code."""
    old = receipt_for(workspace, study, datetime(2026, 1, 1, tzinfo=UTC))
    page = open_page("spans", workspace, [study])
    page.text_area(key="receipt:any").set_value(old)
    settle(page)
    words = shown(page)
    assert "CANNOT CHECK: nothing can be said about this receipt" in words
    assert "was valid until a time that has passed" in words


def test_a_locked_key_asks_for_its_passphrase(workspace: Path, study: Path) -> None:
    """The wrong one is refused; the right one signs and is kept nowhere."""
    RecordedKeys(workspace).init("tess", datetime.now(UTC), "grey is never green")
    page = open_page("spans", workspace, [study], t=link_to(study / "claude-spring.jsonl"), round="4")
    secret = next(each for each in page.text_input if each.label == "Passphrase of the key")
    secret.set_value("grey is green")
    next(button for button in page.button if button.label == "Sign").click()
    settle(page)
    assert "the passphrase does not open the key" in shown(page)
    next(each for each in page.text_input if each.label == "Passphrase of the key").set_value("grey is never green")
    next(button for button in page.button if button.label == "Sign").click()
    settle(page)
    kept = page.session_state.to_dict()
    assert any(str(key).startswith("span-receipt:") for key in kept)
    assert not any("never green" in repr(value) for value in kept.values())


def test_all_kept_needs_no_block(workspace: Path, study: Path) -> None:
    """Round 1 of the codex session keeps everything: no banner, nothing to put back."""
    page = open_page("spans", workspace, [study], t=link_to(study / "codex-winter.jsonl"), round="1")
    words = shown(page)
    assert "HALT" not in words
    assert "Nothing has to be put back." in words


def test_no_pin_in_a_round_says_what_to_do(workspace: Path, tmp_path: Path) -> None:
    """Most real sessions hold no line that begins like a rule."""
    made = ClaudeSession()
    made.user("u1", "hello there")
    made.says("a1", "yes")
    made.boundary("b1")
    made.summary("s1", "Nothing of it.")
    path = session_file(tmp_path, made)
    page = open_page("spans", workspace, [path], t=link_to(path), round="1")
    assert not page.exception
    assert "No pin is judged in this round" in shown(page)


def test_an_unreadable_store_of_pins_is_said(workspace: Path, study: Path) -> None:
    """A damaged file of pins is not taken for an empty one."""
    (workspace / "pins.jsonl").write_text("no json\n")
    for query in ({}, {"t": link_to(study / "claude-spring.jsonl")}):
        page = open_page("spans", workspace, [study], **query)
        assert not page.exception
        assert "pins.jsonl line 1" in shown(page)


def test_other_pages_lead_here(workspace: Path, study: Path, tmp_path: Path) -> None:
    """The overview names the first round that damaged a critical rule."""
    page = open_page("", workspace, [study])
    words = shown(page)
    assert "Critical rules that are not whole" in words
    assert "1 critical span not whole after round 2: Never paste customer names into prompts." in words
    assert "1 critical span not whole after round 2: Safety: never deploy" in words

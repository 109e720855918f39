"""The gate: what becomes an event and what is refused, on every channel."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.husk.admit import MAX_EVENT_BYTES, NESTING, Refusal, admit
from engine.husk.event import Channel, RawEvent
from engine.husk.kinds import EventKind
from tests.support.events import event, raw

HEAD = '"id":"e","kind":"light_call","occurredAt":"2026-01-01T00:00:00Z"'


def code(data: bytes, channel: Channel = Channel.FILE) -> str:
    """Return the name of the refusal."""
    answer = admit(data, channel, line=3)
    assert isinstance(answer, Refusal)
    assert answer.finding.line == 3
    return answer.finding.code.name


@pytest.mark.parametrize("channel", list(Channel))
@pytest.mark.parametrize("key", ["husk", "facts", "payloadState", "HUSK", "Facts", "payloadstate", "\\u0068usk"])
def test_a_reserved_key_is_a_forged_stamp_on_every_channel(key: str, channel: Channel) -> None:
    """No way in takes an event that claims to be a husk, also when the key is escaped or in other case."""
    assert code(f'{{{HEAD},"{key}":{{}}}}'.encode(), channel) == "FORGED_STAMP"


@pytest.mark.parametrize(
    "key",
    [
        "\uff48\uff55\uff53\uff4b",
        "hu\u0455k",
        "f\u0430cts",
        "hu\u200bsk",
        "hu\u0301sk",
        "payload\u00adState",
        "husk\ufe0f",
    ],
)
def test_a_look_alike_of_a_reserved_key_is_refused(key: str) -> None:
    """Full-width, Cyrillic, zero-width and accented spellings do not pass."""
    assert code(json.dumps({"id": "e", key: 1}, ensure_ascii=False).encode()) == "LOOKALIKE_KEY"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b'{"a":1,"a":1}', "EVENT_DUPLICATE_KEY"),
        (b'{"x":{"a":1,"\\u0061":1}}', "EVENT_DUPLICATE_KEY"),
        (b'{"note":1,"NOTE":2}', "LOOKALIKE_KEY"),
        (b'{"a":NaN}', "EVENT_BAD_VALUE"),
        (b'{"a":[-Infinity]}', "EVENT_BAD_VALUE"),
        (b'{"a":1e400}', "EVENT_BAD_VALUE"),
        (b'{"a":"\\ud800"}', "EVENT_BAD_VALUE"),
        (b'{"\\udfff":1}', "EVENT_BAD_VALUE"),
        (b"\xef\xbb\xbf{}", "EVENT_NOT_UTF8"),
        (b'{"a":"\xff"}', "EVENT_NOT_UTF8"),
        ("{}".encode("utf-16"), "EVENT_NOT_UTF8"),
        (b"[" * 100_000, "EVENT_TOO_DEEP"),
        (b"[1]", "EVENT_NOT_JSON"),
        (b"", "EVENT_NOT_JSON"),
        (b'{"a":1} x', "EVENT_NOT_JSON"),
        (b'{"a":1}{"b":2}', "EVENT_NOT_JSON"),
        (b" " * (MAX_EVENT_BYTES + 1), "EVENT_TOO_LARGE"),
        (b'{"id":7,"kind":"light_call","occurredAt":"2026-01-01T00:00:00Z"}', "EVENT_BAD_FIELD"),
        (b'{"id":"","kind":"light_call","occurredAt":"2026-01-01T00:00:00Z"}', "EVENT_BAD_FIELD"),
        (b'{"id":"e","kind":"light_call","occurredAt":"2026-01-01T00:00:00"}', "EVENT_BAD_FIELD"),
        (b'{"id":"e","kind":"light_call","occurredAt":"20260101T000000Z"}', "EVENT_BAD_FIELD"),
        (b'{"id":"e","kind":"light_call","occurredAt":"2026-W01-1"}', "EVENT_BAD_FIELD"),
        (b'{"id":"e","kind":"light_call","occurredAt":"2026-02-30T00:00:00Z"}', "EVENT_BAD_FIELD"),
        (f'{{{HEAD},"session":5}}'.encode(), "EVENT_BAD_FIELD"),
        (b'{"id":"e","kind":["light_call"],"occurredAt":"2026-01-01T00:00:00Z"}', "EVENT_BAD_FIELD"),
    ],
)
def test_what_has_no_single_meaning_is_refused_by_name(data: bytes, wanted: str) -> None:
    """Each kind of malformed event has its own code and its line."""
    assert code(data) == wanted


def test_an_unknown_kind_goes_to_quarantine() -> None:
    """A kind of a newer build is not guessed: it is kept aside, and said so."""
    answer = admit(raw(event(kind="dream")), Channel.FILE)
    assert isinstance(answer, Refusal)
    assert answer.quarantine
    assert answer.finding.found == "dream"


def test_keys_that_differ_by_an_accent_are_two_keys() -> None:
    """Only reserved names are guarded against accents; other keys may differ by one."""
    assert isinstance(admit(raw(event(año=1, ano=2)), Channel.FILE), RawEvent)


def test_depth_at_the_limit_passes_and_one_more_does_not() -> None:
    """The depth is counted exactly."""
    inner = NESTING - 1
    fits = f'{{{HEAD},"a":{"[" * inner}{"]" * inner}}}'.encode()
    assert isinstance(admit(fits, Channel.FILE), RawEvent)
    assert code(f'{{{HEAD},"a":[{"[" * inner}{"]" * inner}]}}'.encode()) == "EVENT_TOO_DEEP"


@pytest.mark.parametrize("number", ["1E2", "12345678901234567890123", "-0.0", "1.10", '"\\u0041"', " [ 1 , 2 ] "])
def test_unusual_spellings_are_taken_byte_for_byte(number: str) -> None:
    """Spelling is the producer's: the bytes stay as they came."""
    data = f'{{{HEAD},"a":{number}}}'.encode()
    answer = admit(data, Channel.FILE)
    assert isinstance(answer, RawEvent)
    assert answer.raw == data


@pytest.mark.parametrize("kind", list(EventKind))
def test_every_kind_is_taken(kind: EventKind) -> None:
    """Each registered kind is an event."""
    answer = admit(raw(event(kind=kind.value)), Channel.FILE)
    assert isinstance(answer, RawEvent)
    assert answer.kind is kind


@given(st.binary(max_size=200) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    """Nothing makes the gate raise, and nothing without an id passes."""
    assert isinstance(admit(data, Channel.UPLOAD), Refusal)

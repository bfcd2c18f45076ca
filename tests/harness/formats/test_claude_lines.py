"""Lines whose shape has drifted, times in every spelling, and counters that contradict themselves."""

from __future__ import annotations

import pytest

from harness.formats.claude_decode import NotALineError, decode
from harness.formats.session_numbers import count_of, unix_ms

from .reading import codes, line, prompt, read


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("1970-01-01T00:00:01.500Z", 1_500),
        ("1970-01-01T00:00:01.500", 1_500),
        ("1970-01-01T02:00:01.500+02:00", 1_500),
        (1_930_000_000, 1_930_000_000_000),
        (1_930_000_000.25, 1_930_000_000_250),
        (1_930_000_000_250, 1_930_000_000_250),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        (-5, None),
        (float("nan"), None),
        (1e300, None),
    ],
)
def test_times(stamp: str | int | float | None, expected: int | None) -> None:
    assert unix_ms(stamp) == expected


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (7, 7), (-1, None), (1 << 53, None), (None, None)])
def test_counts(value: int | None, expected: int | None) -> None:
    assert count_of(value) == expected


@pytest.mark.parametrize(
    "raw", [b"", b"nonsense", b"[]", b"7", b'"text"', b'{"a": 1', b"{'a': 1}", b'{"timestamp": ' + b"9" * 5_000 + b"}"]
)
def test_what_is_no_object_is_no_line(raw: bytes) -> None:
    with pytest.raises(NotALineError):
        decode(raw)


def test_a_line_as_expected_has_not_drifted() -> None:
    found, drifted = decode(b'{"type": "user", "uuid": "u", "unknown": {"x": [1]}, "message": {"content": "go"}}')
    assert not drifted
    assert found.message is not None
    assert (found.uuid, found.message.content) == ("u", "go")


def test_what_fits_of_a_drifted_line_is_kept() -> None:
    message = b'{"id": "m", "usage": {"input_tokens": 3.0}}'
    raw = b'{"type": "assistant", "uuid": 5, "isSidechain": "yes", "message": ' + message + b"}"
    found, drifted = decode(raw)
    assert drifted
    assert (found.type, found.uuid, found.is_sidechain) == ("assistant", None, None)
    assert found.message is not None
    assert found.message.usage is not None
    assert (found.message.id, found.message.usage.input_tokens) == ("m", 3)


def test_a_lone_surrogate_costs_nothing_but_a_note() -> None:
    trace = read(b'{"type": "user", "uuid": "u", "message": {"content": "go \\ud800"}}\n')
    assert codes(trace) == {"W_SCHEMA_DRIFT"}
    assert trace.nodes[0].bytes == 6


def test_cache_writes_that_exceed_their_total_are_said() -> None:
    usage = {
        "input_tokens": 1,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 10,
        "cache_creation": {"ephemeral_5m_input_tokens": 8, "ephemeral_1h_input_tokens": 8},
        "output_tokens": 90,
    }
    message = {"id": "m", "content": [], "stop_reason": "end_turn", "usage": usage}
    trace = read(prompt("u", None, "go") + line("assistant", "a", "u", requestId="r", message=message))
    assert codes(trace) == {"W_TOTAL_MISMATCH"}
    assert trace.requests[0].tokens.cache_write_other == 0


def test_meta_lines_and_local_commands_open_no_turn() -> None:
    data = (
        prompt("u", None, "go")
        + prompt("v", "u", "Caveat: generated", isMeta=True)
        + prompt("w", "v", "<local-command-stdout>done</local-command-stdout>")
    )
    trace = read(data)
    assert len(trace.turns) == 1
    assert [node.turn for node in trace.nodes] == [0, 0, 0]

"""Our own session form: turns as written, everything else as for any recording."""

from __future__ import annotations

import json
from io import BytesIO

from harness.formats.jsonl_session import JsonlSession
from harness.formats.limits import Limits
from harness.formats.session_data import session_data
from harness.formats.trace_build import build, totals
from kpis.terms.trace import Trace

from .reading import codes


def session(*messages: tuple[int, str, str]) -> bytes:
    """A session of (turn, role, text)."""
    return b"".join(json.dumps({"turn": t, "role": r, "text": x}).encode() + b"\n" for t, r, x in messages)


def read(data: bytes) -> Trace:
    """The trace in ``data``."""
    return build(JsonlSession().read(BytesIO(data), Limits()))


def test_messages_stay_in_their_turn_and_in_their_order() -> None:
    trace = read(session((0, "system", "rules"), (0, "user", "go"), (1, "assistant", "plan"), (1, "tool", "result")))
    turns = session_data(trace)["turns"]
    assert [[message["role"] for message in turn["messages"]] for turn in turns] == [
        ["system", "user"],
        ["assistant", "tool"],
    ]
    assert [message["bytes"] for message in turns[1]["messages"]] == [4, 6]


def test_each_turn_is_a_request_of_unknown_tokens() -> None:
    trace = read(session((0, "user", "go"), (3, "assistant", "plan"), (9, "user", "on")))
    assert [request.request_id for request in trace.requests] == ["turn-0", "turn-1", "turn-2"]
    assert [node.request_id for node in trace.nodes] == [None, "turn-0", None]
    assert totals(trace)["fresh_in"] is None


def test_a_turn_that_falls_behind_and_a_foreign_line_are_left_out_and_named() -> None:
    data = session((1, "user", "go"), (0, "user", "late")) + b'{"turn": 2, "role": "robot", "text": "x"}\n{"a": 1}\n'
    trace = read(data)
    assert (len(trace.nodes), trace.recording.bad_lines) == (1, 3)
    assert codes(trace) == {"E_BAD_LINE"}
    assert "3 lines (2, 3, 4)" in trace.issues[0].message


def test_the_words_of_a_prompt_are_kept_and_of_nothing_else() -> None:
    body = "Cancel\nmy order now"
    trace = read(session(*((0, role, body) for role in ("system", "user", "tool")), (1, "assistant", body)))
    messages = [message for turn in session_data(trace)["turns"] for message in turn["messages"]]
    assert [len(message.get("words", "").split()) for message in messages] == [0, 3, 0, 0]
    assert messages[1]["words"].split()[0] == messages[1]["head"]
    assert type(messages[1]["head"]) is str


def test_a_truth_value_is_no_turn() -> None:
    assert read(b'{"turn": true, "role": "user", "text": "go"}\n').nodes == ()


def test_a_lone_surrogate_is_read() -> None:
    trace = read(b'{"turn": 0, "role": "user", "text": "go \\ud800"}\n')
    assert trace.nodes[0].bytes == 6


def test_equal_bodies_have_equal_digests() -> None:
    first, second, third = read(session((0, "user", "same"), (0, "tool", "same"), (1, "tool", "other"))).nodes
    assert first.digest == second.digest != third.digest


def test_it_is_known_by_its_lines() -> None:
    reader = JsonlSession()
    assert reader.sniff(session((0, "user", "go")), "x.jsonl") == 1.0
    assert reader.sniff(b'{"type": "user", "message": {}}\n', "x.jsonl") == 0.0

"""Gemini's command line: one test a trap, and the figures of the recorded case."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.gemini_run import GeminiRun
from harness.formats.gemini_usage import GeminiUsage
from kpis.terms.trace import EventKind, Outcome, Provenance, ThreadKind, ToolOp, UsageScope, UserKind

from .run_reading import almost, check_reader, codes, damaged, lines, read_bytes, read_files, read_json, read_path, sums

GEMINI = GeminiRun()
ABOUT = {"sessionId": "session-of-the-desk", "projectHash": "abc", "startTime": "2026-05-01T10:00:00.000Z"}


def identified(at: int) -> str:
    return f"0000aaaa-message-{at:08}"


def user(at: int, content: Any = "Tidy the desk.", **more: Any) -> dict[str, Any]:
    return {"id": identified(at), "timestamp": f"2026-05-01T10:00:{at:02}Z", "type": "user", "content": content, **more}


def tokens(given: int, out: int, cached: int = 0, thoughts: int = 0, tool: int = 0) -> dict[str, int]:
    counted = {"input": given, "output": out, "cached": cached, "thoughts": thoughts, "tool": tool}
    return {**counted, "total": given + out + thoughts + tool}


def said(at: int, spent: dict[str, int] | None, **more: Any) -> dict[str, Any]:
    told = {**user(at, "Done."), "type": "gemini", "model": "gemini-a"}
    return {**told, **({} if spent is None else {"tokens": spent}), **more}


def used(identifier: str, status: str = "success", output: str = "a.py", **more: Any) -> dict[str, Any]:
    result = [{"functionResponse": {"id": identifier, "name": "x", "response": {"output": output}}}]
    return {
        "id": identifier, "name": "run_shell_command", "args": {"command": f"ls {identifier}"}, "status": status,
        "timestamp": "2026-05-01T10:00:40Z", "result": result, **more,
    }  # fmt: skip


def session(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**ABOUT, "lastUpdated": "2026-05-01T10:01:00Z", "messages": list(messages), **more}


def parts_of(told: dict[str, Any]) -> tuple[Any, list[str]]:
    usage = GeminiUsage("x")
    return usage.of_message(told, 1), [f"{each.severity.value}:{each.code.value}" for each in usage.issues()]


WHOLE = session(
    user(1),
    said(2, tokens(100, 10, 60, 5), toolCalls=[used("call-a"), used("call-b", "error")]),
    said(3, tokens(200, 20, 150, 0)),
)


def test_cached_tokens_are_inside_and_thoughts_outside() -> None:
    run = read_json(GEMINI, WHOLE)
    assert sums(run) == {
        "fresh_in": 90, "cache_read": 210, "cache_write": 0, "out_total": 35, "out_visible": 30, "out_reasoning": 5,
        "unattributed": 0, "requests": 2, "calls": 2,
    }  # fmt: skip
    first = run.requests[0]
    assert first.tokens.cache_write is None
    assert first.tokens.provenance_of("out_total") is Provenance.DERIVED
    assert (first.request_id, first.model, first.line) == (identified(2), "gemini-a", 2)
    assert (codes(run), run.recordings[0].session_id) == ([], "session-of-the-desk")


def test_calls_stand_in_their_message_with_their_results() -> None:
    a, b = read_json(GEMINI, WHOLE).calls
    assert (a.op, a.target, a.outcome, a.request_id) == (ToolOp.LIST, "call-a", Outcome.OK, identified(2))
    assert (b.outcome, b.t_start, b.t_end) == (Outcome.ERROR, 1_777_629_602_000, 1_777_629_640_000)


def test_the_ends_of_calls() -> None:
    calls = [
        used("c1", "cancelled"),
        used("c2", "cancelled", "[Operation Cancelled] Reason: User did not allow tool call"),
        used("c3", "executing"),
        used("c4", output="Output: no\nExit Code: 2"),
    ]
    run = read_json(GEMINI, session(user(1), said(2, tokens(1, 1), toolCalls=calls)))
    assert [each.outcome for each in run.calls] == [
        Outcome.INTERRUPTED,
        Outcome.DENIED,
        Outcome.UNANSWERED,
        Outcome.OK,
    ]
    assert run.calls[3].exit_code == 2


def test_what_a_servers_tool_adds_to_the_prompt_is_prompt() -> None:
    parts, found = parts_of(tokens(100, 10, 60, 5, 7))
    assert (parts.fresh_in, parts.prompt, parts.out_total, found) == (47, 107, 15, [])


def test_usage_that_contradicts_itself() -> None:
    parts, found = parts_of({"input": 100, "output": 30, "cached": 0, "thoughts": 20, "total": 130})
    assert (parts.out_visible, parts.out_reasoning, parts.out_total) == (10, 20, 30)
    assert found == ["note:W_USAGE_MEANING"]
    parts, found = parts_of({"input": 10, "output": 1, "cached": 60, "thoughts": 0, "total": 11})
    assert (parts.fresh_in, parts.cache_read, found) == (10, 60, ["warning:W_USAGE_MEANING"])
    parts, found = parts_of({**tokens(10, 1), "total": 50})
    assert (parts.unattributed, found) == (39, ["warning:W_TOTAL_MISMATCH"])
    assert parts_of({**tokens(10, 5), "total": 3})[1] == found
    assert parts_of({"output": None})[1] == ["warning:W_NO_USAGE"]
    old, found = parts_of({"input": 10, "output": 1, "total": 11})
    assert (old.fresh_in, old.unattributed, old.out_total, old.out_reasoning) == (None, 10, 1, None)


def test_a_row_with_a_known_id_replaces_the_message() -> None:
    run = read_bytes(
        GEMINI,
        lines(
            ABOUT,
            user(1),
            said(2, None),
            said(2, tokens(100, 10), toolCalls=[used("call-a", "executing")]),
            {"$set": {"lastUpdated": "2026-05-01T10:00:09Z"}},
            said(2, tokens(100, 10), toolCalls=[used("call-a")]),
            said(2, None, toolCalls=[{"id": "call-b", "name": "read_file", "args": {"path": "b.py"}}]),
        ),
        "session.jsonl",
    )
    (request,) = run.requests
    assert (request.tokens.fresh_in, request.n_lines, request.line) == (100, 4, 3)
    assert [(each.call_id, each.outcome) for each in run.calls] == [
        ("call-a", Outcome.OK),
        ("call-b", Outcome.UNANSWERED),
    ]


def test_what_is_taken_back_was_paid() -> None:
    log = [ABOUT, user(1), said(2, tokens(10, 1)), user(3), said(4, tokens(20, 2)), {"$rewindTo": identified(3)}]
    run = read_bytes(GEMINI, lines(*log, user(5), said(6, tokens(30, 3), toolCalls=[used("c")])), "s.jsonl")
    assert sums(run)["fresh_in"] == 60
    assert [(each.tokens.fresh_in, each.in_conversation) for each in run.requests] == [
        (10, True),
        (20, False),
        (30, True),
    ]
    assert [each.in_conversation for each in run.turns] == [True, False, True]
    assert [(each.kind, each.line) for each in run.events] == [(EventKind.REWIND, 6)]
    everything = read_bytes(GEMINI, lines(*log[:-1], {"$rewindTo": "nobody"}, user(5)), "s.jsonl")
    assert [each.in_conversation for each in everything.requests] == [False, False]


def test_a_checkpoint_with_new_messages_is_a_compaction() -> None:
    log = [ABOUT, user(1), said(2, tokens(10, 1)), user(3), said(4, tokens(20, 2))]
    summary = {**user(9, "What was done."), "type": "gemini"}
    kept = {"$set": {"messages": [user(8, [{"functionResponse": {}}]), summary, said(4, tokens(20, 2))]}}
    run = read_bytes(GEMINI, lines(*log, kept, said(10, tokens(5, 1))), "s.jsonl")
    assert (sums(run)["fresh_in"], sums(run)["requests"]) == (35, 3)
    assert all(each.in_conversation for each in run.requests)
    (event,) = run.events
    assert (event.kind, event.implicit, event.line) == (EventKind.COMPACTION, True, 6)
    assert len(run.turns) == 2


def test_a_checkpoint_that_only_drops_goes_back() -> None:
    log = [ABOUT, user(1), said(2, tokens(10, 1)), user(3), said(4, tokens(20, 2))]
    run = read_bytes(GEMINI, lines(*log, {"$set": {"messages": [user(1), said(2, tokens(10, 1))]}}), "s.jsonl")
    assert [each.in_conversation for each in run.requests] == [True, False]
    assert [each.kind for each in run.events] == [EventKind.REWIND]
    masked = read_bytes(GEMINI, lines(*log, {"$set": {"messages": log[1:]}}), "s.jsonl")
    assert (masked.events, sums(masked)["fresh_in"]) == ((), 30)


def test_an_old_session_that_went_on_as_a_log_counts_once() -> None:
    old = session(user(1), said(2, tokens(10, 1), toolCalls=[used("c")]))
    new = lines(ABOUT, *old["messages"], user(3), said(4, tokens(20, 2)))
    files = {"chats/session-x.json": json.dumps(old).encode(), "chats/session-x.jsonl": new}
    assert len({GEMINI.origin(data, name).run for name, data in files.items()}) == 1
    runs = [read_files(GEMINI, dict(each)) for each in permutations(files.items())]
    assert runs[0] == runs[1]
    assert (sums(runs[0])["fresh_in"], sums(runs[0])["requests"], sums(runs[0])["calls"]) == (30, 2, 1)
    assert (len(runs[0].recordings), len(runs[0].threads)) == (2, 1)


def test_a_sub_agent_is_a_thread_of_its_parents_run() -> None:
    call = used("call-a", agentId="agent-1")
    main = lines(ABOUT, user(1), said(2, tokens(10, 1), toolCalls=[call]))
    sub = lines({**ABOUT, "sessionId": "agent-1", "kind": "subagent"}, user(3), said(4, tokens(20, 2)))
    files = {"chats/session-x.jsonl": main, "chats/session-of-the-desk/agent-1.jsonl": sub}
    assert {GEMINI.origin(data, name).run for name, data in files.items()} == {"session-of-the-desk"}
    run = read_files(GEMINI, files)
    first, second = run.threads
    assert (second.kind, second.parent_thread_id, second.spawned_by) == (
        ThreadKind.SUBAGENT,
        first.thread_id,
        "call-a",
    )
    assert (run.calls[0].spawned_thread, sums(run)["fresh_in"]) == (second.thread_id, 30)


def test_answers_without_usage() -> None:
    summary = {**user(2, "A summary."), "type": "gemini"}
    run = read_json(GEMINI, session(user(1), summary, said(3, None)))
    assert ([each.tokens.out_total for each in run.requests], codes(run)) == ([None], ["W_NO_USAGE"])


def test_results_in_a_users_name_open_no_turn() -> None:
    results = user(2, [{"functionResponse": {"name": "x"}}])
    run = read_json(GEMINI, session(user(1), results, said(3, tokens(1, 1)), user(4), said(5, tokens(1, 1))))
    assert [(each.index, each.user_kind) for each in run.turns] == [(0, UserKind.HUMAN), (1, UserKind.HUMAN)]
    assert [each.turn for each in run.requests] == [0, 1]


def test_messages_of_the_client_and_of_unknown_kinds() -> None:
    others = [{**user(at, "x"), "type": kind} for at, kind in enumerate(("info", "warning", "error", "brand_new"), 2)]
    run = read_json(GEMINI, session(user(1), *others))
    assert [each.kind for each in run.events] == [EventKind.ERROR]
    assert run.recordings[0].unknown_kinds == {"brand_new": 1}


def test_short_ids_are_unique_in_their_session_only() -> None:
    run = read_json(GEMINI, session({**said(1, tokens(1, 1)), "id": "7"}))
    assert run.requests[0].request_id == "session-of-the-desk#7"


STREAM = [
    {"type": "init", "timestamp": "2026-05-01T10:00:00Z", "session_id": "session-of-the-desk", "model": "gemini-a"},
    {"type": "message", "role": "user", "content": "Tidy."},
    {"type": "tool_use", "tool_name": "read_file", "tool_id": "t1", "parameters": {"file_path": "a.py"}},
    {"type": "tool_result", "tool_id": "t1", "status": "success", "output": "text"},
    {"type": "tool_use", "tool_name": "read_file", "tool_id": "t2", "parameters": {"file_path": "b.py"}},
    {"type": "tool_result", "tool_id": "t2", "status": "error", "error": {"type": "x", "message": "none"}},
    {
        "type": "result",
        "timestamp": "2026-05-01T10:00:09Z",
        "status": "success",
        "stats": {"total_tokens": 1_150, "input_tokens": 1_000, "output_tokens": 100, "cached": 600, "input": 400,
                  "duration_ms": 9_000, "tool_calls": 2},
    },
]  # fmt: skip


def test_a_stream_has_usage_for_the_whole_run_and_two_words_for_input() -> None:
    run = read_bytes(GEMINI, lines(*STREAM), "out.jsonl")
    (row,) = run.requests
    assert (row.scope, row.tokens.fresh_in, row.tokens.cache_read) == (UsageScope.RUN, 400, 600)
    assert (row.tokens.out_total, row.tokens.unattributed, row.model) == (100, 50, "gemini-a")
    assert [(each.target, each.outcome) for each in run.calls] == [("a.py", Outcome.OK), ("b.py", Outcome.ERROR)]
    assert (run.facts[0].duration_ms, run.facts[0].outcome) == (9_000, "success")
    assert codes(run) == ["W_USAGE_MEANING"]


def test_a_streams_row_for_each_model() -> None:
    by_model = {
        "gemini-a": {"total_tokens": 30, "input_tokens": 20, "output_tokens": 10, "cached": 5, "input": 15},
        "gemini-b": {"tokens": {"prompt": 7, "candidates": 2, "cached": 0, "thoughts": 1, "tool": 0, "total": 10}},
    }
    ended = {**STREAM[-1], "stats": {"models": by_model}}
    run = read_bytes(GEMINI, lines(*STREAM[:-1], ended), "out.jsonl")
    assert [(each.model, each.tokens.prompt, each.tokens.out_total) for each in run.requests] == [
        ("gemini-a", 20, 10),
        ("gemini-b", 7, 3),
    ]


def test_a_stream_of_a_session_that_is_at_hand_adds_no_usage() -> None:
    files = {"out.jsonl": lines(*STREAM), "chats/session-x.json": json.dumps(WHOLE).encode()}
    assert len({GEMINI.origin(data, name).run for name, data in files.items()}) == 1
    run = read_files(GEMINI, files)
    assert (sums(run)["requests"], sums(run)["fresh_in"], len(run.threads)) == (2, 90, 1)


def test_a_stream_that_breaks_off() -> None:
    run = read_bytes(GEMINI, lines(*STREAM[:-2]), "out.jsonl")
    assert (codes(run), run.requests[0].tokens.out_total) == (["W_NO_USAGE", "W_UNANSWERED_CALL"], None)
    stray = [STREAM[0], {"type": "tool_result", "tool_id": "t9", "output": "?"}, {"type": "error"}, STREAM[-1]]
    run = read_bytes(GEMINI, lines(*stray), "out.jsonl")
    assert "W_ORPHAN_RESULT" in codes(run)
    assert [each.kind for each in run.events] == [EventKind.ERROR]


def response(*parts: dict[str, Any], method: str = "generateContentStream") -> dict[str, Any]:
    return {"method": method, "response": list(parts)}


def test_of_a_streamed_response_the_last_usage_counts() -> None:
    first = {"candidates": [], "usageMetadata": {"promptTokenCount": 900, "totalTokenCount": 900}}
    wanted = {"functionCall": {"name": "read_file", "args": {"file_path": "a.py"}}}
    spent = {"promptTokenCount": 500, "candidatesTokenCount": 7, "thoughtsTokenCount": 3, "totalTokenCount": 510}
    last = {
        "candidates": [
            {"content": {"parts": [{"text": "Hm", "thought": True}, {"text": "Yes"}, wanted]}, "finishReason": "STOP"}
        ],
        "usageMetadata": spent,
        "modelVersion": "gemini-a",
    }
    run = read_bytes(GEMINI, lines(response(first, last), response(method="countTokens")), "r.json")
    (request,) = run.requests
    assert (request.tokens.fresh_in, request.tokens.cache_read, request.tokens.out_total) == (500, 0, 10)
    assert request.tokens.provenance_of("cache_read") is Provenance.DERIVED
    assert (request.stop_reason, request.visible_chars, request.model) == ("STOP", 3, "gemini-a")
    assert (run.calls[0].target, run.recordings[0].unknown_kinds) == ("a.py", {"countTokens": 1})


def test_what_gemini_is_known_by() -> None:
    for data in (json.dumps(WHOLE).encode(), lines(ABOUT), lines(*STREAM), lines(response())):
        assert GEMINI.sniff(data, "x") >= 0.95
    for data in (b'{"type": "system", "subtype": "init", "session_id": "a"}\n', b"[]", b'{"type":"init"', b""):
        assert GEMINI.sniff(data, "x") == 0
    assert GEMINI.origin(json.dumps(WHOLE).encode(), "x").started == 1_777_629_600_000


def test_lines_that_cannot_be_read() -> None:
    data = lines(ABOUT, user(1)) + b"garbage\n" + lines(said(2, tokens(9, 1))) + b'{"id"'
    run = read_bytes(GEMINI, data, "s.jsonl")
    assert (sums(run)["fresh_in"], codes(run)) == (9, ["E_BAD_LINE", "E_TORN_LINE"])


def test_no_words_are_kept() -> None:
    run = read_json(GEMINI, session(user(1, "gooseberry"), said(2, tokens(1, 1), toolCalls=[used("c", output="jam")])))
    assert "gooseberry" not in repr(run)
    assert "jam" not in repr(run)


LOG = lines(ABOUT, *WHOLE["messages"], {"$set": {"messages": WHOLE["messages"][:1]}}, {"$rewindTo": identified(1)})


@pytest.mark.parametrize("whole", [json.dumps(WHOLE).encode(), LOG, lines(*STREAM)])
def test_damaged_files(whole: bytes) -> None:
    @given(damaged(whole))
    def check(data: bytes) -> None:
        check_reader(GEMINI, data)

    check()


WORDS = (
    "sessionId projectHash messages id type user gemini error tokens input output cached toolCalls name args result"
    " status success functionResponse response $set $rewindTo kind subagent method generateContent candidates content"
    " parts functionCall usageMetadata init tool_use tool_result stats models"
)


@given(st.lists(almost(*WORDS.split()), max_size=6))
def test_lines_that_almost_fit(values: list[Any]) -> None:
    check_reader(GEMINI, lines(ABOUT, *values))
    check_reader(GEMINI, json.dumps(session(*values)).encode())
    check_reader(GEMINI, lines(STREAM[0], *values, STREAM[-1]))
    check_reader(GEMINI, lines(response(*values), *values))


def test_recorded_case(cases: Path) -> None:
    run = read_path(GEMINI, cases / "transcripts" / "gemini-cli" / "session.json")
    found = sums(run)
    assert (found["requests"], found["fresh_in"], found["cache_read"], found["out_total"]) == (2, 14_355, 0, 6)
    assert [each.stop_reason for each in run.requests] == ["STOP", "STOP"]
    assert codes(run) == []

"""Logs of OpenAI-style requests: one test a trap."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.openai_run import OpenAiRun
from kpis.terms.trace import Outcome, Provenance, RequestStatus, ToolOp

from .run_reading import almost, check_reader, codes, damaged, lines, read_bytes, read_files, read_json, sums

LOG = OpenAiRun()
CACHED = {"cache_read_input_tokens": 60, "cache_creation_input_tokens": 30}
HELLO = [{"role": "system", "content": "You work."}, {"role": "user", "content": "Fix the ledger."}]


def usage(prompt: int = 100, cached: int | None = 60, out: int = 10, reasoning: int = 4, **more: Any) -> dict[str, Any]:
    told = {"prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out, **more}
    if cached is not None:
        told["prompt_tokens_details"] = {"cached_tokens": cached}
    return {**told, "completion_tokens_details": {"reasoning_tokens": reasoning}}


def chat(
    identifier: str, text: str | None = "Done.", *calls: tuple[str, str, dict[str, Any]], **used: Any
) -> dict[str, Any]:
    made = [
        {"id": given, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for given, name, arguments in calls
    ]
    message = {"role": "assistant", "content": text, "tool_calls": made}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    told = {"object": "chat.completion", "created": 1_767_225_600, "model": "model-a"}
    return {"id": identifier, **told, "choices": [choice], "usage": usage(**used)}


FIRST = chat("c1", None, ("call_1", "read_file", {"path": "src/a.py"}))
ASKED = {"role": "assistant", "content": None, "tool_calls": FIRST["choices"][0]["message"]["tool_calls"]}
SEEN = {"role": "tool", "tool_call_id": "call_1", "content": "text of a"}
START = 1_767_225_600.0
RECORDS = [
    {"request": {"model": "model-a", "messages": HELLO}, "response": FIRST, "started": START, "ended": START + 2},
    {"request": {"messages": [*HELLO, ASKED, SEEN]}, "response": chat("c2"), "started": START + 3},
]
WHOLE = lines(*RECORDS)


def test_cached_tokens_are_inside_the_prompt_and_reasoning_inside_the_output() -> None:
    run = read_bytes(LOG, WHOLE)
    assert sums(run) == {
        "fresh_in": 80, "cache_read": 120, "cache_write": 0, "out_total": 20, "out_visible": 12, "out_reasoning": 8,
        "unattributed": 0, "requests": 2, "calls": 1,
    }  # fmt: skip
    assert run.requests[0].tokens.provenance_of("fresh_in") is Provenance.DERIVED
    assert codes(run) == []


def test_a_result_stands_in_a_later_request() -> None:
    (call,) = read_bytes(LOG, WHOLE).calls
    assert (call.op, call.target, call.outcome, call.request_id) == (ToolOp.READ, "src/a.py", Outcome.OK, "c1")
    assert (call.t_start, call.t_end, call.result_bytes) == (1_767_225_602_000, 1_767_225_603_000, 9)


def test_a_history_that_is_sent_again_and_again_counts_once() -> None:
    later = {"request": {"messages": [*HELLO, ASKED, SEEN, {"role": "assistant", "content": "Done."}, HELLO[1]]}}
    run = read_bytes(LOG, WHOLE + lines({**later, "response": chat("c3")}))
    assert (len(run.calls), len(run.turns), [each.turn for each in run.requests]) == (1, 2, [0, 0, 1])


def test_a_result_whose_call_is_not_in_the_log_is_an_orphan_once() -> None:
    run = read_bytes(LOG, lines(RECORDS[1], {**RECORDS[1], "response": chat("c4")}))
    assert ([each.outcome for each in run.calls], codes(run)) == ([Outcome.ORPHAN], ["W_ORPHAN_RESULT"])


@pytest.mark.parametrize(
    "record",
    [
        {"messages": HELLO, "response": chat("c1")},
        {"request": {"messages": HELLO}, "response": chat("c1")},
        {"custom_id": "x", "response": {"status_code": 200, "request_id": "r", "body": chat("c1")}, "error": None},
        chat("c1"),
    ],
    ids=["messages beside", "request and response", "batch", "bare"],
)
def test_records_of_many_shapes(record: dict[str, Any]) -> None:
    assert LOG.sniff(lines(record), "x.jsonl") == 0.9
    for data in (lines(record), json.dumps([record]).encode(), json.dumps(record, indent=1).encode()):
        run = read_bytes(LOG, data)
        assert [each.request_id for each in run.requests] == ["c1"]
        assert sums(run)["fresh_in"] == 40


def responses(identifier: str, previous: str | None, sent: Any, *output: dict[str, Any]) -> dict[str, Any]:
    used = {
        "input_tokens": 300, "input_tokens_details": {"cached_tokens": 200}, "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 330,
    }  # fmt: skip
    told = {
        "id": identifier,
        "object": "response",
        "created_at": 1_767_225_600,
        "status": "completed",
        "model": "model-r",
    }
    body = {**told, "output": list(output), "usage": used}
    return {"request": {"input": sent, "previous_response_id": previous}, "response": body}


def test_the_responses_api_continues_by_id() -> None:
    asked = {"type": "function_call", "call_id": "call_7", "name": "shell", "arguments": '{"command": "ls src"}'}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "ledger"}}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
    seen = {"type": "function_call_output", "call_id": "call_7", "output": "a.py"}
    run = read_bytes(
        LOG, lines(responses("r1", None, "Fix it.", search, asked), responses("r2", "r1", [seen], said))
    )  # fmt: skip
    assert [(each.thread_id == run.requests[0].thread_id, each.turn) for each in run.requests] == [(True, 0), (True, 0)]
    first = run.requests[0].tokens
    assert (first.fresh_in, first.cache_read, first.out_visible, first.out_reasoning) == (100, 200, 20, 10)
    assert [(each.name, each.op, each.outcome) for each in run.calls] == [
        ("web_search", ToolOp.WEB, Outcome.OK),
        ("shell", ToolOp.LIST, Outcome.OK),
    ]
    assert run.requests[1].visible_chars == 5


def test_one_response_id_is_one_request() -> None:
    run = read_bytes(LOG, WHOLE + WHOLE)
    assert sums(run) == sums(read_bytes(LOG, WHOLE))
    assert ([each.n_lines for each in run.requests], codes(run)) == ([2, 2], ["W_REPEATED_LINE"])


def test_a_stream_has_its_usage_at_its_end() -> None:
    def chunk(**more: Any) -> dict[str, Any]:
        return {"id": "s1", "object": "chat.completion.chunk", "model": "model-a", "choices": [], **more}

    run = read_bytes(LOG, lines(chunk(usage=None), chunk(), chunk(usage=usage())))
    assert (sums(run)["fresh_in"], run.requests[0].n_lines, codes(run)) == (40, 3, [])
    assert codes(read_bytes(LOG, lines(chunk(), chunk()))) == ["W_NO_USAGE"]


def test_a_response_in_two_files_of_a_run_counts_once() -> None:
    both = read_files(LOG, {"a.jsonl": WHOLE, "b.jsonl": WHOLE})
    assert sums(both) == sums(read_bytes(LOG, WHOLE))
    assert sums(read_files(LOG, {"b.jsonl": WHOLE, "a.jsonl": WHOLE})) == sums(both)


def test_records_without_an_id_are_told() -> None:
    record = {"messages": HELLO, "response": {**chat("x"), "id": None}}
    run = read_bytes(LOG, lines(record, record))
    assert (len({each.request_id for each in run.requests}), codes(run)) == (2, ["W_NO_REQUEST_ID"])
    assert all("#" in each.request_id for each in run.requests)


def test_conversations_are_told_apart_by_their_opening_or_their_session() -> None:
    other = [HELLO[0], {"role": "user", "content": "Something else."}]
    run = read_bytes(LOG, WHOLE + lines({"messages": other, "response": chat("c9")}))
    assert sorted(len([r for r in run.requests if r.thread_id == t.thread_id]) for t in run.threads) == [1, 2]
    named = [{**record, "session_id": f"s-{at}"} for at, record in enumerate(RECORDS)]
    assert {each.thread_id for each in read_bytes(LOG, lines(*named)).threads} == {"s-0", "s-1"}


@pytest.mark.parametrize(
    ("more", "took"),
    [
        ({"started": 1_767_225_600.0, "ended": 1_767_225_602.5}, 2500),
        ({"started": "2026-01-01T00:00:00Z", "ended": "2026-01-01T01:00:02.500+01:00"}, 2500),
        ({"started": 1_767_225_600_000, "latency": 2.5}, 2500),
        ({"timestamp": "2026-01-01T00:00:00", "latency_ms": 2500}, 2500),
        ({"timestamp": "2026-01-01T00:00:00"}, None),
    ],
)
def test_times_in_seconds_milliseconds_and_text(more: dict[str, Any], took: int | None) -> None:
    (request,) = read_bytes(LOG, lines({"messages": HELLO, "response": chat("c1"), **more})).requests
    assert (request.t_first, request.duration_ms) == (1_767_225_600_000, took)
    assert request.t_last == 1_767_225_600_000 + (took or 0)


def test_a_failed_request_is_one_without_tokens() -> None:
    record = {"request": {"model": "model-a", "messages": HELLO}, "error": {"message": "overloaded"}}
    run = read_bytes(LOG, lines(record))
    assert (run.requests[0].status, run.requests[0].model, run.requests[0].tokens.out_total) == (
        RequestStatus.ERROR, "model-a", None,
    )  # fmt: skip
    assert "W_NO_USAGE" not in codes(run)


@pytest.mark.parametrize(
    ("told", "parts", "code"),
    [
        # (fresh, read, write, visible, reasoning, out, unattributed)
        (usage(cached=None), (None, None, None, 6, 4, 10, 100), "W_USAGE_MEANING"),
        (usage(prompt=50, cached=60), (50, 60, None, 6, 4, 10, None), "W_USAGE_MEANING"),
        (usage(out=3, reasoning=4, total_tokens=107), (40, 60, None, 3, 4, 7, None), "W_USAGE_MEANING"),
        (usage(out=3, reasoning=4), (40, 60, None, None, None, 3, None), "W_USAGE_MEANING"),
        (usage(total_tokens=130), (40, 60, None, 6, 4, 10, 20), "W_TOTAL_MISMATCH"),
        (usage(total_tokens=90), (40, 60, None, 6, 4, 10, None), "W_TOTAL_MISMATCH"),
        (
            {"prompt_tokens": 100, "completion_tokens": 5, **CACHED},
            (10, 60, 30, None, None, 5, None),
            None,
        ),
        (
            {"input_tokens": 10, "output_tokens": 5, **CACHED},
            (10, 60, 30, None, None, 5, None),
            None,
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 64},
            (36, 64, None, None, None, 5, None),
            None,
        ),
        ({"prompt_tokens": -4, "completion_tokens": "9"}, (None,) * 7, "W_NO_USAGE"),
        ({"prompt_tokens": True, "completion_tokens": 1 << 60}, (None,) * 7, "W_NO_USAGE"),
        ({}, (None,) * 7, "W_NO_USAGE"),
    ],
    ids=[
        "no split", "cached beside", "reasoning beside", "reasoning beyond", "more", "less", "proxy inside",
        "anthropic beside", "hit and miss", "impossible", "too large", "empty",
    ],
)  # fmt: skip
def test_usage_of_many_dialects(told: dict[str, Any], parts: tuple[int | None, ...], code: str | None) -> None:
    run = read_bytes(LOG, lines({"messages": HELLO, "response": {**chat("c1"), "usage": told}}))
    found = run.requests[0].tokens
    assert (
        found.fresh_in, found.cache_read, found.cache_write, found.out_visible, found.out_reasoning, found.out_total,
        found.unattributed,
    ) == parts  # fmt: skip
    assert codes(run) == ([] if code is None else [code])


def test_a_message_of_anthropics_that_a_proxy_passed_on() -> None:
    used = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "src/a.py"}}
    body = {"id": "msg_1", "type": "message", "model": "model-c", "content": [used], "stop_reason": "tool_use"}
    counted = {"input_tokens": 3, "cache_read_input_tokens": 90, "output_tokens": 5}
    seen = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "text"}]}
    said = {**body, "id": "msg_2", "content": [{"type": "text", "text": "Done."}], "usage": counted}
    run = read_bytes(
        LOG,
        lines(
            {"request": {"messages": HELLO[1:]}, "response": {**body, "usage": counted}},
            {"request": {"messages": [HELLO[1], {"role": "assistant", "content": [used]}, seen]}, "response": said},
        ),
    )
    assert (sums(run)["fresh_in"], sums(run)["cache_read"], len(run.turns)) == (6, 180, 1)
    assert [(each.name, each.target, each.outcome) for each in run.calls] == [("Read", "src/a.py", Outcome.OK)]


def test_bad_lines_are_told_and_the_rest_is_read() -> None:
    deep = b'{"a":' * 100 + b"1" + b"}" * 100
    data = WHOLE + b"garbage\n[1]\n\n" + deep + b'\n{"level": "info"}\r\n' + lines(RECORDS[0])[:40]
    run = read_bytes(LOG, data)
    assert sums(run) == sums(read_bytes(LOG, WHOLE))
    assert codes(run) == ["E_BAD_LINE", "E_TORN_LINE", "W_UNKNOWN_KIND"]
    assert run.recordings[0].bad_lines == 4


@given(st.permutations(range(4)))
def test_the_order_of_records_changes_no_sum(order: list[int]) -> None:
    records = [*RECORDS, {"messages": HELLO, "response": chat("c5")}, {"messages": HELLO[1:], "response": chat("c6")}]
    found = sums(read_bytes(LOG, lines(*(records[at] for at in order))))
    assert (found["fresh_in"], found["out_total"], found["requests"]) == (160, 40, 4)


@given(st.integers(0, len(WHOLE)))
def test_a_log_in_two_files_is_the_same_log(at: int) -> None:
    cut = WHOLE.rfind(b"\n", 0, at) + 1
    parts = {name: data for name, data in (("a.jsonl", WHOLE[:cut]), ("b.jsonl", WHOLE[cut:])) if data}
    found, whole = sums(read_files(LOG, parts)), sums(read_bytes(LOG, WHOLE))
    assert {key: found[key] for key in ("fresh_in", "cache_read", "out_total", "requests")} == {
        key: whole[key] for key in ("fresh_in", "cache_read", "out_total", "requests")
    }


@given(damaged(WHOLE))
def test_damaged_files(data: bytes) -> None:
    check_reader(LOG, data)


WORDS = (
    "request response messages choices message usage id object chat.completion role tool tool_calls tool_call_id"
    " function name arguments content input output body"
)


@given(st.lists(almost(*WORDS.split()), max_size=5))
def test_records_that_almost_fit(records: list[Any]) -> None:
    check_reader(LOG, lines(*records))
    check_reader(LOG, lines(*({"messages": each, "response": {**chat("c1"), "choices": each}} for each in records)))
    read_json(LOG, records)


def test_a_row_says_its_case_and_what_an_evaluator_said_of_it() -> None:
    told = {"case": "c-7", "arm": "plain", "replicate": 2}
    rows = [
        {**told, "response": chat("r1")},
        {**told, "response": chat("r2"), "success": True, "score": 0.25},
        {**told, "response": chat("r3"), "success": True},
        {**told, "replicate": 3, "response": chat("r6"), "success": False},
        {**told, "replicate": 3, "response": chat("r7"), "success": True},
        {"case_id": 9, "response": chat("r4"), "replicate": -1, "success": "yes", "score": "high", "arm": ""},
        {"response": chat("r5"), "success": None},
    ]
    run = read_bytes(LOG, lines(*rows), "log.jsonl")
    assert [(each.case_id, each.arm, each.replicate, each.success, each.score) for each in run.facts] == [
        ("c-7", "plain", 2, True, 0.25), ("c-7", "plain", 3, False, None), ("9", None, None, None, None)
    ]  # fmt: skip


def test_rows_that_say_no_case_have_no_facts() -> None:
    assert read_json(LOG, {"response": chat("r1")}).facts == ()


def test_what_is_none_of_its_kind_is_told_and_passes_nothing() -> None:
    rows = [
        {"case": "c", "response": chat("r1"), "success": True},
        {"case": "c", "response": chat("r2"), "success": "no", "score": "3", "replicate": None},
        {"case": "c", "response": chat("r3"), "success": True, "latency": -1, "timestamp": 1e308},
        {"case": "d", "response": chat("r4"), "success": 0},
        {"case": "d", "response": chat("r5"), "success": False, "latency": None, "timestamp": 0},
    ]
    run = read_bytes(LOG, lines(*rows))
    assert [(each.case_id, each.success) for each in run.facts] == [("c", None), ("d", False)]
    assert [(each.message, each.line) for each in run.issues] == [
        ("The success of 2 records is nothing that it may be, and was left out.", 2),
        ("The score of 1 record is nothing that it may be, and was left out.", 2),
        ("The latency of 1 record is nothing that it may be, and was left out.", 3),
        ("The timestamp of 1 record is nothing that it may be, and was left out.", 3),
    ]
    assert codes(run) == ["W_SCHEMA_DRIFT"] * 4


def test_a_record_of_an_unknown_kind_that_holds_usage_is_a_fault() -> None:
    strange = {"object": "chat.answer", "usage": usage()}
    assert codes(read_bytes(LOG, lines(RECORDS[0], strange))) == ["E_BAD_LINE", "W_UNANSWERED_CALL", "W_UNKNOWN_KIND"]

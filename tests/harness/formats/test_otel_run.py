"""Spans of model calls: what is counted once, what is inside what, and what is not believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.limits import FormatError
from harness.formats.otel_run import OtelRun
from kpis.terms.trace import (
    EventKind,
    Outcome,
    Provenance,
    RequestStatus,
    ThreadKind,
    TimeBasis,
    ToolOp,
    UsageScope,
)
from tests.harness.formats.span_runs import codes, facts, issue, only, read, sums, survives

OTEL = OtelRun()
T = 1_780_000_000_000  # milliseconds


def otlp_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(each) for each in value]}}
    return {"stringValue": value}


def span(
    own: str, parent: str | None = None, *, trace: str = "t1", at: int = 0, lasts: int | None = 10, **more: Any
) -> dict[str, Any]:
    """An OTLP span; attributes are keyword arguments with dots as double underscores."""
    status = more.pop("status", None)
    made: dict[str, Any] = {
        "traceId": trace,
        "spanId": own,
        "name": more.pop("name", "a span"),
        "startTimeUnixNano": str((T + at) * 1_000_000),
        "attributes": [{"key": key.replace("__", "."), "value": otlp_value(each)} for key, each in more.items()],
    }
    if lasts is not None:
        made["endTimeUnixNano"] = str((T + at + lasts) * 1_000_000)
    if parent is not None:
        made["parentSpanId"] = parent
    if status is not None:
        made["status"] = status
    return made


def chat(own: str, parent: str | None = None, input: int = 100, output: int = 10, **more: Any) -> dict[str, Any]:  # noqa: A002
    counters = {"gen_ai__usage__input_tokens": input, "gen_ai__usage__output_tokens": output}
    named = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "model-a", "gen_ai__provider__name": "acme"}
    return span(own, parent, **{**named, **counters, **more})


def tool(own: str, parent: str | None = None, name: str = "read_file", **more: Any) -> dict[str, Any]:
    return span(own, parent, **{"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name, **more})


def otlp(*spans: dict[str, Any], scope: str = "lib") -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}


def test_integers_are_strings_and_times_nanoseconds() -> None:
    run = read(OTEL, otlp(chat("a", "", at=5, lasts=40, gen_ai__response__id="resp-1")))
    (request,) = run.requests
    assert (request.request_id, request.model, request.provider) == ("resp-1", "model-a", "acme")
    assert (request.tokens.fresh_in, request.tokens.out_total) == (100, 10)
    assert (request.t_first, request.t_last, request.duration_ms) == (T + 5, T + 45, 40)
    assert (run.recordings[0].t_start, run.recordings[0].t_end) == (T + 5, T + 45)


def test_without_a_response_id_the_span_names_the_request() -> None:
    assert read(OTEL, otlp(chat("a"))).requests[0].request_id == "t1:a"


def test_a_span_delivered_twice_counts_once() -> None:
    once, twice = read(OTEL, otlp(chat("a"), chat("b"))), read(OTEL, otlp(chat("a"), chat("b"), chat("a")))
    assert facts(once) == facts(twice)
    assert "1 span was delivered again" in issue(twice, "W_REPEATED_LINE").message


def test_of_two_deliveries_the_finished_one_counts() -> None:
    started = span("a", lasts=None, gen_ai__operation__name="chat", gen_ai__request__model="model-a")
    for order in ((started, chat("a")), (chat("a"), started)):
        assert sums(read(OTEL, otlp(*order)))["fresh_in"] == 100


def test_a_wrapper_and_its_call_both_carry_usage() -> None:
    told = {"ai__usage__inputTokens": 40, "ai__usage__outputTokens": 9, "ai__model__id": "m"}
    outer = span("w", ai__operationId="ai.generateText", lasts=50, **told)
    inner = span("c", "w", ai__operationId="ai.generateText.doGenerate", at=1, lasts=40, **told)
    run = read(OTEL, otlp(outer, inner))
    assert (len(run.requests), sums(run)["fresh_in"], sums(run)["out_total"]) == (1, 40, 9)
    assert "a sum over all spans would say 98 tokens, the model calls say 49" in issue(run, "W_DOUBLED_USAGE").message


def test_a_wrapper_without_context_is_known_by_its_time() -> None:
    told = {"ai__usage__promptTokens": 40, "ai__usage__completionTokens": 9, "ai__model__id": "m"}
    outer = [
        span(f"w{at}", trace=f"w{at}", ai__operationId="ai.generateText", at=at, lasts=50, **told) for at in (0, 60)
    ]
    inner = [
        span(f"c{at}", trace=f"c{at}", ai__operationId="ai.generateText.doGenerate", at=at, lasts=40, **told)
        for at in (1, 61)
    ]
    run = read(OTEL, otlp(*outer, *inner))
    assert (len(run.requests), sums(run)["fresh_in"]) == (2, 80)
    assert {request.thread_id for request in run.requests} == {"w0", "w60"}
    alone = read(OTEL, otlp(outer[0]))
    assert (alone.requests[0].scope, sums(alone)["fresh_in"]) == (UsageScope.THREAD, 40)


def test_a_root_agent_repeats_its_model_calls() -> None:
    counters = {"llm__token_count__prompt": 29_000, "llm__token_count__completion": 899}
    agent = span("a", openinference__span__kind="AGENT", name="root", lasts=90, **counters)
    llm = span("b", "a", openinference__span__kind="LLM", llm__model_name="m", at=1, **counters)
    run = read(OTEL, otlp(agent, llm))
    assert sums(run)["fresh_in"] == 29_000
    assert "59,798 tokens, the model calls say 29,899" in issue(run, "W_DOUBLED_USAGE").message
    assert run.threads[0].agent == "root"


def test_an_agent_whose_calls_are_not_recorded_stands_for_them() -> None:
    run = read(OTEL, otlp(span("a", gen_ai__operation__name="invoke_agent", gen_ai__usage__input_tokens=70)))
    assert (run.requests[0].scope, sums(run)["fresh_in"]) == (UsageScope.THREAD, 70)


def test_a_sum_that_the_calls_below_do_not_reach_is_told() -> None:
    run = read(OTEL, otlp(chat("a", input=500, gen_ai__operation__name="invoke_agent"), chat("b", "a", input=100)))
    assert sums(run)["fresh_in"] == 100
    assert "W_TOTAL_MISMATCH" in codes(run)


def test_a_tool_inside_a_model_call_spends_beside_it() -> None:
    run = read(OTEL, otlp(chat("a", lasts=90), tool("b", "a"), chat("c", "b", input=7)))
    assert (len(run.requests), sums(run)["fresh_in"]) == (2, 107)


def test_two_instruments_of_one_call_count_once() -> None:
    other = {"openinference__span__kind": "LLM", "llm__token_count__prompt": 100, "llm__token_count__completion": 10}
    twin = span("b", llm__model_name="m", llm__response__id="resp-1", at=1, **other)
    run = read(OTEL, otlp(chat("a", lasts=90, gen_ai__response__id="resp-1"), twin))
    assert [request.request_id for request in run.requests] == ["resp-1"]
    assert "W_DOUBLED_USAGE" in codes(run)


def test_a_server_that_gives_one_id_twice_loses_no_call() -> None:
    calls = [chat(own, at=at, gen_ai__response__id="stub") for own, at in (("a", 0), ("b", 500))]
    run = read(OTEL, otlp(*calls))
    assert sorted(request.request_id for request in run.requests) == ["stub", "t1:b"]


def test_cached_tokens_are_inside_the_input() -> None:
    cached = {"gen_ai__usage__cache_read__input_tokens": 70, "gen_ai__usage__cache_creation__input_tokens": 20}
    tokens = only(read(OTEL, otlp(chat("a", **cached))))
    assert (tokens.fresh_in, tokens.cache_read, tokens.cache_write_other, tokens.prompt) == (10, 70, 20, 100)
    assert tokens.provenance_of("fresh_in") is Provenance.DERIVED


def test_more_cached_than_input_is_disjoint_and_told() -> None:
    run = read(OTEL, otlp(chat("a", input=4, gen_ai__usage__cache_read__input_tokens=7_201)))
    tokens = only(run)
    assert (tokens.fresh_in, tokens.cache_read, tokens.prompt) == (4, 7_201, 7_205)
    assert "cached tokens stand beside the input" in issue(run, "W_USAGE_MEANING").message


def test_one_program_is_read_one_way() -> None:
    shows = chat("a", input=4, gen_ai__usage__cache_read__input_tokens=7_000)
    silent = chat("b", input=500, gen_ai__usage__cache_read__input_tokens=400)
    assert sums(read(OTEL, otlp(shows, silent)))["fresh_in"] == 504
    assert sums(read(OTEL, otlp(silent)))["fresh_in"] == 100
    assert sums(read(OTEL, otlp(shows), otlp(silent, scope="another lib")))["fresh_in"] == 104


def test_a_total_can_show_that_cached_is_beside() -> None:
    told = {"llm__token_count__total": 1_015, "llm__token_count__prompt_details__cache_read": 400}
    counters = {"llm__token_count__prompt": 600, "llm__token_count__completion": 15}
    run = read(OTEL, otlp(span("a", openinference__span__kind="LLM", **counters, **told)))
    assert (only(run).fresh_in, only(run).prompt) == (600, 1_000)
    assert "W_TOTAL_MISMATCH" not in codes(run)


def test_a_total_that_nothing_explains_is_unattributed() -> None:
    counters = {
        "llm__token_count__prompt": 4_299,
        "llm__token_count__completion": 631,
        "llm__token_count__total": 58_291,
    }
    run = read(OTEL, otlp(span("a", openinference__span__kind="LLM", **counters)))
    assert only(run).unattributed == 53_361
    assert "W_TOTAL_MISMATCH" in codes(run)


def test_reasoning_inside_and_outside_the_output() -> None:
    inside = only(read(OTEL, otlp(chat("a", output=90, gen_ai__usage__reasoning__output_tokens=60))))
    assert (inside.out_total, inside.out_visible, inside.out_reasoning) == (90, 30, 60)
    run = read(OTEL, otlp(chat("a", output=30, gen_ai__usage__reasoning__output_tokens=60)))
    assert (only(run).out_total, only(run).out_visible) == (90, 30)
    assert "W_USAGE_MEANING" in codes(run)
    told = {"gen_ai__usage__reasoning__output_tokens": 20, "gen_ai__usage__total_tokens": 150}
    assert only(read(OTEL, otlp(chat("a", output=30, **told)))).out_total == 50


def test_no_counter_of_cached_tokens_is_unknown_not_zero() -> None:
    run = read(OTEL, otlp(chat("a")))
    assert only(run).cache_read is None
    assert "no counter of cached tokens" in issue(run, "W_USAGE_MEANING").message
    assert codes(read(OTEL, otlp(chat("a", gen_ai__usage__cache_read__input_tokens=0)))) == []


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
        ("gen_ai.provider.name", "gen_ai.system"),
    ],
)
def test_the_old_names_say_the_same(new: str, old: str) -> None:
    cached = {"gen_ai__usage__cache_read__input_tokens": 7, "gen_ai__usage__cache_creation__input_tokens": 5}
    now = json.dumps(otlp(chat("a", **cached)))
    assert facts(read(OTEL, now.encode())) == facts(read(OTEL, now.replace(new, old).encode()))
    assert read(OTEL, now.replace(new, old).encode()).requests == read(OTEL, now.encode()).requests


def test_two_names_with_two_values_are_told() -> None:
    run = read(OTEL, otlp(chat("a", gen_ai__usage__prompt_tokens=999)))
    assert only(run).fresh_in == 100
    assert "two names and two values" in issue(run, "W_TOTAL_MISMATCH").message


@pytest.mark.parametrize("value", ["99999999999999999999", "9223372036854775807", "-4", "abc", "1.5"])
def test_an_impossible_count_is_unknown(value: str) -> None:
    made = otlp(chat("a"))
    made["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"][3]["value"] = {"intValue": value}
    run = read(OTEL, made)
    assert (only(run).fresh_in, only(run).out_total) == (None, 10)
    assert (issue(run, "E_BAD_NUMBER").line, issue(run, "E_BAD_NUMBER").file) == (1, "0.json")


def test_zeros_alone_are_no_usage() -> None:
    run = read(OTEL, otlp(chat("a", input=0, output=0)))
    assert (only(run).fresh_in, only(run).out_total) == (None, None)
    assert "W_NO_USAGE" in codes(run)


@pytest.mark.parametrize(
    "value",
    [
        "2026-05-28T20:26:40Z", "2026-05-28T20:26:40", "2026-05-28T22:26:40.000+02:00", "2026-05-28 20:26:40",
        "1780000000000", 1_780_000_000_000, 1_780_000_000, 1_780_000_000_000_000, "1780000000000000000",
        [1_780_000_000, 0], 1_780_000_000.0,
    ],
)  # fmt: skip
def test_one_time_in_many_ways(value: Any) -> None:
    plain = {"name": "x", "spanContext": {"traceId": "t", "spanId": "s"}, "startTime": value, "endTime": value}
    plain["attributes"] = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3}
    assert read(OTEL, [plain]).requests[0].t_first == 1_780_000_000_000


def test_an_impossible_time_is_unknown() -> None:
    made = chat("a")
    made["startTimeUnixNano"] = "999999999999999999999999"
    run = read(OTEL, otlp(made))
    assert (run.requests[0].t_first, run.requests[0].duration_ms) == (None, None)
    assert "E_BAD_NUMBER" in codes(run)


def test_the_shapes_in_which_spans_are_written() -> None:
    flat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5}
    nested = {"llm": {"token_count": {"prompt": 5}, "model_name": "m"}, "openinference": {"span": {"kind": "LLM"}}}
    python = {"name": "x", "context": {"trace_id": "0xab", "span_id": "0xcd"}, "parent_id": None, "attributes": flat}
    phoenix = {"context": {"trace_id": "ab", "span_id": "cd"}, "span_kind": "LLM", "attributes": nested}
    table = {"context.trace_id": "ab", "context.span_id": "cd", **{f"attributes.{key}": flat[key] for key in flat}}
    for shape in (flat, [flat], python, [phoenix], {"data": [phoenix]}, [table]):
        assert sums(read(OTEL, shape))["fresh_in"] == 5, shape
    printed = b"\n".join(
        json.dumps({**python, "context": {"trace_id": "a", "span_id": own}}, indent=4).encode() for own in "123"
    )
    assert len(read(OTEL, printed).requests) == 3


def test_lines_of_exports_and_what_is_torn() -> None:
    lines = [json.dumps(otlp(chat(own))).encode() for own in "abc"]
    run = read(OTEL, b"\xef\xbb\xbf" + b"\r\n".join(lines[:2]) + b"\n\n" + lines[2][:-30])
    assert [request.line for request in run.requests] == [1, 2]
    assert "E_TORN_LINE" in codes(run)
    assert run.recordings[0].bad_lines == 1


def test_a_tool_span_is_a_measured_call() -> None:
    arguments = '{"path": "src/a.py"}'
    spans = (
        chat("a", "r", at=0, lasts=20),
        tool("b", "r", at=25, lasts=300, gen_ai__tool__call__id="call-1", gen_ai__tool__call__arguments=arguments),
        tool("c", "r", "bash", at=400, status={"code": 2}, error__type="TimeoutError"),
        tool("d", "r", "bash", at=500, status={"code": "STATUS_CODE_ERROR"}),
        tool("e", "r", "bash", at=600, lasts=None),
    )
    run = read(OTEL, otlp(*spans))
    outcomes = [call.outcome for call in run.calls]
    assert outcomes == [Outcome.OK, Outcome.TIMEOUT, Outcome.ERROR, Outcome.UNANSWERED]
    first = run.calls[0]
    assert (first.call_id, first.request_id, first.name, first.op) == ("call-1", "t1:a", "read_file", ToolOp.READ)
    assert (first.duration_ms, first.time_basis, first.target) == (300, TimeBasis.MEASURED, "src/a.py")


def test_messages_name_the_request_and_make_calls_where_no_tool_is_recorded() -> None:
    asked = json.dumps([{"role": "assistant", "parts": [
        {"type": "text", "content": "now"},
        {"type": "tool_call", "id": "k1", "name": "grep", "arguments": {"pattern": "x"}},
        {"type": "tool_call", "id": "k2", "name": "grep", "arguments": {"pattern": "y"}},
    ]}])  # fmt: skip
    answered = json.dumps([{"role": "tool", "parts": [{"type": "tool_call_response", "id": "k1", "response": "z"}]}])
    first = chat("a", at=0, gen_ai__output__messages=asked)
    second = chat("b", at=50, gen_ai__input__messages=answered)
    run = read(OTEL, otlp(first, second))
    assert [(call.call_id, call.outcome, call.request_id) for call in run.calls] == [
        ("k1", Outcome.OK, "t1:a"),
        ("k2", Outcome.UNANSWERED, "t1:a"),
    ]
    assert run.requests[0].visible_chars == 3
    spans = [tool(own, None, "grep", at=at, input__value=json.dumps({"pattern": text})) for own, at, text in
             (("c", 20, "y"), ("d", 30, "x"))]  # fmt: skip
    run = read(OTEL, otlp(first, second, *spans))
    assert [call.call_id for call in run.calls] == ["k2", "k1"]


def test_the_same_call_in_two_vocabularies_is_equal() -> None:
    numbered = {
        "llm__input_messages__0__message__role": "assistant",
        "llm__input_messages__0__message__tool_calls__0__tool_call__id": "k",
        "llm__input_messages__0__message__tool_calls__0__tool_call__function__name": "grep",
        "llm__input_messages__0__message__tool_calls__0__tool_call__function__arguments": '{"b": 1, "a": 2}',
    }
    parts = json.dumps([{"role": "assistant", "tool_calls": [
        {"id": "k", "function": {"name": "grep", "arguments": '{"a":2,"b":1}'}}]}])  # fmt: skip
    one = read(OTEL, otlp(span("a", openinference__span__kind="LLM", llm__token_count__prompt=1, **numbered)))
    other = read(OTEL, otlp(chat("a", gen_ai__input__messages=parts)))
    assert one.calls[0].arg_digest == other.calls[0].arg_digest
    assert one.calls[0].request_id is other.calls[0].request_id is None


def test_threads_by_conversation_trace_and_agent() -> None:
    conversation = {"gen_ai__conversation__id": "conv"}
    spans = (
        chat("a", trace="t1", **conversation),
        chat("b", trace="t2", at=100, **conversation),
        chat("c", trace="t3", at=200),
    )
    run = read(OTEL, otlp(*spans))
    assert [(request.thread_id, request.turn) for request in run.requests] == [("conv", 0), ("conv", 1), ("t3", 0)]
    agents = (
        span("r", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="lead", lasts=900),
        chat("a", "r"),
        tool("b", "r", "task", at=20, lasts=800),
        span("s", "b", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="scout", at=30, lasts=700),
        chat("c", "s", at=40),
    )
    run = read(OTEL, otlp(*agents))
    main, below = run.threads
    assert (main.kind, main.agent, below.kind, below.agent) == (ThreadKind.MAIN, "lead", ThreadKind.SUBAGENT, "scout")
    assert (below.parent_thread_id, below.spawned_by) == ("t1", "t1:b")
    assert [request.thread_id for request in run.requests] == ["t1", below.thread_id]


def test_parents_in_a_circle_and_parents_that_are_missing() -> None:
    run = read(OTEL, otlp(chat("a", "b"), chat("b", "a", input=7), chat("c", "nowhere")))
    assert "1 span names a parent that is not in the recording" in issue(run, "W_PHANTOM_PARENT").message
    assert len(run.requests) == 2


def test_a_failed_call_without_usage_is_unknown() -> None:
    failed = span("a", gen_ai__operation__name="chat", gen_ai__request__model="m", status={"code": 2})
    run = read(OTEL, otlp(failed, chat("b")))
    assert [request.status for request in run.requests] == [RequestStatus.ERROR, RequestStatus.OK]
    assert "W_NO_USAGE" in codes(run)


def record(name: str, at: int, **more: Any) -> dict[str, Any]:
    told = {
        "session.id": "s1",
        "prompt.id": "p1",
        "event.name": name,
        **{k.replace("__", "."): v for k, v in more.items()},
    }
    attributes = [{"key": key, "value": {"stringValue": str(value)}} for key, value in told.items()]
    time = str((T + at) * 1_000_000)
    return {"timeUnixNano": time, "body": {"stringValue": f"claude_code.{name}"}, "attributes": attributes}


def logs(*records: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {"name": "events"}, "logRecords": list(records)}]}]
    }


def test_the_events_of_claude_code() -> None:
    spent = {"input_tokens": 3, "output_tokens": 40, "cache_read_tokens": 900, "cache_creation_tokens": 7}
    events = (
        record("user_prompt", 0, prompt_length=9),
        record("api_request", 500, model="m", cost_usd="0.25", duration_ms=400, request_id="req-1", **spent),
        record("tool_decision", 510, tool_name="Bash", decision="accept", source="config", tool_use_id="u1"),
        record("tool_result", 900, tool_name="Bash", success="false", duration_ms=390, error_type="ShellError",
               tool_use_id="u1", tool_result_size_bytes=12),
        record("tool_decision", 950, tool_name="Write", decision="reject", source="user_reject", tool_use_id="u2"),
        record("api_error", 990, model="m", duration_ms=5),
        record("brand_new", 999),
    )  # fmt: skip
    run = read(OTEL, logs(*events), logs(events[1]))
    (request,) = run.requests
    assert (request.request_id, request.duration_ms, request.cost_usd, request.t_first) == ("req-1", 400, 0.25, T + 100)
    assert (request.tokens.fresh_in, request.tokens.prompt, request.tokens.out_total) == (3, 910, 40)
    assert [(call.call_id, call.outcome, call.duration_ms) for call in run.calls] == [
        ("u1", Outcome.ERROR, 390),
        ("u2", Outcome.DENIED, None),
    ]
    assert (run.calls[0].op, run.calls[0].result_bytes, run.calls[0].error_class) == (ToolOp.EXEC, 12, "ShellError")
    assert [(event.kind, event.detail) for event in run.events] == [
        (EventKind.PERMISSION, "allowed"),
        (EventKind.PERMISSION, "denied"),
        (EventKind.ERROR, None),
    ]
    assert run.recordings[0].unknown_kinds == {"brand_new": 1}


def test_spans_and_events_of_one_request_count_once() -> None:
    spent = {"input_tokens": 3, "output_tokens": 40, "cache_read_tokens": 900}
    traced = span("a", name="claude_code.llm_request", at=100, lasts=400, model="m", request_id="req-1",
                  session__id="s1", **spent)  # fmt: skip
    waited = span("b", name="claude_code.tool.blocked_on_user", at=520, lasts=80, decision="accept", session__id="s1")
    logged = record("api_request", 500, model="m", duration_ms=400, request_id="req-1", **spent)
    run = read(OTEL, otlp(traced, waited), logs(logged))
    assert (len(run.requests), sums(run)["cache_read"], only(run).fresh_in) == (1, 900, 3)
    assert [(event.kind, event.duration_ms) for event in run.events] == [(EventKind.PERMISSION, 80)]


def test_metrics_are_left_out_and_told() -> None:
    run = read(OTEL, json.dumps(otlp(chat("a"))).encode() + b'\n{"resourceMetrics": []}\n')
    assert run.recordings[0].unknown_kinds == {"resourceMetrics": 1}


SEVERAL = (
    otlp(chat("a", gen_ai__response__id="r1"), tool("b", at=20, gen_ai__tool__call__id="k")),
    otlp(
        chat("c", at=40, gen_ai__usage__cache_read__input_tokens=30),
        chat("p", lasts=200, gen_ai__operation__name="invoke_agent"),
    ),
    otlp(chat("d", "p", at=60, input=9), chat("c", at=40, gen_ai__usage__cache_read__input_tokens=30)),
)


@given(st.permutations(range(3)), st.lists(st.sampled_from([0, 1, 2]), max_size=3))
@settings(max_examples=40)
def test_order_and_repetition_of_files_change_nothing(order: list[int], again: list[int]) -> None:
    files = [SEVERAL[at] for at in (*order, *again)]
    assert facts(read(OTEL, *files)) == facts(read(OTEL, *SEVERAL))


@given(st.permutations(range(3)))
@settings(max_examples=10)
def test_one_file_of_lines_says_what_three_files_say(order: list[int]) -> None:
    joined = b"\n".join(json.dumps(SEVERAL[at]).encode() for at in order)
    assert facts(read(OTEL, joined)) == facts(read(OTEL, *SEVERAL))


@given(st.lists(st.binary(max_size=40).map(lambda each: each.replace(b"\n", b"").replace(b"\r", b"")), max_size=5))
@settings(max_examples=60)
def test_garbage_after_the_spans_changes_no_total(garbage: list[bytes]) -> None:
    body = json.dumps(SEVERAL[0]).encode()
    spoiled = body + b"\n" + b"\n".join(b"#" + each for each in garbage) + b"\n"
    run = read(OTEL, spoiled)
    assert facts(run) == facts(read(OTEL, body))
    assert run.recordings[0].bad_lines == len(garbage)


@given(st.integers(0, 10**9))
@settings(max_examples=250)
def test_only_a_format_error_leaves(seed: int) -> None:
    survives(OTEL, b"\n".join(json.dumps(each).encode() for each in (*SEVERAL, logs(record("api_request", 1)))), seed)


@pytest.mark.parametrize("body", [b"", b"\n\n", b"\0\0", b"no json", b"[" * 100_000, b'"text"', b"12"])
def test_what_holds_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(FormatError):
        read(OTEL, body)


def test_a_second_file_that_cannot_be_read_is_an_issue() -> None:
    run = read(OTEL, otlp(chat("a")), b"[" * 100_000)
    assert (len(run.requests), len(run.recordings)) == (1, 2)
    assert run.recordings[1].bad_lines == 1


def test_recognised_by_content() -> None:
    assert OTEL.sniff(json.dumps(otlp(chat("a"))).encode(), "x") > 0.85
    assert OTEL.sniff(b'{"gen_ai.usage.input_tokens": 3}', "x") > 0.7
    assert OTEL.sniff(rb'{"metadata": "{\"gen_ai.system\": 1}"}', "x") == 0
    body = json.dumps(otlp(chat("a", gen_ai__conversation__id="conv"))).encode()
    assert (OTEL.origin(body, "x").run, OTEL.origin(body, "x").started) == ("conv", T)


@pytest.mark.parametrize(
    ("name", "requests", "fresh", "out", "calls"),
    [
        ("ai-sdk-spans.json", 5, 152, 297, 0),
        ("genai-tool-calls.json", 1, 97, 52, 1),
        ("openinference-tool-calls.json", 1, 97, 52, 1),
    ],
)
def test_the_recorded_files(cases: Path, name: str, requests: int, fresh: int, out: int, calls: int) -> None:
    body = (cases / "transcripts" / "otel" / name).read_bytes()
    assert OTEL.sniff(body, name) > 0.7
    run = read(OTEL, body)
    assert (len(run.requests), sums(run)["fresh_in"], sums(run)["out_total"], len(run.calls)) == (
        requests, fresh, out, calls,
    )  # fmt: skip
    assert not [each for each in run.issues if each.severity.value != "note"]
    if name == "ai-sdk-spans.json":
        assert "898 tokens, the model calls say 449" in issue(run, "W_DOUBLED_USAGE").message
    else:
        assert (run.calls[0].name, run.calls[0].outcome, run.requests[0].visible_chars) == (
            "get_weather",
            Outcome.OK,
            67,
        )

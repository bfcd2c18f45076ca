"""Langfuse exports: repeated observations, free keys of usage, and which total is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.langfuse_run import LangfuseRun
from harness.formats.langfuse_usage import buckets_of
from harness.formats.span_values import Numbers
from kpis.terms.trace import Outcome, TimeBasis, ToolOp
from tests.harness.formats.span_runs import codes, facts, issue, only, read, sums, survives

LANGFUSE = LangfuseRun()


def observation(own: str, kind: str = "GENERATION", second: int = 0, **more: Any) -> dict[str, Any]:
    made = {
        "id": own,
        "traceId": "t1",
        "type": kind,
        "name": f"a {kind.lower()}",
        "startTime": f"2026-05-01T10:00:{second:02d}.000Z",
        "endTime": f"2026-05-01T10:00:{second:02d}.500Z",
        "parentObservationId": None,
        "level": "DEFAULT",
    }
    return {**made, **more}


def spent(**details: int) -> dict[str, Any]:
    return observation("g", usageDetails=details, model="m")


def trace(*observations: dict[str, Any], **more: Any) -> dict[str, Any]:
    """As the export writes them: inside the trace without texts, and again beside it."""
    bare = [{**each, "input": None, "output": None} for each in observations]
    return {"trace": {"id": "t1", "latency": 2.5, "observations": bare, **more}, "observations": list(observations)}


def test_observations_inside_and_beside_the_trace_count_once() -> None:
    made = observation("g", usageDetails={"input": 7, "output": 3, "total": 10}, input="hello", output="hi there")
    run = read(LANGFUSE, trace(made))
    assert (len(run.requests), sums(run)["fresh_in"], sums(run)["out_total"]) == (1, 7, 3)
    assert run.requests[0].request_id == "t1:g"
    assert run.facts[0].duration_ms == 2_500
    again = read(LANGFUSE, trace(made), [made], {"data": [made], "meta": {"page": 1}})
    assert facts(again) == facts(run)


def test_missing_cache_keys_are_unknown() -> None:
    run = read(LANGFUSE, trace(spent(input=5, output=94, total=99)))
    assert (only(run).fresh_in, only(run).cache_read, only(run).cache_write) == (5, None, None)
    assert codes(run) == ["W_USAGE_MEANING"]
    assert run.issues[0].severity.value == "note"


def test_buckets_are_disjoint() -> None:
    keys = {"input": 86, "input_cached_tokens": 17_817, "cache_creation_input_tokens": 9, "output": 20}
    run = read(LANGFUSE, trace(spent(**keys, total=17_932)))
    tokens = only(run)
    assert (tokens.fresh_in, tokens.cache_read, tokens.cache_write_other, tokens.out_total) == (86, 17_817, 9, 20)
    assert codes(run) == []


@pytest.mark.parametrize(
    ("details", "out_total", "visible", "told"),
    [
        ({"input": 179, "output": 35, "output_reasoning": 64, "total": 278}, 99, 35, []),
        ({"input": 10, "output": 2_055, "reasoning": 1_104, "total": 2_065}, 2_055, 951, []),
        ({"input": 10, "output": 30, "output_reasoning_tokens": 64}, 94, 30, []),
    ],
)
def test_the_total_decides_where_reasoning_is(
    details: dict[str, int], out_total: int, visible: int, told: list[str]
) -> None:
    run = read(LANGFUSE, trace(spent(**details, input_cache_read=0)))
    assert (only(run).out_total, only(run).out_visible) == (out_total, visible)
    assert codes(run) == told


def test_what_no_bucket_explains_is_unattributed() -> None:
    run = read(LANGFUSE, trace(spent(input=5, output=845, total=2_023)))
    assert (only(run).unattributed, only(run).out_total) == (1_173, 845)
    assert "W_TOTAL_MISMATCH" in codes(run)


def test_a_total_can_show_that_cached_is_inside() -> None:
    run = read(LANGFUSE, trace(spent(input=117_231, cache_read_input_tokens=115_584, output=10, total=117_241)))
    assert (only(run).fresh_in, only(run).cache_read, only(run).prompt) == (1_647, 115_584, 117_231)
    assert "inside the input" in issue(run, "W_USAGE_MEANING").message


def test_a_total_that_was_only_added_up_leaves_a_doubt() -> None:
    run = read(LANGFUSE, trace(spent(input=17_903, input_cached_tokens=17_817, output=1, total=35_721)))
    assert only(run).prompt == 35_720
    told = issue(run, "W_USAGE_MEANING")
    assert (told.severity.value, "counted twice" in told.message) == ("warning", True)


def test_an_input_that_stopped_at_zero_is_a_lower_bound() -> None:
    run = read(LANGFUSE, trace(spent(input=0, cache_read_input_tokens=900, output=1, total=901)))
    assert (only(run).fresh_in, only(run).cache_read) == (0, 900)
    assert "lower bound" in issue(run, "W_USAGE_MEANING").message


def test_usage_may_be_partly_or_wholly_absent() -> None:
    partly = only(read(LANGFUSE, trace(spent(input=12))))
    assert (partly.fresh_in, partly.out_total) == (12, None)
    run = read(LANGFUSE, trace(observation("g", usageDetails={})))
    assert (only(run).fresh_in, only(run).out_total) == (None, None)
    assert "W_NO_USAGE" in codes(run)


def test_keys_by_their_words() -> None:
    told = {
        "inputTokens": 1, "input_audio": 2, "cache_creation_input_tokens": 7, "input_cache_creation_5m": 3,
        "ephemeral_1h_cache_write": 4, "promptCachedTokens": 5, "thoughtsTokenCount": 6, "completion_tokens": 8,
        "output_image": 9, "server_tool_use": 10, "total_tokens": 55, "nothing": None,
    }  # fmt: skip
    found = buckets_of(told, Numbers())
    assert (found.input, found.other_in, found.write, found.write_5m, found.write_1h) == (1, 2, 7, 3, 4)
    assert (found.read, found.reasoning, found.output, found.other_out) == (5, 6, 8, 9)
    assert (found.rest, found.total) == (10, 55)


def test_an_alias_is_not_added_and_audio_is_unless_the_total_forbids_it() -> None:
    assert only(read(LANGFUSE, trace(spent(input=9, input_tokens=9, output=1)))).fresh_in == 9
    beside = only(read(LANGFUSE, trace(spent(input=9, input_audio=4, output=1, total=14))))
    inside = only(read(LANGFUSE, trace(spent(input=9, input_audio=4, output=1, total=10))))
    assert (beside.fresh_in, inside.fresh_in) == (13, 9)


def test_old_usage_and_exports_with_underscores() -> None:
    old = observation("g", usage={"input": 4, "output": 2, "total": 6, "unit": "TOKENS", "inputCost": 0.5})
    stored = {
        "id": "g", "trace_id": "t1", "type": "GENERATION", "start_time": "2026-05-01 10:00:00.000",
        "end_time": "2026-05-01 10:00:00.500", "usage_details": '{"input": 4, "output": 2, "total": 6}',
    }  # fmt: skip
    one, other = read(LANGFUSE, [old]), read(LANGFUSE, json.dumps(stored).encode() + b"\n")
    assert facts(one) == facts(other)
    assert one.requests[0].t_first == other.requests[0].t_first


def test_usage_on_an_enclosing_generation_counts_below() -> None:
    outer = observation("o", usageDetails={"input": 130, "output": 1})
    inner = observation("g", second=0, usageDetails={"input": 130, "output": 1}, parentObservationId="o")
    run = read(LANGFUSE, trace(outer, inner))
    assert sums(run)["fresh_in"] == 130
    assert "262 tokens, the model calls say 131" in issue(run, "W_DOUBLED_USAGE").message


def test_tools_and_who_asked_for_them() -> None:
    asked = json.dumps({"role": "assistant", "content": [
        {"type": "text", "text": "look"},
        {"type": "tool_use", "id": "u1", "name": "grep", "input": {"pattern": "x"}},
    ]})  # fmt: skip
    message = json.dumps({"type": "tool", "tool_call_id": "u2", "content": "found", "status": "error"})
    run = read(LANGFUSE, trace(
        observation("g", usageDetails={"input": 1, "output": 1}, output=asked),
        observation("a", "TOOL", 2, name="grep", input='{"input": {"pattern": "x"}}', output="found"),
        observation("b", "SPAN", 4, name="ls", input="{}", output=message),
    ))  # fmt: skip
    first, second = run.calls
    assert (first.call_id, first.request_id, first.op, first.target) == ("u1", "t1:g", ToolOp.SEARCH, "x")
    assert (first.duration_ms, first.time_basis, first.result_bytes) == (500, TimeBasis.MEASURED, 5)
    assert (second.call_id, second.outcome, second.request_id) == ("u2", Outcome.ERROR, "t1:g")


def test_a_session_is_a_thread_and_its_traces_are_turns() -> None:
    def of(name: str, second: int) -> dict[str, Any]:
        made = observation("g", second=second, traceId=name, usageDetails={"input": 1, "output": 1})
        return {"id": name, "sessionId": "s1", "observations": [made]}

    run = read(LANGFUSE, [of("t2", 30), of("t1", 0)])
    assert [(each.thread_id, each.turn, each.request_id) for each in run.requests] == [
        ("s1", 0, "t1:g"),
        ("s1", 1, "t2:g"),
    ]
    assert run.facts == ()


def test_unknown_kinds_are_told_and_scores_are_none() -> None:
    score = {"id": "s", "traceId": "t1", "name": "good", "dataType": "NUMERIC", "value": 1}
    run = read(LANGFUSE, [observation("g"), observation("x", "NEW_KIND"), score])
    assert run.recordings[0].unknown_kinds == {"NEW_KIND": 1}


FILES = (
    trace(observation("g", usageDetails={"input": 5, "output": 1}), observation("a", "TOOL", 1)),
    [observation("h", second=9, usageDetails={"input": 7, "cache_read": 9, "output": 2}), observation("a", "TOOL", 1)],
)


@given(st.permutations(range(2)), st.lists(st.sampled_from([0, 1]), max_size=3))
@settings(max_examples=20)
def test_order_and_repetition_of_files_change_nothing(order: list[int], again: list[int]) -> None:
    assert facts(read(LANGFUSE, *(FILES[at] for at in (*order, *again)))) == facts(read(LANGFUSE, *FILES))


def test_garbage_after_the_document_changes_no_total() -> None:
    body = json.dumps(FILES[0], indent=2).encode()
    run = read(LANGFUSE, body + b"\nnot json\n{\n")
    assert facts(run) == facts(read(LANGFUSE, body))
    assert (run.recordings[0].bad_lines, "E_BAD_LINE" in codes(run)) == (2, True)


@given(st.integers(0, 10**9))
@settings(max_examples=200)
def test_only_a_format_error_leaves(seed: int) -> None:
    survives(LANGFUSE, b"\n".join(json.dumps(each).encode() for each in FILES), seed)


def test_recognised_by_content() -> None:
    body = json.dumps(FILES[0]).encode()
    assert LANGFUSE.sniff(body, "x") > 0.95
    assert LANGFUSE.sniff(b'{"type": "SPAN"}', "x") == 0
    assert LANGFUSE.origin(body, "x").run == "t1"


@pytest.mark.parametrize(
    ("name", "requests", "fresh", "read_", "out", "calls"),
    [("a.trace.json", 4, 34, None, 232, 2), ("b.trace.json", 2, 168, 0, 66, 1)],
)
def test_the_recorded_files(
    cases: Path, name: str, requests: int, fresh: int, read_: int | None, out: int, calls: int
) -> None:
    body = (cases / "transcripts" / "langfuse" / name).read_bytes()
    assert LANGFUSE.sniff(body, name) > 0.95
    run = read(LANGFUSE, body)
    assert (len(run.requests), sums(run)["fresh_in"], sums(run)["cache_read"], sums(run)["out_total"]) == (
        requests, fresh, read_, out,
    )  # fmt: skip
    assert (len(run.calls), {call.outcome for call in run.calls}) == (calls, {Outcome.OK})
    assert all(call.request_id is not None for call in run.calls)
    assert not [each for each in run.issues if each.severity.value != "note"]

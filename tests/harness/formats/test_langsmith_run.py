"""LangSmith runs: two halves of one run, sums on chains, and what input includes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.langsmith_run import LangsmithRun
from kpis.terms.trace import Outcome, RequestStatus, TimeBasis, ToolOp
from tests.harness.formats.span_runs import codes, facts, issue, only, read, sums, survives

LANGSMITH = LangsmithRun()


def run_(own: str, kind: str = "llm", second: int = 0, **more: Any) -> dict[str, Any]:
    made = {
        "id": own,
        "trace_id": "t1",
        "parent_run_id": None,
        "run_type": kind,
        "name": f"a {kind}",
        "start_time": f"2026-05-01T10:00:{second:02d}.000000+00:00",
        "end_time": f"2026-05-01T10:00:{second:02d}.250000+00:00",
    }
    return {**made, **more}


def used(input: int, output: int, **more: Any) -> dict[str, Any]:  # noqa: A002
    told = {"input_tokens": input, "output_tokens": output, "total_tokens": input + output, **more}
    return {"usage_metadata": told}


def test_post_and_patch_are_one_run() -> None:
    post = {**run_("a"), "end_time": None, "outputs": used(1, 1)}
    patch = {"id": "a", "trace_id": "t1", "end_time": run_("a")["end_time"], "outputs": {**used(9, 4), "id": "resp-1"}}
    for body in ({"post": [post], "patch": [patch]}, [patch, post], [post, patch]):
        run = read(LANGSMITH, body)
        (request,) = run.requests
        assert (request.request_id, request.tokens.fresh_in, request.tokens.out_total) == ("resp-1", 9, 4)
        assert request.duration_ms == 250
    assert facts(read(LANGSMITH, [post], [patch])) == facts(read(LANGSMITH, [patch], [post]))


def test_sums_on_chains_are_not_counted() -> None:
    chain = run_("c", "chain", prompt_tokens=100, completion_tokens=20, total_tokens=120)
    llm = [run_(own, second=at, parent_run_id="c", outputs=used(50, 10)) for at, own in enumerate("ab")]
    run = read(LANGSMITH, [chain, *llm])
    assert (len(run.requests), sums(run)["fresh_in"], sums(run)["out_total"]) == (2, 100, 20)
    assert "240 tokens, the model calls say 120" in issue(run, "W_DOUBLED_USAGE").message


def test_the_path_names_a_parent_that_is_not_named_otherwise() -> None:
    chain = run_("c", "chain", dotted_order="20260501T100000000000Zc", outputs=used(5, 5))
    llm = run_("a", dotted_order="20260501T100000000000Zc.20260501T100001000000Za", outputs=used(5, 5))
    for each in (chain, llm):
        del each["parent_run_id"]
    assert sums(read(LANGSMITH, [chain, llm]))["fresh_in"] == 5
    del llm["trace_id"]
    assert read(LANGSMITH, [{**chain, "trace_id": "c"}, llm]).requests[0].thread_id == "c"


def test_children_inside_their_parent() -> None:
    chain = run_("c", "chain", outputs={}, child_runs=[run_("a", parent_run_id="c", outputs=used(5, 1))])
    assert sums(read(LANGSMITH, chain))["fresh_in"] == 5


def test_input_includes_cached_tokens() -> None:
    details = {"cache_read": 70, "cache_creation": 0, "ephemeral_5m_input_tokens": 15, "ephemeral_1h_input_tokens": 5}
    told = used(100, 30, input_token_details=details, output_token_details={"reasoning": 12})
    tokens = only(read(LANGSMITH, [run_("a", outputs=told)]))
    assert (tokens.fresh_in, tokens.cache_read, tokens.prompt) == (10, 70, 100)
    assert (tokens.cache_write_5m, tokens.cache_write_1h, tokens.cache_write_other) == (15, 5, None)
    assert (tokens.out_visible, tokens.out_reasoning) == (18, 12)


def test_more_cached_than_input_is_not_subtracted() -> None:
    run = read(LANGSMITH, [run_("a", outputs=used(3, 9, input_token_details={"cache_read": 800}))])
    assert (only(run).fresh_in, only(run).prompt) == (3, 803)
    assert "W_USAGE_MEANING" in codes(run)


def test_usage_in_its_other_places() -> None:
    usage = used(8, 2)["usage_metadata"]
    message = {
        "kwargs": {
            "content": "yes",
            "usage_metadata": usage,
            "response_metadata": {"model_name": "m", "finish_reason": "stop"},
        }
    }
    generations = {"generations": [[{"message": message}]]}
    openai = {"llm_output": {"token_usage": {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}}}
    by_metadata = {"extra": {"metadata": {"usage_metadata": usage}}}
    columns = {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10}
    for more in ({"outputs": generations}, {"outputs": openai}, by_metadata, columns):
        assert sums(read(LANGSMITH, [run_("a", **more)]))["fresh_in"] == 8, more
    request = read(LANGSMITH, [run_("a", outputs=generations)]).requests[0]
    assert (request.model, request.stop_reason, request.visible_chars) == ("m", "stop", 3)


def test_zeros_and_errors_are_unknown_usage() -> None:
    failed = run_("a", error="RateLimitError('slow down')", prompt_tokens=0, completion_tokens=0, total_tokens=0)
    run = read(LANGSMITH, [failed])
    assert (run.requests[0].status, only(run).fresh_in) == (RequestStatus.ERROR, None)
    assert "W_NO_USAGE" in codes(run)


def test_tools_with_results_and_errors() -> None:
    answered = {"output": {"type": "tool", "tool_call_id": "k1", "content": "found", "status": "success"}}
    choice = {"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [
        {"id": "k1", "function": {"name": "grep", "arguments": '{"pattern": "x"}'}}]}}  # fmt: skip
    run = read(LANGSMITH, [
        run_("a", outputs={**used(5, 1), "choices": [choice]}),
        run_("b", "tool", 2, name="grep", inputs={"pattern": "x"}, outputs=answered),
        run_("c", "tool", 4, name="bash", inputs={"input": '{"command": "make"}'}, error="TimeoutError: 30 s"),
    ])  # fmt: skip
    first, second = run.calls
    assert (first.call_id, first.request_id, first.op, first.result_bytes) == ("k1", "t1:a", ToolOp.SEARCH, 5)
    assert (first.duration_ms, first.time_basis) == (250, TimeBasis.MEASURED)
    assert (second.outcome, second.error_class) == (Outcome.TIMEOUT, "TimeoutError")
    assert run.requests[0].stop_reason == "tool_calls"


def test_a_thread_holds_its_traces_as_turns() -> None:
    extra = {"metadata": {"thread_id": "chat-7"}}
    run = read(LANGSMITH, [
        run_("b", second=9, trace_id="t2", extra=extra, outputs=used(1, 1)),
        run_("a", extra=extra, outputs=used(1, 1)),
    ])  # fmt: skip
    assert [(each.thread_id, each.turn, each.request_id) for each in run.requests] == [
        ("chat-7", 0, "t1:a"),
        ("chat-7", 1, "t2:b"),
    ]


FILES = (
    {
        "post": [run_("a", outputs={}), run_("c", "chain")],
        "patch": [{"id": "a", "trace_id": "t1", "outputs": used(5, 1)}],
    },
    [run_("b", "tool", 3, outputs={"output": "x"}), run_("d", second=5, parent_run_id="c", outputs=used(7, 2))],
)


@given(st.permutations(range(2)), st.lists(st.sampled_from([0, 1]), max_size=3))
@settings(max_examples=20)
def test_order_and_repetition_of_files_change_nothing(order: list[int], again: list[int]) -> None:
    assert facts(read(LANGSMITH, *(FILES[at] for at in (*order, *again)))) == facts(read(LANGSMITH, *FILES))


def test_garbage_after_the_runs_changes_no_total() -> None:
    body = b"\n".join(json.dumps(each).encode() for each in FILES)
    run = read(LANGSMITH, body + b"\n\xff\xfe\n[1, {}")
    assert facts(run) == facts(read(LANGSMITH, body))
    assert {"E_BAD_LINE", "E_TORN_LINE"} <= set(codes(run))


@given(st.integers(0, 10**9))
@settings(max_examples=200)
def test_only_a_format_error_leaves(seed: int) -> None:
    survives(LANGSMITH, b"\n".join(json.dumps(each).encode() for each in FILES), seed)


def test_recognised_by_content() -> None:
    body = json.dumps(FILES[0]).encode()
    assert LANGSMITH.sniff(body, "x") > 0.95
    assert LANGSMITH.sniff(b'{"langsmith": 1}', "x") == 0
    assert LANGSMITH.origin(body, "x").run == "t1"


def test_the_recorded_file(cases: Path) -> None:
    body = (cases / "transcripts" / "langsmith" / "stream.json").read_bytes()
    assert LANGSMITH.sniff(body, "stream.json") > 0.95
    run = read(LANGSMITH, body)
    (request,) = run.requests
    assert (request.tokens.fresh_in, request.tokens.cache_read, request.tokens.out_total) == (9, 0, 9)
    assert (request.model, request.stop_reason, request.duration_ms) == ("gpt-4o-mini-2024-07-18", "stop", 1_328)
    assert request.visible_chars == 34
    assert run.issues == ()

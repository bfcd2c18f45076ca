"""The event stream of Claude Code: stubs on the answers, the truth in the result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.claude_run import ClaudeCodeRun
from harness.formats.claude_stream import ClaudeStream
from harness.formats.run_format import Origin
from kpis.terms.trace import Outcome, Provenance, ThreadKind, UserKind

from .runs import Told, call
from .runs import told as told_by


def told(files: bytes | Mapping[str, bytes]) -> Told:
    return told_by(files, ClaudeStream())


def line(kind: str, parent: str | None = None, **more: Any) -> bytes:
    return json.dumps({"type": kind, **more, "parent_tool_use_id": parent, "session_id": "s1"}).encode() + b"\n"


def answer(identifier: str, parent: str | None = None, *, content: Any = None, out: int = 1, **more: Any) -> bytes:
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 900,
        "output_tokens": out,
    }
    message = {"id": identifier, "model": "model-a", "stop_reason": None, "usage": usage, "role": "assistant"}
    message["content"] = [{"type": "text", "text": "x" * 400}] if content is None else content
    return line("assistant", parent, message=message, **more)


def results(identifier: str, body: str, parent: str | None = None, **more: Any) -> bytes:
    block = {"type": "tool_result", "tool_use_id": identifier, "content": body, **more}
    return line("user", parent, message={"role": "user", "content": [block]})


INIT = line("system", subtype="init", cwd="/home/user/project", model="model-a", claude_code_version="2.1.77", tools=[])
USAGE = {
    "input_tokens": 8,
    "cache_creation_input_tokens": 200,
    "cache_read_input_tokens": 1_800,
    "output_tokens": 4_962,
}
BY_MODEL = {
    "model-a": {
        "inputTokens": 8, "outputTokens": 4_962, "cacheReadInputTokens": 1_800, "cacheCreationInputTokens": 200,
        "costUSD": 0.7, "contextWindow": 200_000,
    },
    "side-model": {
        "inputTokens": 276_477, "outputTokens": 900, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0,
        "costUSD": 0.3,
    },
}  # fmt: skip
RESULT = line(
    "result",
    subtype="success",
    is_error=False,
    num_turns=3,
    duration_ms=61_000,
    duration_api_ms=40_500,
    total_cost_usd=1.0019,
    usage=USAGE,
    modelUsage=BY_MODEL,
    permission_denials=[{"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {}}],
)


def test_the_result_stands_beside_stubs_that_are_marked() -> None:
    found = told(
        INIT + answer("m1", content=[call("t1", "Read", file_path="/a")]) + results("t1", "ok") + answer("m2") + RESULT
    )
    assert [r.tokens.out_total for r in found.requests] == [1, 1]
    assert {r.tokens.provenance_of("out_total") for r in found.requests} == {Provenance.PLACEHOLDER}
    assert found.total("cache_read") == 1_800
    (facts,) = found.facts
    assert (facts.cost_usd, facts.duration_ms, facts.api_ms, facts.turns) == (1.0019, 61_000, 40_500, 3)
    assert (facts.outcome, facts.denied, facts.file, facts.success) == ("success", 1, "s1.jsonl", None)
    used = {each.model: each for each in facts.by_model}
    assert used["model-a"].tokens.out_total == 4_962
    assert (used["side-model"].tokens.fresh_in, used["side-model"].cost_usd) == (276_477, 0.3)
    assert used["model-a"].tokens.prompt == 2_008
    assert {r.context_window for r in found.requests} == {200_000}
    assert found.codes == {"W_PLACEHOLDER_OUTPUT", "W_TOTAL_MISMATCH"}
    assert any("side-model" in issue.message for issue in found.issues)


def test_without_a_result_the_output_was_not_observed() -> None:
    found = told(INIT + answer("m1") + answer("m2"))
    assert found.facts == []
    assert {r.tokens.provenance_of("out_total") for r in found.requests} == {Provenance.PLACEHOLDER}
    assert found.codes == {"W_PLACEHOLDER_OUTPUT", "W_UNSETTLED"}


def test_output_that_adds_up_to_the_result_is_observed() -> None:
    found = told(INIT + answer("m1", out=4_000) + answer("m2", out=962) + RESULT)
    assert {r.tokens.provenance_of("out_total") for r in found.requests} == {Provenance.OBSERVED}
    assert "W_PLACEHOLDER_OUTPUT" not in found.codes


def test_streamed_parts_settle_the_output_of_their_response() -> None:
    def part(parent: str | None = None, **event: Any) -> bytes:
        return line("stream_event", parent, event=event)

    found = told(
        INIT
        + part(type="message_start", message={"id": "m1"})
        + part("t9", type="message_start", message={"id": "m2"})
        + answer("m1")
        + answer("m2", "t9")
        + part(type="content_block_delta", delta={"text": "x"})
        + part(type="message_delta", usage={"output_tokens": 321})
        + part("t9", type="message_delta", usage={"output_tokens": 45})
        + answer("m3")
    )
    marks = {r.request_id: (r.tokens.out_total, r.tokens.provenance_of("out_total").value) for r in found.requests}
    assert marks == {"m1": (321, "observed"), "m2": (45, "observed"), "m3": (1, "placeholder")}


def test_a_sub_agent_is_the_thread_of_the_call_that_its_lines_name() -> None:
    task = call("t1", "Task", subagent_type="explorer", prompt="look")
    found = told(
        INIT
        + answer("m1", content=[task])
        + line("user", "t1", message={"role": "user", "content": [{"type": "text", "text": "look"}]})
        + answer("m2", "t1", content=[call("t2", "Bash", command="ls")])
        + results("t2", "refused", "t1", is_error=True)
        + results("t1", "done")
        + answer("m3")
        + RESULT
    )
    thread = found.threads["agent-t1"]
    assert (thread.kind, thread.parent_thread_id, thread.spawned_by, thread.agent) == (
        ThreadKind.SUBAGENT, "main", "t1", "explorer",
    )  # fmt: skip
    assert [(r.request_id, r.thread_id, r.index) for r in found.requests] == [
        ("m1", "main", 0), ("m2", "agent-t1", 0), ("m3", "main", 1),
    ]  # fmt: skip
    assert found.calls["t1"].spawned_thread == "agent-t1"
    assert (found.calls["t2"].outcome, found.calls["t2"].error_class) == (Outcome.DENIED, "approval")
    assert [t.user_kind for t in found.turns if t.thread_id == "agent-t1"] == [UserKind.TOOL]
    assert all(r.in_conversation for r in found.requests)


def test_a_response_on_two_lines_is_one_request() -> None:
    found = told(INIT + answer("m1", uuid="a") + answer("m1", uuid="b") + answer("m1", uuid="b") + RESULT)
    (request,) = found.requests
    assert (request.n_lines, request.tokens.cache_read) == (2, 900)
    assert "W_REPEATED_LINE" in found.codes


def test_a_result_alone_is_a_run_without_requests() -> None:
    found = told(RESULT)
    assert (found.requests, found.facts[0].cost_usd, found.issues) == ([], 1.0019, [])


def test_a_client_without_usage_by_model_gives_the_main_model_s() -> None:
    split = {"cache_creation": {"ephemeral_5m_input_tokens": 150, "ephemeral_1h_input_tokens": 0}}
    found = told(INIT + answer("m1") + line("result", subtype="error_max_turns", cost_usd=0.2, usage=USAGE | split))
    (facts,) = found.facts
    (used,) = facts.by_model
    assert (used.model, used.tokens.cache_write_5m, used.tokens.cache_write_other) == ("model-a", 150, 50)
    assert (facts.cost_usd, facts.outcome, facts.denied) == (0.2, "error_max_turns", None)


def test_results_of_several_inputs_are_one_account() -> None:
    second = RESULT.replace(b"1.0019", b"1.5").replace(b"4962", b"6000")
    found = told(INIT + answer("m1") + RESULT + answer("m2") + second)
    (facts,) = found.facts
    assert (facts.cost_usd, facts.turns, facts.duration_ms) == (1.5, 6, 122_000)
    assert facts.by_model[0].tokens.out_total == 6_000


@pytest.mark.parametrize("broken", [{"usage": 7}, {"modelUsage": [1]}, {"num_turns": -3}, {"permission_denials": "no"}])
def test_a_drifted_result_keeps_what_fits(broken: dict[str, Any]) -> None:
    drifted = json.loads(RESULT) | broken
    found = told(INIT + answer("m1") + json.dumps(drifted).encode() + b"\n")
    assert (found.facts[0].cost_usd, found.facts[0].duration_ms) == (1.0019, 61_000)


def test_lines_of_a_log_between_those_of_the_stream_are_reported() -> None:
    found = told(b"npm warn something\n" + INIT + answer("m1") + RESULT[:-30])
    assert (len(found.requests), found.recordings[0].bad_lines) == (1, 2)
    assert {"E_BAD_LINE", "E_TORN_LINE", "W_UNSETTLED"} <= found.codes


def test_a_recording_says_which_client_made_it() -> None:
    (recording,) = told(INIT + answer("m1") + RESULT).recordings
    assert (recording.source_format, recording.source_version, recording.session_id, recording.project) == (
        "claude-stream", "2.1.77", "s1", "/home/user/project",
    )  # fmt: skip


def test_a_stream_is_known_by_its_content() -> None:
    sniff, other = ClaudeStream().sniff, ClaudeCodeRun().sniff
    for data in (INIT + answer("m1") + RESULT, RESULT, b"warning\n" + INIT):
        assert sniff(data, "claude-code.txt") > 0.8 > other(data, "claude-code.txt")
    assert sniff(b'{"type":"user","sessionId":"s1","message":{"content":"x"}}\n', "x.jsonl") == 0
    assert sniff(b"", "") == 0
    assert ClaudeStream().origin(INIT, "a/claude-code.txt") == Origin("s1", None, None)
    assert ClaudeStream().origin(b"", "a/claude-code.txt").run == "claude-code.txt"


def test_a_repeated_stream_reports_once() -> None:
    whole = INIT + answer("m1") + RESULT
    for files in ({"one.txt": whole * 2}, {"one.txt": whole, "two.txt": whole}):
        found = told(files)
        assert [(f.cost_usd, f.turns) for f in found.facts] == [(1.0019, 3)]
        assert len(found.requests) == 1


def test_the_order_of_files_changes_nothing() -> None:
    files = {"one.txt": INIT + answer("m1") + RESULT, "two.txt": INIT + answer("m1") + answer("m2")}
    assert told(files).everything == told(dict(reversed(files.items()))).everything


@given(st.binary(max_size=300), st.integers(0, 300))
def test_arbitrary_bytes_never_break_it(data: bytes, at: int) -> None:
    whole = INIT + answer("m1") + RESULT
    for each in (data, whole[:at] + data + whole[at + len(data) :]):
        assert len(told(each).recordings) == 1
        assert 0 <= ClaudeStream().sniff(each, "x") <= 1
        assert ClaudeStream().origin(each, "x").run

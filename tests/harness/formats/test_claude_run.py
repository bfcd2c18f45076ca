"""The replay of Claude Code sessions against authored files, one for each way in which they are miscounted."""

from __future__ import annotations

import itertools
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.claude_run import ClaudeCodeRun
from harness.formats.limits import Limits
from harness.formats.run_format import Origin, Source
from kpis.terms.trace import (
    EventKind,
    Outcome,
    Provenance,
    RequestStatus,
    ThreadKind,
    TimeBasis,
    ToolOp,
    UserKind,
)

from .reading import CASES
from .runs import answer, call, line, ms, prompt, result, stamp, told

LONG = [{"type": "text", "text": "x" * 400}]


def test_the_recorded_session_has_the_totals_that_others_found(cases: Path) -> None:
    expected = json.loads((cases / "transcripts" / "expected.json").read_bytes())["claude-code/session.jsonl"]
    found = told((cases / "transcripts" / "claude-code" / "session.jsonl").read_bytes())
    assert found.totals == {
        "fresh_in": expected["fresh_in"],
        "cache_read": expected["cache_read"],
        "cache_write": expected["cache_write"],
        "out_total": expected["out"],
        "requests": expected["requests"],
        "calls": expected["tool_calls"],
    }
    (recording,) = found.recordings
    assert (recording.lines, recording.bad_lines, recording.unknown_kinds) == (expected["lines"], 0, {})
    assert all(call.outcome is Outcome.OK for call in found.calls.values())
    assert all(request.in_conversation for request in found.requests)


# One response on several lines


def test_a_response_on_three_lines_of_equal_usage_is_one_request() -> None:
    lines = [
        answer(f"a{n}", "u" if n == 0 else f"a{n - 1}", "m", n + 1, fresh=3, read=10, write=4, out=7) for n in range(3)
    ]
    found = told(prompt("u", None, 0) + b"".join(lines))
    assert found.totals == {
        "fresh_in": 3, "cache_read": 10, "cache_write": 4, "out_total": 7, "requests": 1, "calls": 0,
    }  # fmt: skip
    (request,) = found.requests
    assert (request.n_lines, request.t_first, request.t_last, request.line) == (3, ms(1), ms(3), 2)
    assert found.issues == []


def test_the_output_grows_over_the_lines_of_a_response() -> None:
    found = told(
        prompt("u", None)
        + answer("a", "u", "m", out=3, stop=None)
        + answer("b", "a", "m", out=35, stop=None)
        + answer("c", "b", "m", out=307, stop="tool_use")
    )
    (request,) = found.requests
    assert (request.tokens.out_total, request.stop_reason) == (307, "tool_use")


def test_the_largest_output_is_taken_where_the_file_is_out_of_order() -> None:
    found = told(prompt("u", None) + answer("a", "u", "m", out=90) + answer("b", "a", "m", out=4))
    assert found.requests[0].tokens.out_total == 90
    assert found.codes == {"W_REEMIT"}


def test_a_response_without_request_id_is_merged_by_message_id() -> None:
    found = told(
        prompt("u", None)
        + answer("a", "u", "msg_bdrk_1", request_id=None, write=15_178)
        + answer("b", "a", "msg_bdrk_1", request_id=None, write=15_178)
    )
    assert found.total("cache_write") == 15_178
    assert found.requests[0].provider == "bedrock"
    assert found.codes == {"W_NO_REQUEST_ID"}


def test_without_a_message_id_the_request_id_tells_responses_apart_and_then_the_line() -> None:
    found = told(
        prompt("u", None)
        + answer("a", "u", None, request_id="r1", out=5)
        + answer("b", "a", None, request_id="r1", out=6)
        + answer("c", "b", None, request_id=None, out=7)
        + answer(None, None, None, request_id=None, out=8)
        + answer(None, None, None, request_id=None, out=8)
    )
    assert [(r.request_id, r.tokens.out_total) for r in found.requests[:2]] == [("r1", 6), ("c", 7)]
    assert found.requests[2].request_id.startswith("line-")
    assert found.total("out_total") == 21  # the same line twice is one


def test_cache_writes_are_split_by_lifetime_where_the_file_splits_them() -> None:
    split = {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 60}
    usage = {"input_tokens": 3, "output_tokens": 9, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 100}
    found = told(
        prompt("u", None)
        + answer("a", "u", "m1", usage=usage)
        + answer("b", "a", "m1", usage=usage | {"cache_creation": split})
        + answer("c", "b", "m2", usage=usage)
        + answer("d", "c", "m3", usage=usage | {"cache_creation": split | {"ephemeral_1h_input_tokens": 61}})
    )
    first, second, third = (request.tokens for request in found.requests)
    assert (first.cache_write_5m, first.cache_write_1h, first.cache_write_other) == (40, 60, 0)
    assert first.prompt == 108
    assert (second.cache_write_5m, second.cache_write_1h, second.cache_write_other) == (None, None, 100)
    assert third.cache_write == 101
    assert first.provenance_of("cache_write_other") is Provenance.DERIVED
    assert first.provenance_of("out_total") is Provenance.OBSERVED
    assert found.codes == {"W_TOTAL_MISMATCH"}


def test_placeholder_output_is_kept_and_marked() -> None:
    lines = [answer(f"a{n}", f"a{n - 1}", f"m{n}", stop=None, out=1, content=LONG) for n in range(4)]
    found = told(prompt("a-1", None) + b"".join(lines))
    assert found.total("out_total") == 4
    assert {r.tokens.provenance_of("out_total") for r in found.requests} == {Provenance.PLACEHOLDER}
    assert found.codes == {"W_PLACEHOLDER_OUTPUT"}


@pytest.mark.parametrize("last", [None, -5, 1 << 60, "many"])
def test_a_draft_whose_last_line_says_no_output_is_a_lower_bound(last: object) -> None:
    counters = {"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    draft = prompt("u", None) + answer("a", "u", "m", usage={**counters, "output_tokens": 3})
    end = answer("b", "a", "m", usage={**counters, "output_tokens": last})
    (request,) = told(draft + end).requests
    assert (request.tokens.out_total, request.tokens.provenance_of("out_total")) == (3, Provenance.PLACEHOLDER)
    (request,) = told(draft + end + answer("c", "b", "m", usage={**counters, "output_tokens": 70})).requests
    assert (request.tokens.out_total, request.tokens.provenance_of("out_total")) == (70, Provenance.OBSERVED)


def test_healthy_output_of_one_file_does_not_hide_the_placeholders_of_another() -> None:
    healthy = prompt("u", None, 0) + answer("a", "u", "m1", 1, out=900, content=LONG)
    stubs = prompt("v", "a", 2) + answer("b", "v", "m2", 3, stop=None, out=1, content=LONG)
    found = told({"one.jsonl": healthy, "two.jsonl": stubs})
    marks = {r.request_id: r.tokens.provenance_of("out_total") for r in found.requests}
    assert marks == {"m1": Provenance.OBSERVED, "m2": Provenance.PLACEHOLDER}


def test_hidden_thinking_is_no_placeholder() -> None:
    thinking = [{"type": "thinking", "thinking": "", "signature": "x" * 900}]
    found = told(prompt("u", None) + answer("a", "u", "m", out=900, content=thinking, stop=None))
    assert found.requests[0].tokens.provenance_of("out_total") is Provenance.OBSERVED


def test_error_rows_of_the_client_are_events_and_no_requests() -> None:
    nothing = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    refused = [{"type": "text", "text": "API Error: 429 rate_limit_error"}]
    found = told(
        prompt("u", None, 0)
        + answer("a", "u", "e1", 1, model="<synthetic>", usage=nothing, isApiErrorMessage=True)
        + answer("b", "a", "e2", 2, model="<synthetic>", usage=nothing, isApiErrorMessage=True, content=refused)
        + answer("c", "b", "m", 3)
    )
    assert [r.request_id for r in found.requests] == ["m"]
    assert [(e.t, e.detail) for e in found.events(EventKind.ERROR)] == [(ms(1), "no_answer")]
    assert [e.t for e in found.events(EventKind.RATE_LIMIT)] == [ms(2)]
    assert found.requests[0].in_conversation


def test_attempts_of_the_client_are_events_and_counted_with_the_answer() -> None:
    failed = {"subtype": "api_error", "retryInMs": 612.4, "error": {"status": 529}}
    found = told(
        prompt("u", None, 0)
        + line("system", "r1", "u", 1, **failed)
        + line("system", "r2", "r1", 2, **failed | {"error": {"status": 429}})
        + answer("a", "r2", "m1", 3)
        + answer("b", "a", "m2", 4)
    )
    retries = found.events(EventKind.RETRY)
    assert [(e.detail, e.duration_ms) for e in retries] == [("overloaded", 612), ("rate_limit", 612)]
    assert [r.attempts for r in found.requests] == [3, None]


# Sub-agents


def _spawning() -> bytes:
    task = call("t1", "Task", subagent_type="explorer", prompt="look at it", description="look")
    return (
        prompt("u", None, 0)
        + answer("a", "u", "m1", 1, content=[task], stop="tool_use", out=10)
        + result("r", "a", "t1", "found", 9, toolUseResult={"agentId": "ab12", "totalDurationMs": 7_000})
        + answer("b", "r", "m2", 10, out=20)
    )


def _agent(**more: Any) -> bytes:
    side = {"isSidechain": True, **more}
    return prompt("s1", None, 2, "look at it", **side) + answer("s2", "s1", "m9", 3, out=40, **side)


@pytest.mark.parametrize(
    "name", ["agent-ab12.jsonl", "s1/subagents/agent-ab12.jsonl", "s1/workflows/wf_1/agent-ab12.jsonl"]
)
def test_a_sub_agent_in_a_file_of_its_own_is_a_thread_of_the_run(name: str) -> None:
    found = told({name: _agent(agentId="ab12"), "s1.jsonl": _spawning()})
    thread = found.threads["agent-ab12"]
    assert (thread.kind, thread.parent_thread_id, thread.spawned_by, thread.agent) == (
        ThreadKind.SUBAGENT, "main", "t1", "explorer",
    )  # fmt: skip
    assert found.total("out_total") == 70
    spawning = found.calls["t1"]
    assert (spawning.op, spawning.spawned_thread) == (ToolOp.SPAWN, "agent-ab12")
    assert (spawning.duration_ms, spawning.time_basis) == (7_000, TimeBasis.MEASURED)
    assert [t.user_kind for t in found.turns if t.thread_id == "agent-ab12"] == [UserKind.TOOL]
    assert {r.request_id: r.file for r in found.requests} == {"m1": "s1.jsonl", "m2": "s1.jsonl", "m9": name}
    assert found.issues == []


def test_a_sub_agent_whose_file_is_missing_is_no_thread() -> None:
    found = told(_spawning())
    assert list(found.threads) == ["main"]
    assert found.calls["t1"].spawned_thread == "agent-ab12"


def test_a_sidechain_inside_the_main_file_is_linked_by_its_prompt() -> None:
    task = call("t1", "Task", subagent_type="explorer", prompt="look at it")
    found = told(
        prompt("u", None, 0)
        + answer("a", "u", "m1", 1, content=[task], stop="tool_use")
        + _agent()
        + result("r", "a", "t1", "found", 9)
        + answer("b", "r", "m2", 10)
    )
    thread = found.threads["sidechain-1"]
    assert (thread.kind, thread.parent_thread_id, thread.spawned_by) == (ThreadKind.SUBAGENT, "main", "t1")
    assert [(r.request_id, r.thread_id) for r in found.requests] == [
        ("m1", "main"), ("m9", "sidechain-1"), ("m2", "main"),
    ]  # fmt: skip
    assert found.codes == set()


# Copies of history


def _history() -> list[bytes]:
    return [
        prompt("u1", None, 0),
        answer("a1", "u1", "m1", 1, content=[call("t1", "Read", file_path="/a.py")], stop="tool_use", out=5),
        result("r1", "a1", "t1", "text", 2),
        answer("a2", "r1", "m2", 3, out=6),
    ]


def test_a_resumed_copy_with_new_line_ids_is_counted_once_and_the_earliest_file_owns_it() -> None:
    first = b"".join(_history())
    renamed = (
        first.replace(b'"u1"', b'"x1"').replace(b'"a1"', b'"y1"').replace(b'"r1"', b'"z1"').replace(b'"a2"', b'"y2"')
    )
    more = prompt("u2", "y2", 50, "on") + answer("a3", "u2", "m3", 51, out=7)
    late = renamed.replace(stamp(0).encode(), stamp(0.5).encode()) + more
    found = told({"zz-first.jsonl": first, "aa-copy.jsonl": late})
    assert found.total("out_total") == 18
    assert {r.request_id: r.file for r in found.requests} == {
        "m1": "zz-first.jsonl", "m2": "zz-first.jsonl", "m3": "aa-copy.jsonl",
    }  # fmt: skip
    assert list(found.calls) == ["t1"]
    assert [r.index for r in found.requests] == [0, 1, 2]
    assert all(r.in_conversation for r in found.requests)
    copied = [issue for issue in found.issues if issue.code.value == "W_COPIED_HISTORY"]
    assert [(issue.file, "2" in issue.message) for issue in copied] == [("aa-copy.jsonl", True)]


def test_a_resumed_copy_with_the_same_line_ids_adds_only_what_is_new() -> None:
    first = b"".join(_history())
    more = prompt("u2", "a2", 50, "on") + answer("a3", "u2", "m3", 51, out=7)
    found = told({"one.jsonl": first, "two.jsonl": first + more})
    assert (found.total("out_total"), len(found.turns), len(found.calls)) == (18, 2, 1)
    assert "W_REPEATED_LINE" in found.codes


def test_two_session_ids_in_one_file_are_one_conversation() -> None:
    resumed = prompt("u2", None, 50, "on").replace(b'"sessionId":"s1"', b'"sessionId":"s2"')
    found = told(b"".join(_history()) + resumed + answer("a3", "u2", "m3", 51))
    assert [r.in_conversation for r in found.requests] == [True, True, True]
    assert [e.t for e in found.events(EventKind.RESUME)] == [ms(50)]
    assert found.events(EventKind.REWIND) == []


# Branches


def test_both_branches_of_a_rewind_are_billed_and_one_is_the_conversation() -> None:
    found = told(
        prompt("u1", None, 0)
        + answer("a1", "u1", "m1", 1, out=5)
        + prompt("u2", "a1", 2, "this way")
        + answer("a2", "u2", "m2", 3, out=6, content=[call("t", "Read", file_path="/a")])
        + result("r2", "a2", "t", "text", 4)
        + prompt("u3", "a1", 5, "no, that way")
        + answer("a3", "u3", "m3", 6, out=7)
    )
    assert found.total("out_total") == 18
    assert {r.request_id: r.in_conversation for r in found.requests} == {"m1": True, "m2": False, "m3": True}
    assert [t.in_conversation for t in found.turns] == [True, False, True]
    assert not found.calls["t"].in_conversation
    assert [(e.t, e.line) for e in found.events(EventKind.REWIND)] == [(ms(2), 3)]


def test_parallel_calls_are_no_rewind() -> None:
    found = told(
        prompt("u", None, 0)
        + answer("a1", "u", "m1", 1, content=[call("t1", "Read", file_path="/a")], stop=None)
        + answer("a2", "a1", "m1", 2, content=[call("t2", "Read", file_path="/b")], stop="tool_use")
        + result("r1", "a1", "t1", "one", 3)
        + result("r2", "a2", "t2", "two", 4)
        + answer("a3", "r2", "m2", 5)
    )
    assert all(r.in_conversation for r in found.requests)
    assert all(c.in_conversation and c.outcome is Outcome.OK for c in found.calls.values())
    assert found.events(EventKind.REWIND) == []


def test_progress_between_two_messages_breaks_no_chain() -> None:
    found = told(
        prompt("u1", None, 0)
        + answer("x1", "u1", "m0", 1)
        + prompt("u2", "u1", 2, "again")
        + line("progress", "p1", "u2", 3, data={"type": "hook_progress"})
        + line("attachment", "p2", "p1", 3, attachment={"type": "hook_success", "durationMs": 12.4})
        + answer("a1", "p2", "m1", 4)
    )
    assert {r.request_id: r.in_conversation for r in found.requests} == {"m0": False, "m1": True}
    assert [(e.duration_ms, e.detail) for e in found.events(EventKind.HOOK)] == [(12, "hook")]


def test_a_parent_in_no_file_is_passed_in_the_order_of_lines() -> None:
    found = told(prompt("u", None) + answer("a", "u", "m1") + answer("b", "gone", "m2"))
    assert all(r.in_conversation for r in found.requests)
    assert found.codes == {"W_PHANTOM_PARENT"}


def test_a_parent_that_stands_further_on_is_found() -> None:
    found = told(answer("a", "u", "m1") + prompt("u", None) + answer("b", "a", "m2"))
    assert all(r.in_conversation for r in found.requests)
    assert found.codes == set()


def test_usage_in_a_line_of_progress_counts_nothing() -> None:
    embedded = json.loads(answer("x", None, "m7", out=900))
    found = told(prompt("u", None) + line("progress", "p", "u", data={"type": "agent_progress", "message": embedded}))
    assert found.requests == []


# Compaction


def test_a_compaction_knows_the_prompts_around_it_and_its_summary() -> None:
    meta = {"trigger": "auto", "preTokens": 156_000}
    found = told(
        prompt("u1", None, 0)
        + answer("a1", "u1", "m1", 1, read=150_000)
        + line("system", "c", None, 2, subtype="compact_boundary", logicalParentUuid="a1", compactMetadata=meta)
        + prompt("s", "c", 3, "é" * 10, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        + answer("a2", "s", "m2", 4, read=16_545, write=20_000)
    )
    (event,) = found.events(EventKind.COMPACTION)
    assert (event.trigger, event.pre_tokens, event.post_tokens, event.summary_bytes) == ("auto", 156_000, 36_546, 20)
    assert (event.implicit, event.t, event.line) == (False, ms(2), 3)
    assert [t.user_kind for t in found.turns] == [UserKind.HUMAN, UserKind.COMPACT_SUMMARY]
    assert all(r.in_conversation for r in found.requests)


def test_the_prompt_after_a_compaction_is_its_own_thread_s() -> None:
    side = {"isSidechain": True, "agentId": "ab12"}
    found = told(
        prompt("u1", None, 0)
        + answer("a1", "u1", "m1", 1, read=150_000)
        + line("system", "c", "a1", 2, subtype="compact_boundary", compactMetadata={"trigger": "manual"})
        + prompt("s1", None, 3, **side)
        + answer("s2", "s1", "m9", 4, read=77, **side)
        + answer("a2", "c", "m2", 5, read=40_000)
    )
    (event,) = found.events(EventKind.COMPACTION)
    assert (event.pre_tokens, event.post_tokens) == (None, 40_001)


def test_a_compaction_that_no_line_tells_is_inferred_from_the_prompt() -> None:
    found = told(
        prompt("u", None, 0)
        + answer("a1", "u", "m1", 1, read=99_999)
        + answer("a2", "a1", "m2", 2, read=50_000)
        + answer("a3", "a2", "m3", 3, read=24_000)
    )
    (event,) = found.events(EventKind.COMPACTION)
    assert (event.implicit, event.pre_tokens, event.post_tokens, event.t) == (True, 50_001, 24_001, ms(3))


def test_going_back_to_a_short_prompt_is_no_compaction() -> None:
    found = told(
        prompt("u", None, 0)
        + answer("a1", "u", "m1", 1, read=10_000)
        + answer("a2", "a1", "m2", 2, read=99_999)
        + prompt("u2", "a1", 3)
        + answer("a3", "u2", "m3", 4, read=11_000)
    )
    assert found.events(EventKind.COMPACTION) == []


def test_a_summary_without_boundary_is_a_compaction() -> None:
    found = told(
        prompt("u", None, 0)
        + answer("a", "u", "m1", 1, read=150_000)
        + prompt("s", "a", 2, "x" * 30, isCompactSummary=True)
        + answer("b", "s", "m2", 3, read=30_000)
    )
    (event,) = found.events(EventKind.COMPACTION)
    assert (event.implicit, event.summary_bytes, event.post_tokens) == (False, 30, 30_001)


def test_a_summary_line_is_no_compaction() -> None:
    found = told(b'{"type":"summary","summary":"of another","leafUuid":"z"}\n' + prompt("u", None, 0))
    assert found.events(EventKind.COMPACTION) == []
    assert found.issues == []


# Calls and results


def test_orphans_and_unanswered_calls_are_neither_errors_nor_lost() -> None:
    found = told(
        prompt("u", None, 0)
        + answer("a", "u", "m", 1, content=[call("t1", "Bash", command="ls")])
        + result("r", "a", "gone", "abc", 2)
    )
    assert {c.call_id: c.outcome for c in found.calls.values()} == {"t1": Outcome.UNANSWERED, "gone": Outcome.ORPHAN}
    orphan = found.calls["gone"]
    assert (orphan.request_id, orphan.result_bytes, orphan.t_end) == (None, 3, ms(2))
    assert found.codes == {"W_ORPHAN_RESULT", "W_UNANSWERED_CALL"}


def test_a_result_ahead_of_its_call_is_paired() -> None:
    found = told(
        prompt("u", None, 0)
        + result("r", "u", "t1", "Exit code 2\nno", 1, error=True)
        + answer("a", "r", "m", 2, content=[call("t1", "Bash", command="make")])
    )
    paired = found.calls["t1"]
    assert (paired.request_id, paired.outcome, paired.exit_code) == ("m", Outcome.ERROR, 2)
    assert found.codes == set()


@pytest.mark.parametrize(
    ("body", "outcome", "error_class", "code"),
    [
        ("Exit code 127\ncommand not found", Outcome.ERROR, "OTHER_exit", 127),
        ("<tool_use_error>File does not exist.</tool_use_error>", Outcome.ERROR, "file_not_found", None),
        ("<tool_use_error>InputValidationError: Read failed</tool_use_error>", Outcome.ERROR, "parsing", None),
        ("EISDIR: illegal operation on a directory, read", Outcome.ERROR, "is_a_directory", None),
        ("Permission denied", Outcome.ERROR, "permission", None),
        ("File content (30000 tokens) exceeds maximum allowed tokens", Outcome.ERROR, "limit", None),
        ("<tool_use_error>String to replace not found in file.", Outcome.ERROR, "OTHER_edit", None),
        ("something else", Outcome.ERROR, "unknown", None),
        ("The user doesn't want to proceed with this tool use.", Outcome.DENIED, "approval", None),
        ("[Request interrupted by user for tool use]", Outcome.INTERRUPTED, "cancelled", None),
        ("Command timed out after 2m 0.0s", Outcome.TIMEOUT, "timeout", None),
    ],
)
def test_what_became_of_a_failed_call(body: str, outcome: Outcome, error_class: str, code: int | None) -> None:
    found = told(
        prompt("u", None)
        + answer("a", "u", "m", content=[call("t", "Bash", command="x")])
        + result("r", "a", "t", body, error=True, toolUseResult=f"Error: {body}")
    )
    failed = found.calls["t"]
    assert (failed.outcome, failed.error_class, failed.exit_code) == (outcome, error_class, code)
    assert found.codes == set()


def test_an_interrupted_command_and_an_interrupted_answer() -> None:
    found = told(
        prompt("u", None, 0)
        + answer("a", "u", "m", 1, content=[call("t", "Bash", command="x")], stop=None, out=9)
        + result("r", "a", "t", "half", 2, toolUseResult={"stdout": "half", "interrupted": True})
        + prompt("i", "r", 3, "[Request interrupted by user]")
    )
    assert found.calls["t"].outcome is Outcome.INTERRUPTED
    assert [e.t for e in found.events(EventKind.ABORT)] == [ms(3)]
    assert found.requests[0].status is RequestStatus.ABORTED
    assert len(found.turns) == 1


def test_a_call_says_what_it_is_about_and_equal_arguments_are_equal_in_any_order() -> None:
    found = told(
        prompt("u", None, 0)
        + answer("a", "u", "m1", 1, content=[call("t1", "Edit", file_path="/a.py", old_string="x", new_string="y")])
        + result("r1", "a", "t1", "ok", 2.5)
        + answer("b", "r1", "m2", 3, content=[call("t2", "Edit", new_string="y", old_string="x", file_path="/a.py")])
        + result("r2", "b", "t2", [{"type": "text", "text": "ok"}], 4)
        + answer("c", "r2", "m3", 5, content=[call("t3", "Bash", command="sleep 5 && cat log.txt")])
    )
    one, two, three = found.calls.values()
    assert (one.name, one.op, one.target, one.mutates, one.polling) == ("Edit", ToolOp.WRITE, "/a.py", True, False)
    assert one.arg_digest == two.arg_digest
    assert (one.result_bytes, one.result_digest) == (two.result_bytes, two.result_digest)
    assert (one.t_start, one.t_end, one.turn, one.index, two.index) == (ms(1), ms(2.5), 0, 0, 1)
    assert (three.op, three.target, three.mutates, three.polling) == (ToolOp.READ, "log.txt", False, True)


def test_a_size_is_that_of_the_text_without_escapes() -> None:
    body = 'a\n"b"\té\\'
    found = told(
        prompt("u", None)
        + answer("a", "u", "m", content=[call("t", "Read", file_path="/a")])
        + result("r", "a", "t", body)
    )
    assert found.calls["t"].result_bytes == len(body.encode())


def test_the_client_s_clocks_are_events() -> None:
    hooks = {"hookCount": 2, "hookInfos": [{"command": "x", "durationMs": 30}, {"command": "y", "durationMs": 12.4}]}
    found = told(
        prompt("u", None, 0)
        + answer("a", "u", "m", 1)
        + line("system", "h", "a", 2, subtype="stop_hook_summary", **hooks)
        + line("system", "h2", "h", 3, subtype="stop_hook_summary", hookCount=1, hookInfos=[{"command": "x"}])
        + line("system", "d", "h2", 4, subtype="turn_duration", durationMs=43_299)
        + line("queue-operation", None, None, 5, operation="enqueue")
    )
    assert [(e.detail, e.duration_ms) for e in found.events(EventKind.HOOK)] == [
        ("stop_hook_summary", 42), ("stop_hook_summary", None), ("turn_duration", 43_299),
    ]  # fmt: skip
    assert [(e.detail, e.t) for e in found.events(EventKind.QUEUE)] == [("enqueue", ms(5))]


def test_who_opens_a_turn() -> None:
    found = told(
        prompt("u1", None, 0)
        + answer("a", "u1", "m", 1)
        + prompt("u2", "a", 2, "Stop hook feedback: run the tests")
        + prompt("u3", "u2", 3, "<task-notification>done</task-notification>")
        + prompt("u4", "u3", 4, "caveat", isMeta=True)
        + prompt("u5", "u4", 5, "<local-command-stdout>x</local-command-stdout>")
    )
    assert [t.user_kind for t in found.turns] == [UserKind.HUMAN, UserKind.HOOK, UserKind.SYSTEM]
    assert [(t.t_start, t.t_end) for t in found.turns][::2] == [(ms(0), ms(1)), (ms(3), ms(5))]


def test_unknown_kinds_are_counted_and_left_out() -> None:
    invented = b"".join(line(f"kind-{n}", f"k{n}", None) for n in range(40))
    found = told(prompt("u", None) + line("system", "x", "u", subtype="new") + invented)
    kinds = found.recordings[0].unknown_kinds
    assert (kinds["system/new"], kinds["kind-0"], kinds["(others)"]) == (1, 1, 9)
    assert found.codes == {"W_UNKNOWN_KIND"}


@pytest.mark.parametrize("kind", ["the password is hunter2", "x" * 41, "caf\u00e9", "a\x1b[31mb"])
def test_a_kind_that_is_no_word_is_not_told(kind: str) -> None:
    found = told(prompt("u", None) + line(kind, "k", "u") + line("system", "x", "k", subtype=kind))
    assert found.recordings[0].unknown_kinds == {"(others)": 2}
    assert not any(kind[:8] in issue.message for issue in found.issues)


# Damaged files

WHOLE = prompt("u", None, 0) + answer("a", "u", "m", 1, fresh=3, read=10, write=4, out=7)


@pytest.mark.parametrize(
    ("data", "codes", "bad"),
    [
        (b"\xef\xbb\xbf" + WHOLE, set(), 0),
        (WHOLE.replace(b"\n", b"\r\n"), set(), 0),
        (b"\n\n" + WHOLE.replace(b"\n", b"\n\n \n"), set(), 0),
        (WHOLE + WHOLE[:-40].rpartition(b"\n")[2], {"E_TORN_LINE"}, 1),
        (WHOLE + b"\0" * 4_096, {"E_TORN_LINE"}, 0),
        (b"\0" * 100 + WHOLE, set(), 0),
        (WHOLE + b"not json\n[1]\n7\n", {"E_BAD_LINE"}, 3),
        (WHOLE + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"\n", {"E_BAD_LINE"}, 1),
        (WHOLE + b'{"type":"file-history-snapshot","x":1\n', {"E_BAD_LINE"}, 1),
        (WHOLE + b'{"type":"file-history-snapshot","x":{"y":1}}\n', set(), 0),
        (WHOLE + b"\xff\xfe{}\n", {"E_BAD_LINE"}, 1),
    ],
)
def test_a_damaged_file_keeps_its_totals(data: bytes, codes: set[str], bad: int) -> None:
    found = told(data)
    assert found.totals == told(WHOLE).totals
    assert (found.codes, found.recordings[0].bad_lines) == (codes, bad)
    assert all(issue.file == "s1.jsonl" for issue in found.issues)


def test_a_file_of_one_line_feed_holds_nothing() -> None:
    found = told(b"\n")
    assert (found.recordings[0].lines, found.requests, found.issues) == (1, [], [])
    assert told(b"").recordings[0].lines == 0


def test_a_line_over_the_limit_is_left_out_and_the_next_one_read() -> None:
    huge = prompt("h", None, 5, "x" * 50_000)
    found = told(huge + WHOLE, limits=Limits(max_line=10_000))
    assert found.totals == told(WHOLE).totals
    assert (found.codes, found.recordings[0].bad_lines, found.recordings[0].lines) == ({"E_LONG_LINE"}, 1, 3)
    many = told((WHOLE + huge) * 60 + huge[:20_000], limits=Limits(max_line=10_000))
    assert (many.codes, many.recordings[0].bad_lines) == ({"E_LONG_LINE", "W_REPEATED_LINE"}, 61)
    exactly = b"x" * 10_000 + b"\n"  # with its line feed it is over the limit, and nothing is left of it to skip
    assert told(exactly + WHOLE, limits=Limits(max_line=10_000)).totals == told(WHOLE).totals


def test_an_image_of_20_mb_on_one_line_is_read() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 20_000_000}}
    picture = line("user", "p", "a", 2, message={"role": "user", "content": [image, {"type": "text", "text": "see"}]})
    found = told(WHOLE + picture)
    assert (len(found.turns), found.issues) == (2, [])


@pytest.mark.parametrize("count", [None, -1, 1 << 60, 10**30, 3.5, "7", [1]])
def test_a_counter_that_is_no_count_is_unknown_and_reported(count: object) -> None:
    usage = {"input_tokens": count, "output_tokens": 7, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 4}
    found = told(prompt("u", None) + answer("a", "u", "m", usage=usage))
    tokens = found.requests[0].tokens
    assert (tokens.fresh_in, tokens.prompt, tokens.out_total, tokens.cache_read) == (None, None, 7, 10)
    expected = "E_BAD_NUMBER" if isinstance(count, int) else "W_SCHEMA_DRIFT"
    assert found.codes == (set() if count is None else {expected})


def test_a_request_without_usage_has_unknown_tokens() -> None:
    found = told(prompt("u", None) + line("assistant", "a", "u", message={"id": "m", "content": "so", "usage": None}))
    (request,) = found.requests
    assert (request.tokens.fresh_in, request.tokens.out_total, request.visible_chars) == (None, None, 2)
    assert found.codes == {"W_NO_USAGE"}


def test_drifted_shapes_keep_what_fits() -> None:
    found = told(
        line("user", "u", None, message="go")
        + line("user", "v", "u", message={"content": ["text", 7, {"type": "text", "text": 7}]}, isMeta="yes")
        + answer("a", "v", "m", out=7, agentId=12)
        + result("r", "a", "t", {"odd": True}, toolUseResult={"agentId": 5})
        + line("assistant", "b", "r", message=[1])
    )
    assert found.total("out_total") == 7
    assert len(found.requests) == 1
    assert "W_SCHEMA_DRIFT" in found.codes
    assert found.recordings[0].bad_lines == 0


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-01-01T00:00:05.250Z", ms(5.25)),
        ("2026-01-01T02:00:05.250+02:00", ms(5.25)),
        ("2026-01-01T00:00:05", ms(5)),
        ("2026-01-01T00:00:05.250999Z", ms(5.251)),
        (ms(5.25), ms(5.25)),
        (ms(5.25) / 1_000, ms(5.25)),
        ("yesterday, at five past twelve", None),
        ("2026-01-01T00:00:xx.250Z", None),
        ("0001-01-01T00:00:00.000Z", None),
        (True, None),
        ([], None),
    ],
)
def test_times_in_every_notation(written: object, read: int | None) -> None:
    found = told(
        prompt("u", None, 5)
        + answer("a", "u", "m").replace(b'"uuid"', b'"timestamp":' + json.dumps(written).encode() + b',"uuid"')
    )
    assert found.requests[0].t_first == read


def test_a_recording_says_where_and_when_it_was_made() -> None:
    more = {"cwd": "/home/user/project", "gitBranch": "main"}
    later = answer("b", "a", "m2", 9).replace(b"2.1.77", b"2.1.80")
    found = told(prompt("u", None, 1, **more) + answer("a", "u", "m", 2) + later)
    (recording,) = found.recordings
    assert (recording.session_id, recording.project, recording.branch) == ("s1", "/home/user/project", "main")
    assert (recording.source_format, recording.source_version) == ("claude-code", "2.1.80")
    assert (recording.t_start, recording.t_end) == (ms(1), ms(9))


# Detection


def test_where_a_file_belongs() -> None:
    origin = ClaudeCodeRun().origin
    snapshot = b'{"type":"file-history-snapshot","messageId":"x"}\n'
    assert origin(snapshot + WHOLE, "copy.jsonl") == Origin("s1", None, ms(0))
    assert origin(_agent(agentId="ab12"), "s1/subagents/agent-ab12.jsonl") == Origin("s1", None, ms(2))
    assert origin(snapshot, "p/abc/subagents/agent-1.jsonl").run == "abc"
    assert origin(snapshot, "p/abc.jsonl").run == "abc"
    assert origin(WHOLE[:60], "p/abc.jsonl").run == "s1"  # the first line is longer than the head
    assert origin(b"", "").run


def test_a_session_is_known_by_its_content() -> None:
    sniff = ClaudeCodeRun().sniff
    assert sniff(WHOLE, "renamed.txt") > 0.85
    assert sniff(b'{"type":"summary","summary":"x","leafUuid":"y"}\n', "x.jsonl") > 0.85
    assert sniff(WHOLE[:100], "x.jsonl") > 0.3
    stream = (
        b'{"type":"system","subtype":"init","session_id":"x"}\n{"type":"assistant","message":{},"session_id":"x"}\n'
    )
    assert sniff(stream, "x.jsonl") == 0
    assert sniff(b'{"type":"response_item","payload":{}}\n', "x.jsonl") == 0
    assert sniff(b"", "x.jsonl") == 0


# Properties

FILES = {
    "main.jsonl": b"".join(_history()) + prompt("u2", "a2", 20, "on") + answer("a3", "u2", "m3", 21, read=400, out=9),
    "agent-1.jsonl": _agent(agentId="one"),
    "agent-2.jsonl": _agent(agentId="two").replace(b'"m9"', b'"m8"').replace(b'"s', b'"q'),
}


def _facts(files: dict[str, bytes]) -> object:
    """All that must not depend on how lines are spread over files, and in which order these come."""
    found = told(files)
    return found.totals, sorted((r.request_id, r.thread_id, r.index, repr(r.tokens)) for r in found.requests)


@pytest.mark.parametrize("order", list(itertools.permutations(FILES)))
def test_the_order_of_files_changes_nothing(order: tuple[str, ...]) -> None:
    assert told({name: FILES[name] for name in order}).everything == told(FILES).everything


@given(st.sampled_from(sorted(FILES)), st.integers(0, 10))
@settings(max_examples=60)
def test_a_file_in_two_pieces_counts_like_the_whole(name: str, at: int) -> None:
    lines = FILES[name].splitlines(keepends=True)
    pieces = {"a-" + name: b"".join(lines[at:]), "b-" + name: b"".join(lines[:at])}
    assert _facts({**{n: d for n, d in FILES.items() if n != name}, **pieces}) == _facts(FILES)


def test_all_files_in_one_count_like_the_files() -> None:
    assert _facts({"all.jsonl": b"".join(FILES.values())}) == _facts(FILES)


@given(st.sampled_from(sorted(FILES)), st.booleans())
def test_a_repeated_file_counts_once(name: str, within: bool) -> None:
    repeated = {**FILES, name: FILES[name] * 2} if within else {**FILES, "again.jsonl": FILES[name]}
    assert _facts(repeated) == _facts(FILES)


@given(st.sampled_from(sorted(FILES)), st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=4))
def test_garbage_lines_change_no_total_and_are_reported(name: str, garbage: list[bytes]) -> None:
    lines = [g.replace(b"{", b"x").replace(b"\n", b" ") for g in garbage]
    found = told({**FILES, name: FILES[name] + b"".join(each + b"\n" for each in lines)})
    assert found.totals == told(FILES).totals
    # A byte order mark alone is an empty line, as joined files have it.
    written = sum(bool(each.removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r\n")) for each in lines)
    assert sum(r.bad_lines for r in found.recordings) == written
    if written:
        assert "E_BAD_LINE" in found.codes


class _Unseekable(BytesIO):
    """A member of an archive: it cannot be gone back in."""

    def seek(self, *_: Any) -> int:
        raise OSError("not seekable")

    def seekable(self) -> bool:
        return False


def test_a_source_is_read_once_from_where_it_stands() -> None:
    sources = [Source(name, _Unseekable(data), len(data)) for name, data in FILES.items()]
    assert list(ClaudeCodeRun().read(sources, Limits())) == told(FILES).everything


_KEYS = [
    "type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "agentId", "requestId", "version", "timestamp",
    "isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "subtype", "compactMetadata", "toolUseResult",
    "message", "id", "model", "content", "stop_reason", "usage", "input_tokens", "output_tokens", "cache_creation",
    "name", "text", "input", "tool_use_id", "is_error", "durationMs", "hookInfos", "attachment", "operation", "error",
    "costUSD", "command", "parent_tool_use_id", "session_id", "modelUsage", "permission_denials", "event", "cwd",
]  # fmt: skip
_words = st.sampled_from(
    ["user", "assistant", "system", "progress", "attachment", "queue-operation", "result", "stream_event", "tool_use",
     "tool_result", "text", "compact_boundary", "api_error", "turn_duration", "u1", "u2", "Bash", "Task", "<synthetic>"]
)  # fmt: skip
_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | _words
_shaped = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=6),
    max_leaves=20,
)


@given(st.lists(st.dictionaries(st.sampled_from(_KEYS), _shaped, max_size=12), max_size=6))
@settings(max_examples=400)
def test_lines_that_almost_fit_never_break_it(objects: list[Any]) -> None:
    data = b"".join(json.dumps(each).encode() + b"\n" for each in objects)
    found = told({"one.jsonl": data, "two.jsonl": data})
    assert len(found.recordings) == 2
    assert 0 <= ClaudeCodeRun().sniff(data, "x") <= 1
    assert ClaudeCodeRun().origin(data, "x").run


@given(st.binary(max_size=400))
def test_arbitrary_bytes_never_break_it(data: bytes) -> None:
    assert len(told(data).recordings) == 1
    assert 0 <= ClaudeCodeRun().sniff(data, "x.jsonl") <= 1
    assert ClaudeCodeRun().origin(data, "x.jsonl").run


@given(st.sampled_from([*sorted(CASES.glob("*.jsonl")), *FILES]), st.data())
@settings(max_examples=150)
def test_a_flipped_byte_never_breaks_it(source: Path | str, data: st.DataObject) -> None:
    body = bytearray(FILES[source] if isinstance(source, str) else source.read_bytes())
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert len(told(bytes(body)).recordings) == 1


def test_a_second_reader_counts_the_authored_cases_alike() -> None:
    """The reader of workloads decodes everything; both must find the same requests and calls."""
    from .reading import case

    for path in sorted(CASES.glob("*.jsonl")):
        full, fast = case(path.stem), told(path.read_bytes())
        assert [(r.request_id, r.tokens, r.in_conversation, r.n_lines) for r in full.requests] == [
            (r.request_id, r.tokens, r.in_conversation, r.n_lines)
            for r in sorted(fast.requests, key=lambda r: _place(full, r))
        ], path.stem
        assert {(c.call_id, c.outcome, c.in_conversation, c.result_bytes) for c in full.calls} == {
            (c.call_id, c.outcome, c.in_conversation, c.result_bytes) for c in fast.calls.values()
        }, path.stem


def _place(full: Any, request: Any) -> int:
    return [each.request_id for each in full.requests].index(request.request_id)


def test_a_line_of_an_unknown_kind_that_holds_usage_is_a_fault() -> None:
    whole = prompt("u1", None, 0) + answer("a1", "u1", "m1", 1)
    strange = answer("a2", "a1", "m2", 2).replace(b'"type":"assistant"', b'"type":"assistant2"', 1)
    assert told(whole + line("dream", "d1", "a1", 2)).codes == {"W_UNKNOWN_KIND"}
    found = told(whole + strange)
    assert found.codes == {"W_UNKNOWN_KIND", "E_BAD_LINE"}
    assert "Pieces of unknown kinds that hold counts of tokens: 1." in " ".join(each.message for each in found.issues)


def test_nul_bytes_in_the_middle_of_a_session_are_no_end_of_it() -> None:
    (issue,) = told(prompt("u1", None, 0) + b"\0" * 9 + b"\n" + answer("a1", "u1", "m1", 1)).issues
    assert issue.message == "Line 2 is nothing but NUL bytes, as after a crash, and was left out."

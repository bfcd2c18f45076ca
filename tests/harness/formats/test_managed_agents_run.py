"""Sessions of managed agents: pairs of events, verdicts, and what is still open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.managed_agents_run import ManagedAgentsRun
from kpis.terms.trace import EventKind, Outcome, RequestStatus, ThreadKind, ToolOp
from tests.harness.formats.span_runs import codes, facts, issue, only, read, sums, survives

AGENTS = ManagedAgentsRun()


def event(own: str, kind: str, second: float = 0, **more: Any) -> dict[str, Any]:
    return {"id": own, "type": kind, "processed_at": f"2026-05-01T10:00:{second:09.6f}Z", **more}


def request(
    own: str, second: float, lasts: float = 1, fresh: int = 2, out: int = 5, **more: Any
) -> list[dict[str, Any]]:
    usage = {
        "input_tokens": fresh, "output_tokens": out, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 30,
    }  # fmt: skip
    end = {"model_request_start_id": own, "is_error": False, "model_usage": usage, **more}
    return [
        event(own, "span.model_request_start", second),
        event(f"{own}-end", "span.model_request_end", second + lasts, **end),
    ]


def lines(*events: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in events)


STORY = (
    event("m1", "user.message", 0, content=[{"type": "text", "text": "go"}]),
    request("r1", 1)[0],
    event("u1", "agent.tool_use", 1.5, name="bash", input={"command": "cat a.py"}),
    event("u2", "agent.mcp_tool_use", 1.6, name="search", mcp_server_name="docs", input={"query": "x"}),
    request("r1", 1)[1],
    event("i1", "session.status_idle", 2.1, stop_reason={"type": "requires_action", "event_ids": ["u1"]}),
    event("c1", "user.tool_confirmation", 5.5, tool_use_id="u1", result="allow"),
    event("x1", "agent.tool_result", 6, tool_use_id="u1", content=[{"type": "text", "text": "ok"}], is_error=False),
    event("c2", "user.tool_confirmation", 7.6, tool_use_id="u2", result="deny", deny_message="no"),
    event("x2", "agent.mcp_tool_result", 7.7, mcp_tool_use_id="u2", content=[], is_error=True),
    *request("r2", 8),
    event("a1", "agent.message", 8.5, content=[{"type": "text", "text": "done"}]),
    event("i2", "session.status_idle", 9.2, stop_reason={"type": "end_turn"}),
)


def test_counters_are_disjoint_and_time_is_measured() -> None:
    run = read(AGENTS, lines(*STORY))
    assert sums(run) == {
        "fresh_in": 4, "cache_read": 1_400, "cache_write": 60,
        "out_total": 10, "out_reasoning": None, "unattributed": None,
    }  # fmt: skip
    first, second = run.requests
    assert (first.request_id, first.duration_ms, first.status, second.visible_chars) == (
        "r1",
        1_000,
        RequestStatus.OK,
        4,
    )
    assert (run.facts[0].outcome, run.facts[0].denied) == ("end_turn", 1)
    assert codes(run) == []


def test_a_refusal_is_a_verdict_and_not_an_error() -> None:
    run = read(AGENTS, lines(*STORY))
    allowed, denied = run.calls
    assert (allowed.outcome, allowed.op, allowed.target, allowed.request_id) == (Outcome.OK, ToolOp.READ, "a.py", "r1")
    assert (denied.outcome, denied.name, denied.request_id) == (Outcome.DENIED, "mcp__docs__search", "r1")
    assert [(each.kind, each.detail, each.trigger, each.duration_ms) for each in run.events] == [
        (EventKind.PERMISSION, "allowed", "manual", 4_000),
        (EventKind.PERMISSION, "denied", "manual", 6_000),
    ]
    assert allowed.t_start is not None
    assert allowed.t_end - allowed.t_start == 500


def test_a_policy_refuses_too() -> None:
    use = event("u", "agent.tool_use", 2, name="bash", input={}, evaluated_permission="deny")
    run = read(AGENTS, lines(*request("r", 1, 3), use))
    assert (run.calls[0].outcome, run.events[0].trigger, run.events[0].duration_ms) == (Outcome.DENIED, "auto", None)


def test_lifetimes_of_cache_writes() -> None:
    usage = {
        "input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 9,
        "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5},
    }  # fmt: skip
    tokens = only(read(AGENTS, lines(*request("r", 1, model_usage=usage))))
    assert (tokens.cache_write_5m, tokens.cache_write_1h, tokens.cache_write_other, tokens.prompt) == (4, 5, None, 10)


def test_a_request_without_an_end_is_unsettled() -> None:
    run = read(AGENTS, lines(request("r", 1)[0]))
    assert (run.requests[0].status, only(run).fresh_in) == (RequestStatus.ABORTED, None)
    assert issue(run, "W_UNSETTLED").line == 1


def test_a_failed_request_may_count_or_not() -> None:
    run = read(AGENTS, lines(*request("r", 1, is_error=True, model_usage=None), *request("s", 5, is_error=True)))
    assert [each.status for each in run.requests] == [RequestStatus.ERROR, RequestStatus.ERROR]
    assert sums(run)["fresh_in"] == 2
    assert "W_NO_USAGE" in codes(run)


def test_an_end_without_its_start() -> None:
    run = read(AGENTS, lines(request("r", 1)[1]))
    assert (run.requests[0].request_id, run.requests[0].duration_ms, only(run).fresh_in) == ("r-end", None, 2)


def test_calls_without_results_and_results_without_calls() -> None:
    use = event("u", "agent.custom_tool_use", 2, name="ask", input={})
    late = event("v", "agent.custom_tool_use", 4, name="ask", input={})
    orphan = event("x", "user.custom_tool_result", 5, custom_tool_use_id="gone", content="?")
    stop = event("i", "user.interrupt", 3)
    run = read(AGENTS, lines(use, stop, late, orphan))
    assert [call.outcome for call in run.calls] == [Outcome.INTERRUPTED, Outcome.UNANSWERED, Outcome.ORPHAN]
    assert run.events[0].kind is EventKind.ABORT
    assert codes(run) == ["W_ORPHAN_RESULT", "W_UNANSWERED_CALL"]


def test_what_happens_to_a_session() -> None:
    run = read(AGENTS, lines(
        event("a", "session.error", 1, error={"type": "model_rate_limited_error", "message": "secret"}),
        event("b", "session.error", 2, error={"type": "a text of their own"}),
        event("c", "session.status_rescheduled", 3),
        event("d", "agent.thread_context_compacted", 4),
        event("e", "session.status_terminated", 5),
        event("f", "agent.from_the_future", 6),
    ))  # fmt: skip
    assert [(each.kind, each.detail) for each in run.events] == [
        (EventKind.RATE_LIMIT, "model_rate_limited_error"),
        (EventKind.ERROR, None),
        (EventKind.RETRY, None),
        (EventKind.COMPACTION, None),
    ]
    assert run.facts[0].outcome == "terminated"
    assert run.recordings[0].unknown_kinds == {"agent.from_the_future": 1}


def test_threads_that_the_session_announces() -> None:
    spawned = event("t", "session.thread_created", 2, session_thread_id="sthr_2", agent_name="scout")
    below = [{**each, "session_thread_id": "sthr_2"} for each in request("r2", 3)]
    unknown = [{**each, "session_thread_id": "sthr_1"} for each in request("r3", 5)]
    run = read(AGENTS, lines(*request("r1", 0), spawned, *below, *unknown))
    assert [each.thread_id for each in run.requests] == ["main", "main", "sthr_2"]
    assert (run.threads[1].kind, run.threads[1].agent, run.threads[1].parent_thread_id) == (
        ThreadKind.SUBAGENT, "scout", "main",
    )  # fmt: skip


def test_each_user_message_opens_a_turn() -> None:
    said = [event(f"m{at}", "user.message", at * 10) for at in range(2)]
    run = read(AGENTS, lines(said[0], *request("r1", 1), said[1], *request("r2", 11)))
    assert [each.turn for each in run.requests] == [0, 1]
    assert [each.index for each in run.turns] == [0, 1]


def test_the_graders_tokens_are_a_side_models() -> None:
    usage = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    graded = event("g", "span.outcome_evaluation_end", 5, result="satisfied", usage=usage)
    run = read(AGENTS, lines(*request("r1", 1), graded))
    assert run.facts[0].success is True
    assert (sums(run)["fresh_in"], run.threads[1].kind) == (11, ThreadKind.SIDE_MODEL)


def session(**more: Any) -> dict[str, Any]:
    agent = {"name": "Coder", "model": {"id": "claude-x", "speed": "standard"}}
    return {"type": "session", "id": "sesn_0123456789", "agent": agent, "created_at": "2026-05-01T09:00:00Z", **more}


def test_what_the_server_says_of_the_session() -> None:
    zeros = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation": None}
    begun = session(usage=zeros, stats={"duration_seconds": 0})
    after = session(
        usage={**zeros, "input_tokens": 4}, stats={"duration_seconds": 9.2}, updated_at="2026-05-01T11:00:00Z"
    )
    first = read(AGENTS, lines(begun, *STORY))
    assert (first.facts[0].by_model, first.facts[0].duration_ms) == ((), None)
    assert (first.threads[0].thread_id, first.threads[0].agent, first.requests[0].model) == (
        "sesn_0123456789", "Coder", "claude-x",
    )  # fmt: skip
    both = read(AGENTS, lines(after, begun, *STORY))
    assert both.facts[0].by_model[0].tokens.fresh_in == 4
    assert both.facts[0].duration_ms == 9_200


def test_a_log_of_calls_and_pages_say_the_same() -> None:
    sent = ["client.beta.sessions.events.send", ["sesn_x", {"events": [{"type": "user.message", "content": []}]}]]
    called = [["client.beta.sessions.events.stream", each] for each in STORY]
    plain = read(AGENTS, lines(*STORY))
    for body in (lines(sent, *called), {"data": list(STORY), "next_page": None}, list(STORY), lines(*STORY, *STORY)):
        assert facts(read(AGENTS, body)) == facts(plain)


def test_an_event_that_waits_comes_again_with_a_time() -> None:
    waits = {**event("m", "user.message", 0), "processed_at": None}
    run = read(AGENTS, lines(waits, *request("r1", 1), event("m", "user.message", 20), *request("r2", 21)))
    assert [each.turn for each in run.requests] == [0, 1]
    assert "W_REPEATED_LINE" in codes(run)


PARTS = (lines(*STORY[:5]), lines(*STORY[4:9]), lines(*STORY[9:]))


@given(st.permutations(range(3)), st.lists(st.sampled_from([0, 1, 2]), max_size=3))
@settings(max_examples=30)
def test_order_and_repetition_of_files_change_nothing(order: list[int], again: list[int]) -> None:
    assert facts(read(AGENTS, *(PARTS[at] for at in (*order, *again)))) == facts(read(AGENTS, lines(*STORY)))


def test_garbage_after_the_events_changes_no_total() -> None:
    run = read(AGENTS, lines(*STORY) + b"garbage\n\n{]\n")
    assert facts(run) == facts(read(AGENTS, lines(*STORY)))
    assert run.recordings[0].bad_lines == 2


@given(st.integers(0, 10**9))
@settings(max_examples=200)
def test_only_a_format_error_leaves(seed: int) -> None:
    survives(AGENTS, lines(session(), *STORY), seed)


def test_recognised_by_content() -> None:
    assert AGENTS.sniff(lines(*STORY), "x") > 0.95
    assert AGENTS.sniff(b'{"type": "user", "message": {"role": "user"}}', "x") == 0
    assert AGENTS.origin(lines(session(), *STORY), "x").run == "sesn_0123456789"


def test_the_recorded_file(cases: Path) -> None:
    body = (cases / "transcripts" / "claude-managed-agents" / "a.jsonl").read_bytes()
    assert AGENTS.sniff(body, "a.jsonl") > 0.95
    run = read(AGENTS, body)
    assert (sums(run)["fresh_in"], sums(run)["cache_read"], sums(run)["cache_write"], sums(run)["out_total"]) == (
        4, 14_472, 0, 80,
    )  # fmt: skip
    assert [each.duration_ms for each in run.requests] == [6_024, 1_702]
    assert [(call.name, call.outcome, call.request_id) for call in run.calls] == [
        ("get_weather", Outcome.OK, run.requests[0].request_id)
    ]
    assert (len(run.turns), run.facts[0].outcome, run.issues) == (1, "end_turn", ())

"""Results of tau-bench and tau2: one test a trap."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.tau_run import SOLVED, TauRun
from kpis.terms.trace import Outcome, ThreadKind

from .run_reading import almost, check_reader, codes, damaged, lines, read_bytes, read_json, sums

TAU = TauRun()


def called(name: str, arguments: dict[str, Any], identifier: str = "call_1") -> dict[str, Any]:
    """An assistant's message of the old form."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": identifier, "function": function}]}


def simulation(*messages: dict[str, Any], task: int = 3, trial: int = 0, reward: float = 1.0) -> dict[str, Any]:
    opening = [{"role": "system", "content": "# Policy"}, {"role": "user", "content": "Where is my parcel?"}]
    info = {"task": {"user_id": "u"}, "source": "user", "user_cost": 0.01, "reward_info": {"reward": reward}}
    traj = [*opening, *messages, {"role": "user", "content": "###STOP###"}]
    return {"task_id": task, "reward": reward, "info": info, "traj": traj, "trial": trial}


OLD = [
    simulation(
        called("find_order", {"id": "W1"}),
        {"role": "tool", "name": "find_order", "content": "{}"},
        {"role": "assistant", "content": "On its way."},
    ),
    simulation(called("find_order", {"id": "W1"}), trial=1, reward=0.0),
]


def test_old_results_have_a_thread_and_facts_a_simulation() -> None:
    run = read_json(TAU, OLD)
    assert [each.thread_id for each in run.threads] == ["task-3.0", "task-3.1"]
    assert [(each.case_id, each.replicate, each.score, each.success) for each in run.facts] == [
        ("3", 0, 1.0, True),
        ("3", 1, 0.0, False),
    ]
    assert {each.cost_usd for each in run.facts} == {None}  # the agent's cost is not recorded, so no total is


def test_old_results_have_no_usage_and_no_ids_of_results() -> None:
    run = read_json(TAU, OLD)
    assert (len(run.requests), {each.tokens.out_total for each in run.requests}) == (3, {None})
    answered, waiting = run.calls
    assert (answered.outcome, answered.result_bytes, waiting.outcome) == (Outcome.OK, 2, Outcome.UNANSWERED)
    assert answered.arg_digest == waiting.arg_digest
    assert len({each.call_id for each in run.calls}) == 2
    assert codes(run) == ["W_NO_USAGE", "W_UNANSWERED_CALL"]


def test_results_without_ids_go_to_the_oldest_waiting_call_of_their_tool() -> None:
    two = called("a", {"n": 1}, "c1")
    two["tool_calls"] += called("b", {"n": 2}, "c2")["tool_calls"] + called("a", {"n": 3}, "c3")["tool_calls"]
    results = [
        {"role": "tool", "name": name, "content": text} for name, text in (("b", "xx"), ("a", "x"), ("a", "xxx"))
    ]
    run = read_json(TAU, [simulation(two, *results)])
    assert [each.result_bytes for each in run.calls] == [1, 2, 3]


def test_a_result_that_begins_with_error_is_one() -> None:
    said = {"role": "tool", "name": "find_order", "content": "Error: order not found"}
    (call,) = read_json(TAU, [simulation(called("find_order", {}), said)]).calls
    assert call.outcome is Outcome.ERROR


@pytest.mark.parametrize(("reward", "success"), [(1.0, True), (SOLVED, True), (0.999, False), (0.0, False)])
def test_a_reward_of_one_within_the_tolerance_is_a_success(reward: float, success: bool) -> None:
    assert read_json(TAU, [simulation(reward=reward)]).facts[0].success is success


def test_an_unknown_reward_is_no_failure() -> None:
    told = simulation()
    told["reward"] = None
    (facts,) = read_json(TAU, [told]).facts
    assert (facts.success, facts.score) == (None, None)


def new(*messages: dict[str, Any], identifier: str = "s1", **more: Any) -> dict[str, Any]:
    return {
        "id": identifier, "task_id": "mobile-1", "trial": 2, "start_time": "2026-01-01T00:00:00",
        "end_time": "2026-01-01T00:01:00", "duration": 60.5, "termination_reason": "TerminationReason.USER_STOP",
        "agent_cost": 0.5, "user_cost": 0.25, "reward_info": {"reward": 1.0}, "messages": list(messages), **more,
    }  # fmt: skip


GREETING = {"role": "assistant", "content": "Hi! How can I help?", "cost": 0.0, "usage": None}
ASKS = {
    "role": "user", "content": "No signal.", "cost": 0.25, "usage": {"prompt_tokens": 70, "completion_tokens": 7},
    "timestamp": "2026-01-01T00:00:10",
}  # fmt: skip
ACTS = {
    "role": "assistant", "content": None, "cost": 0.5, "usage": {"prompt_tokens": 500, "completion_tokens": 20},
    "tool_calls": [{"id": "t1", "name": "get_line", "arguments": {"line": 1}, "requestor": "assistant"}],
    "timestamp": "2026-01-01T00:00:20",
}  # fmt: skip
SEES = {"id": "t1", "role": "tool", "content": "ok", "requestor": "assistant", "error": False}
TOGGLE = {"id": "u1", "name": "toggle", "arguments": {}, "requestor": "user"}
USES = {"role": "user", "content": None, "tool_calls": [TOGGLE]}
FAILS = {"id": "u1", "role": "tool", "content": "no", "requestor": "user", "error": True}


def results(*simulations: dict[str, Any]) -> dict[str, Any]:
    info = {"git_commit": "abc", "num_trials": 3, "agent_info": {"llm": "model-a"}, "user_info": {"llm": "model-u"}}
    told = {**info, "environment_info": {"domain_name": "telecom"}}
    return {"timestamp": "2026-01-01T00:00:00", "info": told, "tasks": [], "simulations": list(simulations)}


WHOLE = results(new(GREETING, ASKS, ACTS, SEES, USES, FAILS))


def test_two_principals_call_tools_and_only_the_agents_are_the_main_thread() -> None:
    run = read_json(TAU, WHOLE)
    assert [(each.thread_id, each.kind, each.agent) for each in run.threads] == [
        ("task-mobile-1.2", ThreadKind.MAIN, "agent"),
        ("task-mobile-1.2:user", ThreadKind.SIDE_MODEL, "user"),
    ]
    assert [(each.thread_id, each.name, each.outcome) for each in run.calls] == [
        ("task-mobile-1.2", "get_line", Outcome.OK),
        ("task-mobile-1.2:user", "toggle", Outcome.ERROR),
    ]
    assert [(each.model, each.tokens.out_total) for each in run.requests] == [
        ("model-a", 20),
        ("model-u", 7),
        ("model-u", None),
    ]


def test_the_greeting_that_the_benchmark_wrote_is_no_request() -> None:
    main = [each for each in read_json(TAU, WHOLE).requests if each.model == "model-a"]
    assert [(each.index, each.turn, each.cost_usd) for each in main] == [(0, 0, 0.5)]


def test_a_prompt_without_its_cached_part_is_not_called_fresh() -> None:
    tokens = read_json(TAU, WHOLE).requests[0].tokens
    assert (tokens.fresh_in, tokens.cache_read, tokens.unattributed) == (None, None, 500)


def test_usage_of_the_raw_answer_is_the_better_one() -> None:
    details = {"prompt_tokens": 500, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 400}}
    raw = {"id": "chatcmpl-9", "model": "model-a-2", "usage": details}
    run = read_json(TAU, results(new(ASKS, {**ACTS, "raw_data": raw})))
    first = run.requests[0]
    assert (first.request_id, first.model, first.tokens.fresh_in, first.tokens.cache_read) == (
        "chatcmpl-9", "model-a-2", 100, 400,
    )  # fmt: skip


def test_facts_of_a_simulation() -> None:
    (facts,) = read_json(TAU, WHOLE).facts
    assert (facts.outcome, facts.duration_ms, facts.cost_usd) == ("user_stop", 60_500, 0.75)
    assert (facts.case_id, facts.replicate, facts.success) == ("mobile-1", 2, True)


def test_a_cost_that_its_messages_do_not_add_up_to_is_told() -> None:
    assert "W_TOTAL_MISMATCH" in codes(read_json(TAU, results(new(ASKS, ACTS, SEES, agent_cost=0.6))))
    assert "W_TOTAL_MISMATCH" not in codes(read_json(TAU, results(new(ASKS, ACTS, SEES))))


def test_turns_are_opened_by_what_the_user_says() -> None:
    later = {**ACTS, "tool_calls": None, "content": "Try again.", "timestamp": "2026-01-01T00:00:50"}
    run = read_json(TAU, results(new(GREETING, ASKS, ACTS, SEES, {**ASKS, "timestamp": "2026-01-01T00:00:40"}, later)))
    main = [each for each in run.turns if each.thread_id == "task-mobile-1.2"]
    assert [(each.t_end or 0) - (each.t_start or 0) for each in main] == [10_000, 10_000]
    assert [each.turn for each in run.requests if each.model == "model-a"] == [0, 1]


def test_a_simulation_that_stands_twice_counts_once() -> None:
    once = new(ASKS, ACTS, SEES)
    run = read_json(TAU, results(once, once, new(ASKS, ACTS, SEES, identifier="s2")))
    assert (len(run.facts), len(run.threads)) == (2, 4)
    assert "W_REPEATED_LINE" in codes(run)
    assert len({each.thread_id for each in run.threads}) == 4


def test_one_simulation_is_a_file_too_and_so_is_one_a_line() -> None:
    alone = new(ASKS, ACTS, SEES)
    assert sums(read_json(TAU, alone)) == sums(read_bytes(TAU, lines(alone))) == sums(read_json(TAU, results(alone)))


def test_several_results_in_one_message() -> None:
    many = {"role": "tool", "tool_messages": [SEES]}
    assert read_json(TAU, results(new(ASKS, ACTS, many))).calls[0].outcome is Outcome.OK


def test_what_is_sniffed() -> None:
    assert TAU.sniff(json.dumps(OLD).encode(), "x.json") >= 0.95
    assert TAU.sniff(json.dumps(WHOLE).encode(), "x.json") >= 0.95
    assert TAU.sniff(json.dumps(new()).encode(), "x.json") == 0.9
    assert TAU.sniff(b'[{"role": "user", "content": "task_id reward traj"}]', "x.json") == 0
    assert TAU.origin(json.dumps(WHOLE).encode(), "x.json").started == 1_767_225_600_000


@pytest.mark.parametrize("told", [OLD, WHOLE])
def test_the_order_of_simulations_changes_no_sum(told: Any) -> None:
    turned = list(reversed(told)) if isinstance(told, list) else {**told, "simulations": told["simulations"][::-1]}
    before, after = read_json(TAU, told), read_json(TAU, turned)
    assert sums(before) == sums(after)
    assert {each.thread_id for each in before.threads} == {each.thread_id for each in after.threads}


@given(st.sampled_from((OLD, WHOLE)).flatmap(lambda told: damaged(json.dumps(told).encode())))
def test_damaged_files(data: bytes) -> None:
    check_reader(TAU, data)


WORDS = (
    "simulations messages traj role user assistant tool tool_calls name arguments reward reward_info trial task_id"
    " usage raw_data id duration agent_cost info"
)


@given(almost(*WORDS.split()))
def test_results_that_almost_fit(told: Any) -> None:
    check_reader(TAU, json.dumps(told).encode())
    check_reader(TAU, json.dumps([{"task_id": 1, "reward": 1, "traj": [told]}]).encode())

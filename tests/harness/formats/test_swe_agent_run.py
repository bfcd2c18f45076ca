"""SWE-agent trajectories: one test a trap, and the figures of the recorded cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.formats.swe_agent_run import SweAgentRun
from kpis.terms.trace import Outcome, TimeBasis, ToolOp, UsageScope

from .run_reading import almost, check_reader, codes, damaged, read_bytes, read_json, read_path

SWE = SweAgentRun()


def step(action: str, seen: str | None = "", opened: str = "n/a", **more: Any) -> dict[str, Any]:
    state = json.dumps({"open_file": opened, "working_dir": "/desk"}) + "\n"
    return {"action": action, "observation": seen, "response": "Well.", "thought": "Well.", "state": state, **more}


def trajectory(*steps: dict[str, Any], **stats: Any) -> dict[str, Any]:
    history = [{"role": "user", "content": "Here is a demonstration", "is_demo": True}]
    info = {"exit_status": "submitted", "submission": "diff", "model_stats": stats}
    return {"environment": "swe_main", "trajectory": list(steps), "history": history, "info": info}


TOTALS = {"total_cost": 9.5, "instance_cost": 1.25, "tokens_sent": 1000, "tokens_received": 30, "api_calls": 2}
WHOLE = trajectory(step("open src/a.py\n", "[File: a.py]", "/desk/src/a.py"), step("submit\n", "diff"), **TOTALS)


def test_usage_is_one_row_of_the_run_and_none_of_its_prompt_is_called_fresh() -> None:
    run = read_json(SWE, WHOLE)
    whole = [each for each in run.requests if each.scope is UsageScope.RUN]
    assert len(whole) == 1
    tokens = whole[0].tokens
    assert (tokens.unattributed, tokens.out_total, tokens.fresh_in, tokens.cache_read) == (1000, 30, None, None)
    steps = [each for each in run.requests if each.scope is UsageScope.REQUEST]
    assert [each.tokens.out_total for each in steps] == [None, None]
    assert codes(run) == ["W_USAGE_MEANING"]


def test_the_cost_of_this_instance_is_not_that_of_all_before_it() -> None:
    (facts,) = read_json(SWE, WHOLE).facts
    assert (facts.cost_usd, facts.requests, facts.outcome) == (1.25, 2, "submitted")


def test_zeros_are_placeholders() -> None:
    zeros = dict.fromkeys(TOTALS, 0)
    run = read_json(SWE, trajectory(step("ls"), **zeros))
    assert [each.scope for each in run.requests] == [UsageScope.REQUEST]
    assert (run.facts[0].cost_usd, run.facts[0].requests) == (None, None)
    assert codes(run) == ["W_NO_USAGE"]
    assert codes(read_json(SWE, trajectory(step("ls")))) == ["W_NO_USAGE"]


def test_demonstrations_in_the_history_are_no_steps() -> None:
    told = trajectory(step("ls"), **TOTALS)
    told["history"] += [{"role": "assistant", "action": "rm -r /", "is_demo": True}] * 5
    run = read_json(SWE, told)
    assert (len(run.calls), len(run.requests)) == (1, 2)


def test_the_agents_own_commands_and_lines_for_a_shell() -> None:
    run = read_json(
        SWE,
        trajectory(
            step("open src/a.py 30", opened="/desk/src/a.py"),
            step("edit 1:3\nimport os\nend_of_edit", opened="/desk/src/a.py"),
            step('search_dir "total" src'),
            step("str_replace_editor view /desk/src/b.py"),
            step("str_replace_editor create /desk/src/c.py --file_text 'x'"),
            step("python check.py && ls"),
            step("pytest tests"),
            **TOTALS,
        ),
    )
    assert [(each.op, each.target) for each in run.calls] == [
        (ToolOp.READ, "src/a.py"),
        (ToolOp.WRITE, "/desk/src/a.py"),
        (ToolOp.SEARCH, "total"),
        (ToolOp.READ, "/desk/src/b.py"),
        (ToolOp.WRITE, "/desk/src/c.py"),
        (ToolOp.EXEC, None),
        (ToolOp.TEST, run.calls[6].target),
    ]


def test_execution_time_is_the_clients_clock() -> None:
    (call,) = read_json(SWE, trajectory(step("ls", "a", execution_time=1.5), **TOTALS)).calls
    assert (call.duration_ms, call.time_basis) == (1500, TimeBasis.MEASURED)
    (call,) = read_json(SWE, trajectory(step("ls", "a"), **TOTALS)).calls
    assert (call.duration_ms, call.time_basis) == (None, TimeBasis.LINE_TIME)


def test_outcomes_that_an_observation_says() -> None:
    refused = "Your proposed edit has introduced new syntax error(s). Please read this."
    killed = "The command 'sleep 99' was cancelled because it took more than 30 seconds."
    run = read_json(
        SWE,
        trajectory(
            step("edit 1:1\nx", refused), step("sleep 99", killed), step("ls", ""), step("cat a", None), **TOTALS
        ),
    )
    assert [each.outcome for each in run.calls] == [Outcome.ERROR, Outcome.TIMEOUT, Outcome.OK, Outcome.UNANSWERED]
    assert run.calls[2].result_bytes == 0


def test_a_step_without_an_action_is_a_request_and_no_call() -> None:
    run = read_json(SWE, trajectory(step(""), step("exit_forfeit"), **TOTALS))
    assert (len(run.requests), run.calls) == (3, ())


def test_the_instance_is_named_by_the_settings_or_by_the_file() -> None:
    settings = json.dumps({"problem_statement": {"id": "desk__ledger-7"}, "agent": {"model": {"name": "model-a"}}})
    run = read_json(SWE, {**WHOLE, "replay_config": settings}, "anything.traj")
    assert (run.facts[0].case_id, run.requests[0].model) == ("desk__ledger-7", "model-a")
    assert read_json(SWE, WHOLE, "out/desk__ledger-8.traj").facts[0].case_id == "desk__ledger-8"
    assert read_json(SWE, WHOLE, "out/latest.traj").facts[0].case_id is None


def test_what_is_sniffed() -> None:
    data = json.dumps(WHOLE).encode()
    assert SWE.sniff(data, "x.json") >= 0.95
    assert SWE.sniff(b'{"trajectory": [{"action"', "x.json") == 0
    assert SWE.sniff(b'[{"trajectory": 1, "action": 2}]', "x.traj") == 0


def test_a_file_that_is_no_trajectory_holds_nothing() -> None:
    run = read_bytes(SWE, b"[1, 2, 3]")
    assert (run.calls, codes(run)) == ((), ["E_BAD_LINE", "W_NO_USAGE"])


@given(damaged(json.dumps(WHOLE).encode()))
def test_damaged_files(data: bytes) -> None:
    check_reader(SWE, data)


@given(
    almost("trajectory", "action", "observation", "state", "info", "model_stats", "tokens_sent", "tokens_received",
           "instance_cost", "replay_config", "agent", "model", "open_file", "execution_time", "edit 1:1"),
    st.lists(almost("action", "observation", "thought", "state", "open a", "execution_time"), max_size=4),
)  # fmt: skip
def test_trajectories_that_almost_fit(told: Any, steps: list[Any]) -> None:
    check_reader(SWE, json.dumps(told).encode())
    check_reader(SWE, json.dumps({"trajectory": steps, "info": told}).encode())


def test_recorded_cases(cases: Path) -> None:
    expected = json.loads((cases / "transcripts" / "expected.json").read_text())
    folder = cases / "transcripts" / "swe-agent"
    told, run = expected["swe-agent/a.traj"], read_path(SWE, folder / "a.traj")
    *steps, whole = run.requests
    assert (len(steps), len(run.calls), run.facts[0].requests) == (told["steps"], told["steps"], told["api_calls"])
    assert (whole.tokens.unattributed, whole.tokens.out_total) == (told["tokens_sent"], told["tokens_received"])
    assert (run.facts[0].cost_usd, run.facts[0].outcome) == (told["cost_reported"], told["outcome"])
    assert sum(each.error_class == "edit_refused" for each in run.calls) == 3
    told, run = expected["swe-agent/b.traj"], read_path(SWE, folder / "b.traj")
    assert (len(run.requests), len(run.calls), run.facts[0].outcome) == (told["steps"], told["steps"], told["outcome"])
    assert (codes(run), run.facts[0].cost_usd) == (["W_NO_USAGE"], None)

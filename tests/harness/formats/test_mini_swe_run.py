"""mini-swe-agent trajectories: one test a trap, and the figures of the recorded cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.mini_swe_run import MiniSweRun
from kpis.terms.trace import Outcome, Provenance, ToolOp

from .run_reading import almost, check_reader, codes, damaged, read_bytes, read_json, read_path, sums

MINI = MiniSweRun()


def answer(
    at: int, text: str, *, prompt: int = 100, cached: int = 60, out: int = 10, cost: float = 0.25
) -> dict[str, Any]:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": out,
        "total_tokens": prompt + out,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": 4},
        "cost": cost,
    }
    choices = [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
    response = {
        "id": f"gen-{at}",
        "model": "lab/model-a",
        "created": 1_767_225_600 + at,
        "usage": usage,
        "choices": choices,
    }
    return {"role": "assistant", "content": text, "extra": {"response": response}}


def ran(command: str) -> str:
    return f"THOUGHT: next.\n\n```bash\n{command}\n```"


def result(code: int, text: str = "") -> dict[str, Any]:
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{text}</output>"}


def trajectory(*messages: dict[str, Any], cost: float = 0.5, calls: int = 2, **more: Any) -> dict[str, Any]:
    info = {
        "exit_status": "Submitted",
        "model_stats": {"instance_cost": cost, "api_calls": calls},
        "mini_version": "1.15.0",
        "config": {"model": {"model_name": "lab/model-b"}},
    }
    opening = [{"role": "system", "content": "You work."}, {"role": "user", "content": "Fix the ledger."}]
    told = {"info": info, "messages": [*opening, *messages], "trajectory_format": "mini-swe-agent-1"}
    return {**told, "instance_id": "desk__ledger-7", **more}


WHOLE = trajectory(
    answer(1, ran("grep -rn total src")), result(0, "src/a.py:3"), answer(2, ran("python check.py")), result(2, "no")
)


def test_cached_tokens_are_inside_the_prompt() -> None:
    run = read_json(MINI, WHOLE)
    assert sums(run) == {
        "fresh_in": 80, "cache_read": 120, "cache_write": 0, "out_total": 20, "out_visible": 12, "out_reasoning": 8,
        "unattributed": 0, "requests": 2, "calls": 2,
    }  # fmt: skip
    tokens = run.requests[0].tokens
    assert (tokens.prompt, tokens.provenance_of("fresh_in")) == (100, Provenance.DERIVED)
    assert tokens.provenance_of("cache_read") is Provenance.OBSERVED
    assert tokens.cache_write is None
    assert codes(run) == []


def test_the_exit_code_stands_in_the_next_message() -> None:
    found, checked = read_json(MINI, WHOLE).calls
    assert (found.op, found.target, found.exit_code, found.outcome) == (ToolOp.SEARCH, "total", 0, Outcome.OK)
    assert (checked.exit_code, checked.outcome, checked.request_id) == (2, Outcome.ERROR, "gen-2")
    assert (found.line, checked.line) == (3, 5)


def test_facts_of_the_run() -> None:
    (facts,) = read_json(MINI, WHOLE).facts
    assert (facts.outcome, facts.case_id, facts.cost_usd, facts.requests) == ("Submitted", "desk__ledger-7", 0.5, 2)
    assert (facts.success, facts.score) == (None, None)


def test_a_cost_that_its_requests_do_not_add_up_to_is_told() -> None:
    messages = (answer(1, ran("ls")), result(0), answer(2, ran("ls src")), result(0))
    assert codes(read_json(MINI, trajectory(*messages, cost=0.500_000_1))) == []
    assert codes(read_json(MINI, trajectory(*messages, cost=0.500_01))) == ["W_TOTAL_MISMATCH"]
    assert codes(read_json(MINI, trajectory(*messages, calls=3))) == ["W_TOTAL_MISMATCH"]


def test_the_cost_of_a_request_beside_its_usage_comes_first() -> None:
    message = answer(1, ran("ls"))
    message["extra"]["cost"] = 0.75
    assert read_json(MINI, trajectory(message)).requests[0].cost_usd == 0.75


def test_an_answer_with_more_or_fewer_than_one_command_ran_nothing() -> None:
    both = f"{ran('ls')}\n\n```bash\nrm -r src\n```"
    refused = {"role": "user", "content": "Please always provide EXACTLY ONE action"}
    run = read_json(MINI, trajectory(answer(1, both), refused, answer(2, "Only words."), refused))
    assert (len(run.requests), run.calls) == (2, ())


def test_an_open_block_is_no_command_and_costs_one_look() -> None:
    text = "```bash\nls " * 20_000
    assert read_json(MINI, trajectory(answer(1, text))).calls == ()


def test_a_command_that_was_killed() -> None:
    said = {"role": "user", "content": "The last command <command>sleep 99</command> timed out and has been killed."}
    (call,) = read_json(MINI, trajectory(answer(1, ran("sleep 99")), said)).calls
    assert (call.outcome, call.exit_code) == (Outcome.TIMEOUT, None)


def test_a_command_at_the_end_has_no_answer_unless_it_submitted() -> None:
    run = read_json(MINI, trajectory(answer(1, ran("ls")), calls=1, cost=0.25))
    assert (run.calls[0].outcome, codes(run)) == (Outcome.UNANSWERED, ["W_UNANSWERED_CALL"])
    submitted = {"role": "user", "content": "diff --git a b"}
    assert read_json(MINI, trajectory(answer(1, ran("ls")), submitted)).calls[0].outcome is Outcome.OK


def test_version_1_1_pairs_tool_calls_by_id() -> None:
    def asked(identifier: str, command: str) -> dict[str, Any]:
        return {"id": identifier, "function": {"name": "bash", "arguments": json.dumps({"command": command})}}

    message = answer(1, "Two at once.")
    message["tool_calls"] = [asked("call_a", "cat a.py"), asked("call_b", "cat b.py")]
    message["extra"]["timestamp"] = 1_767_225_700.5
    results = [
        {
            "role": "tool",
            "tool_call_id": "call_b",
            "content": "b",
            "extra": {"returncode": 1, "timestamp": 1_767_225_702.0},
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "a", "extra": {"returncode": 0}},
        {"role": "tool", "tool_call_id": "call_x", "content": "?"},
    ]
    run = read_json(MINI, trajectory(message, *results, calls=1, cost=0.25, trajectory_format="mini-swe-agent-1.1"))
    a, b, x = run.calls
    assert [(each.target, each.exit_code, each.outcome) for each in (a, b)] == [
        ("a.py", 0, Outcome.OK),
        ("b.py", 1, Outcome.ERROR),
    ]
    assert (b.t_start, b.t_end) == (1_767_225_700_500, 1_767_225_702_000)
    assert (x.outcome, codes(run)) == (Outcome.ORPHAN, ["W_ORPHAN_RESULT"])
    assert run.recordings[0].source_version == "mini-swe-agent-1.1"


def test_recorded_actions_come_before_blocks_in_the_text() -> None:
    message = answer(1, ran("echo in the text"))
    message["extra"]["actions"] = [{"command": "pytest tests/test_a.py"}]
    ended = {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}}
    (call,) = read_json(MINI, trajectory(message, ended, calls=1, cost=0.25)).calls
    assert (call.op, call.outcome) == (ToolOp.TEST, Outcome.OK)


def test_an_answer_of_the_responses_api_is_a_message_without_a_role() -> None:
    item = {"type": "function_call", "call_id": "call_1", "name": "bash", "arguments": '{"command": "ls src"}'}
    usage = {"input_tokens": 50, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 5}
    message = {"object": "response", "id": "resp_1", "output": [item], "usage": usage, "extra": {"cost": 0.5}}
    seen = {"type": "function_call_output", "call_id": "call_1", "output": "<returncode>0</returncode>"}
    run = read_json(MINI, trajectory(message, seen, calls=1))
    assert (run.requests[0].request_id, run.requests[0].tokens.fresh_in) == ("resp_1", 30)
    assert (run.calls[0].op, run.calls[0].exit_code) == (ToolOp.LIST, 0)
    assert codes(run) == []


def test_the_bare_list_of_messages_has_no_usage() -> None:
    told = [
        {"role": "assistant", "content": ran("ls")},
        result(0),
        {"role": "assistant", "content": ran("cat a")},
        result(1),
    ]
    head = json.dumps(told).encode()
    assert MINI.sniff(head, "ledger.traj.json") > MINI.sniff(head, "ledger.json") > 0.5
    run = read_json(MINI, told)
    assert [each.tokens.out_total for each in run.requests] == [None, None]
    assert ([each.exit_code for each in run.calls], run.facts) == ([0, 1], ())
    assert codes(run) == ["W_NO_USAGE"]
    assert len({each.request_id for each in run.requests}) == 2
    assert all("#" in each.request_id for each in run.requests)


def test_a_response_that_stands_twice_is_one_request() -> None:
    run = read_json(MINI, trajectory(answer(1, ran("ls")), answer(1, ran("ls")), calls=1, cost=0.25))
    assert ([each.n_lines for each in run.requests], sums(run)["out_total"]) == ([2], 10)


def test_a_prompt_without_its_cached_part_is_not_called_fresh() -> None:
    message = answer(1, ran("ls"))
    del message["extra"]["response"]["usage"]["prompt_tokens_details"]
    run = read_json(MINI, trajectory(message, calls=1, cost=0.25))
    tokens = run.requests[0].tokens
    assert (tokens.fresh_in, tokens.cache_read, tokens.unattributed) == (None, None, 100)
    assert "W_USAGE_MEANING" in codes(run)


def test_a_file_that_is_cut_says_so_and_one_with_a_tail_is_read() -> None:
    data = json.dumps(WHOLE).encode()
    cut = read_bytes(MINI, data[:-30])
    assert (cut.requests, codes(cut)) == ((), ["E_UNREADABLE"])
    assert "python -m json.tool" in cut.issues[0].message
    for shown in (data, json.dumps(WHOLE, indent=1).encode()):
        for tail, code in ((b"\ngarbage", "E_"), (b'\n{"a": 1}', "E_BAD_LINE"), (b"\0" * 20, "")):
            tailed = read_bytes(MINI, b"\xef\xbb\xbf" + shown + tail)
            assert sums(tailed) == sums(read_bytes(MINI, data))
            assert [each for each in codes(tailed) if each.startswith(code)] == codes(tailed)
            assert bool(codes(tailed)) == bool(code)


def test_no_words_are_kept() -> None:
    run = read_json(MINI, trajectory(answer(1, ran("frobnicate --quietly")), result(0, "marmalade")))
    assert "marmalade" not in repr(run)
    assert "frobnicate" not in repr(run)


@given(damaged(json.dumps(WHOLE).encode()))
def test_damaged_files(data: bytes) -> None:
    check_reader(MINI, data)


WORDS = (
    "role content extra response usage id assistant user tool tool_calls choices prompt_tokens function name actions"
    " command output message"
)


@given(st.lists(almost(*WORDS.split(), ran("ls")), max_size=5))
def test_messages_that_almost_fit(messages: list[Any]) -> None:
    check_reader(MINI, json.dumps({"info": {"model_stats": {"instance_cost": 1}}, "messages": messages}).encode())
    check_reader(MINI, json.dumps(messages).encode())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.traj.json", (20, 258_532, 193_081, 5_083)),
        ("b.traj.json", (129, 4_291_154, 3_901_717, 29_196)),
    ],
)
def test_recorded_cases(cases: Path, name: str, expected: tuple[int, ...]) -> None:
    told = json.loads((cases / "transcripts" / "expected.json").read_text())[f"mini-swe-agent/{name}"]
    assert tuple(told[key] for key in ("requests", "prompt", "cache_read", "out")) == expected
    run = read_path(MINI, cases / "transcripts" / "mini-swe-agent" / name)
    found = sums(run)
    assert (
        found["requests"],
        found["fresh_in"] + found["cache_read"],
        found["cache_read"],
        found["out_total"],
    ) == expected
    assert run.facts[0].outcome == told["outcome"]
    assert run.facts[0].cost_usd == pytest.approx(told["cost_reported"])
    assert sum(each.cost_usd or 0 for each in run.requests) == pytest.approx(told["cost_reported"])
    assert codes(run) == []
    refused = 0 if name.startswith("a") else 5
    assert found["calls"] == told["requests"] - refused

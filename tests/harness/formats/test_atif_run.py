"""ATIF trajectories: one test a trap, and the figures of the recorded case."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.atif_run import AtifRun
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import EventKind, Outcome, Provenance, ThreadKind, ToolOp, UsageScope, UserKind

from .run_reading import almost, check_reader, codes, damaged, read_bytes, read_files, read_json, sums

ATIF = AtifRun()


def asked(at: int, text: str = "Tidy the desk.", **more: Any) -> dict[str, Any]:
    return {"step_id": at, "source": "user", "message": text, **more}


def worked(at: int, prompt: int | None = 100, out: int = 10, cached: int | None = 60, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"step_id": at, "source": "agent", "message": f"Step {at}.", "model_name": "model-a"}
    told["timestamp"] = f"2026-05-01T10:00:{at:02}Z"
    if prompt is not None:
        told["metrics"] = {"prompt_tokens": prompt, "completion_tokens": out, "cost_usd": 0.25}
        if cached is not None:
            told["metrics"]["cached_tokens"] = cached
    return {**told, **more}


def used(identifier: str, command: str) -> dict[str, Any]:
    return {"tool_call_id": identifier, "function_name": "bash", "arguments": {"command": command}}


def totals(prompt: int, out: int, cached: int | None = 0, cost: float | None = None) -> dict[str, Any]:
    told = {"total_prompt_tokens": prompt, "total_completion_tokens": out, "total_cached_tokens": cached}
    return {**told, "total_cost_usd": cost}


def trajectory(*steps: dict[str, Any], final: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    agent = {"name": "desk-agent", "version": "1", "model_name": "lab/model-a"}
    told = {"schema_version": "ATIF-v1.6", "session_id": "session-1", "agent": agent, "steps": list(steps), **more}
    return told if final is None else {**told, "final_metrics": final}


def read_all(**named: Any) -> RecordedRun:
    """The run in files named like ``trajectory.json``, which are one session for the reader too."""
    names = {name: name.replace("__", ".").replace("cont_", "cont-") + ".json" for name in named}
    files = {names[name]: json.dumps(told).encode() for name, told in named.items()}
    assert len({ATIF.origin(data, name).run for name, data in files.items()}) == 1
    first, *others = [read_files(ATIF, dict(each)) for each in permutations(files.items())]
    assert all(each == first for each in others)
    return first


WHOLE = trajectory(
    asked(1),
    worked(
        2,
        tool_calls=[used("call_a", "ls src"), used("call_b", "python check.py")],
        observation={
            "results": [
                {"source_call_id": "call_b", "content": "no", "extra": {"is_error": True}},
                {"source_call_id": "call_a", "content": "a.py"},
            ]
        },
    ),
    worked(3, 200, 20, 150),
    final=totals(300, 30, 210, 0.5),
)


def test_cached_tokens_are_inside_the_prompt() -> None:
    run = read_json(ATIF, WHOLE)
    assert sums(run) == {
        "fresh_in": 90, "cache_read": 210, "cache_write": 0, "out_total": 30, "out_visible": 0, "out_reasoning": 0,
        "unattributed": 0, "requests": 2, "calls": 2,
    }  # fmt: skip
    tokens = run.requests[0].tokens
    assert (tokens.prompt, tokens.cache_write, tokens.out_reasoning) == (100, None, None)
    assert tokens.provenance_of("fresh_in") is Provenance.DERIVED
    assert tokens.provenance_of("cache_read") is Provenance.OBSERVED
    assert codes(run) == []
    (facts,) = run.facts
    assert (facts.by_model[0].tokens.prompt, facts.cost_usd, facts.success) == (300, 0.5, None)


def test_results_belong_to_the_calls_that_they_name() -> None:
    a, b = read_json(ATIF, WHOLE).calls
    assert (a.op, a.target, a.outcome, a.result_bytes) == (ToolOp.LIST, "src", Outcome.OK, 4)
    assert (b.outcome, b.line, b.request_id) == (Outcome.ERROR, 2, "session-1#0.2")


def test_nameless_results_belong_to_calls_only_where_they_are_as_many() -> None:
    calls = [used("call_a", "ls"), used("call_b", "ls src")]
    both = worked(2, tool_calls=calls, observation={"results": [{"content": "a"}, {"content": "bb"}]})
    assert [each.result_bytes for each in read_json(ATIF, trajectory(both)).calls] == [1, 2]
    screen = worked(2, tool_calls=calls, observation={"results": [{"content": "one screen"}]})
    assert [each.outcome for each in read_json(ATIF, trajectory(screen)).calls] == [Outcome.UNANSWERED] * 2
    terminal = worked(2, observation={"results": [{"content": "one screen"}]})
    assert (read_json(ATIF, trajectory(terminal)).calls, codes(read_json(ATIF, trajectory(terminal)))) == ((), [])
    stray = worked(2, observation={"results": [{"source_call_id": "call_x", "content": "?"}]})
    assert codes(read_json(ATIF, trajectory(stray))) == ["W_ORPHAN_RESULT"]


def test_turns_begin_with_a_user() -> None:
    run = read_json(ATIF, trajectory(asked(1), worked(2), asked(3, "And the shelf."), worked(4), worked(5)))
    assert [each.turn for each in run.requests] == [0, 1, 1]
    assert [each.user_kind for each in run.turns] == [UserKind.HUMAN, UserKind.HUMAN]
    assert run.turns[1].t_end == 1_777_629_605_000
    assert read_json(ATIF, trajectory(worked(1))).turns[0].user_kind is UserKind.SYSTEM


def test_where_the_totals_say_that_nothing_was_cached_no_step_was() -> None:
    run = read_json(ATIF, trajectory(worked(1, cached=None), worked(2, cached=None), final=totals(200, 20, 0)))
    assert (sums(run)["fresh_in"], sums(run)["unattributed"], codes(run)) == (200, 0, [])
    assert run.requests[0].tokens.provenance_of("cache_read") is Provenance.DERIVED
    run = read_json(ATIF, trajectory(worked(1, cached=None), worked(2, cached=None), final=totals(200, 20, None)))
    assert (sums(run)["fresh_in"], sums(run)["unattributed"], codes(run)) == (0, 200, ["W_USAGE_MEANING"])


def test_more_cached_tokens_than_prompt_are_not_subtracted() -> None:
    run = read_json(ATIF, trajectory(worked(1, 10, 1, 60)))
    assert (run.requests[0].tokens.fresh_in, codes(run)) == (10, ["W_USAGE_MEANING"])


def test_cache_writes_and_reasoning_where_the_step_proves_them() -> None:
    def with_extra(**extra: int) -> Any:
        told = worked(1, 100, 10, 60)
        told["metrics"]["extra"] = extra
        return read_json(ATIF, trajectory(told)).requests[0].tokens

    tokens = with_extra(input_tokens=5, cache_creation_input_tokens=35, reasoning_tokens=4)
    assert (tokens.fresh_in, tokens.cache_write_other, tokens.prompt) == (5, 35, 100)
    assert (tokens.out_visible, tokens.out_reasoning) == (6, 4)
    tokens = with_extra(cache_creation_input_tokens=35, reasoning_tokens=400)
    assert (tokens.fresh_in, tokens.cache_write, tokens.out_reasoning) == (40, None, None)


def test_a_continuation_is_the_same_run_and_only_its_totals_count() -> None:
    first = trajectory(asked(1), worked(2), worked(3), final=totals(200, 20, 120, 0.5))
    first["continued_trajectory_ref"] = "trajectory.cont-1.json"
    agent = {**first["agent"], "extra": {"continuation_index": 1}}
    copied = [asked(1, is_copied_context=True), worked(2, None, is_copied_context=True)]
    second = trajectory(*copied, worked(4), final=totals(1_000, 100, 180, 2.5), agent=agent)
    run = read_all(trajectory=first, trajectory__cont_1=second)
    assert (sums(run)["fresh_in"] + sums(run)["cache_read"], sums(run)["out_total"]) == (1_000, 100)
    assert [each.tokens.prompt for each in run.requests if each.scope is UsageScope.REQUEST] == [100, 100, 100]
    assert [each.index for each in run.requests][:3] == [0, 1, 2]
    (hidden,) = [each for each in run.requests if each.scope is UsageScope.RUN]
    assert (hidden.tokens.prompt, hidden.tokens.out_total, hidden.tokens.cache_read) == (700, 70, 0)
    assert hidden.cost_usd == pytest.approx(1.75)
    assert all(
        hidden.tokens.provenance_of(part) is Provenance.DERIVED for part in ("fresh_in", "cache_read", "out_total")
    )
    kinds = {each.thread_id: each.kind for each in run.threads}
    assert kinds[hidden.thread_id] is ThreadKind.SUMMARISER
    assert (len(run.recordings), len(run.facts), run.facts[0].cost_usd) == (2, 1, 2.5)
    assert codes(run) == ["W_USAGE_MEANING"]


def test_copied_steps_count_once_also_where_nothing_marks_them() -> None:
    first = trajectory(asked(1), worked(2), worked(3), final=totals(200, 20, 120))
    first["continued_trajectory_ref"] = "x/trajectory.cont-1.json"
    second = trajectory(asked(1), worked(2), worked(3), worked(4), worked(3, 5, 10, 0), final=totals(305, 40, 180))
    run = read_all(trajectory=first, trajectory__cont_1={**second, "agent": {"extra": {"continuation_index": 1}}})
    assert (sums(run)["requests"], sums(run)["fresh_in"] + sums(run)["cache_read"]) == (4, 305)
    marked = trajectory(worked(1), worked(2, extra={"is_copied_context": True}))
    assert sums(read_json(ATIF, marked))["requests"] == 1


def test_a_file_that_is_a_copy_counts_once() -> None:
    run = read_all(trajectory=WHOLE, copy=WHOLE)
    assert sums(run) == sums(read_json(ATIF, WHOLE))
    assert codes(run) == ["W_COPIED_HISTORY"]
    shorter = trajectory(*WHOLE["steps"][:2], final=totals(100, 10, 60))
    assert sums(read_all(trajectory=WHOLE, earlier=shorter)) == sums(read_json(ATIF, WHOLE))


def test_two_trajectories_that_are_not_one_are_two_threads() -> None:
    other = trajectory(asked(1, "Another task."), worked(2), final=totals(100, 10, 60))
    run = read_all(trajectory=WHOLE, other=other)
    assert ([each.kind for each in run.threads], sums(run)["requests"]) == ([ThreadKind.MAIN] * 2, 3)
    assert len({each.request_id for each in run.requests}) == 3


def test_a_continuation_that_was_cut_off_has_no_totals() -> None:
    first = trajectory(asked(1), worked(2), final=totals(150, 15, 60), continued_trajectory_ref="t.cont-1.json")
    second = trajectory(worked(3), worked(4), agent={"extra": {"continuation_index": 1}})
    run = read_all(trajectory=first, trajectory__cont_1=second)
    assert (sums(run)["fresh_in"] + sums(run)["cache_read"], sums(run)["out_total"]) == (350, 35)


def test_totals_below_the_steps_make_no_negative_row() -> None:
    run = read_json(ATIF, trajectory(worked(1), worked(2), final=totals(6, 2, 0)))
    assert (sums(run)["requests"], codes(run)) == (2, ["W_TOTAL_MISMATCH"])
    assert "6 prompt and 2 completion" in run.issues[0].message


def test_totals_without_usage_of_steps_are_one_row_of_the_run() -> None:
    run = read_json(ATIF, trajectory(worked(1, None), worked(2, None), final=totals(500, 50, 400, 1.5)))
    (row,) = [each for each in run.requests if each.scope is UsageScope.RUN]
    assert (row.tokens.fresh_in, row.tokens.cache_read, row.cost_usd) == (100, 400, 1.5)
    assert ([each.kind for each in run.threads], codes(run)) == ([ThreadKind.MAIN], ["W_NO_USAGE", "W_USAGE_MEANING"])


def test_a_step_that_asked_no_model_is_no_request_and_one_that_asked_many_says_so() -> None:
    quiet = worked(1, None, llm_call_count=0, tool_calls=[used("call_a", "ls")])
    run = read_json(ATIF, trajectory(quiet, worked(2, llm_call_count=3)))
    assert (len(run.requests), run.calls[0].request_id, run.calls[0].op) == (1, None, ToolOp.LIST)
    assert codes(run) == ["W_UNANSWERED_CALL", "W_USAGE_MEANING"]


def helper(at: int, **more: Any) -> dict[str, Any]:
    return {"session_id": f"session-1-summarization-1-h{at}", "trajectory_path": f"trajectory.h{at}.json", **more}


def handover(at: int, *told: dict[str, Any]) -> dict[str, Any]:
    return {
        "step_id": at, "source": "system", "message": "Handing over.",
        "observation": {"results": [{"subagent_trajectory_ref": list(told)}]},
    }  # fmt: skip


def test_a_context_that_was_replaced() -> None:
    said = {"step_id": 2, "source": "system", "message": "", "extra": {"context_management": {"type": "compaction"}}}
    for step in (said, handover(2, helper(1))):
        (event,) = read_json(ATIF, trajectory(worked(1), step)).events
        assert (event.kind, event.line) == (EventKind.COMPACTION, 2)


def test_sub_agents_that_are_at_hand_are_threads_and_the_others_a_note() -> None:
    main = trajectory(asked(1), worked(2), handover(3, helper(1), helper(2)), final=totals(1_000, 100, 60, 4.0))
    sub = {**trajectory(asked(1), worked(2, 300, 30, 0), final=totals(300, 30, 0, 0.25)), **helper(1)}
    del sub["trajectory_path"]
    run = read_all(trajectory=main, trajectory__h1=sub)
    kinds = {each.thread_id: each for each in run.threads}
    assert sorted(each.kind.value for each in run.threads) == ["main", "subagent", "summariser"]
    assert kinds["session-1-summarization-1-h1"].parent_thread_id == "session-1"
    assert (sums(run)["fresh_in"] + sums(run)["cache_read"], sums(run)["out_total"]) == (1_000, 100)
    (hidden,) = [each for each in run.requests if each.scope is not UsageScope.REQUEST]
    assert (hidden.tokens.prompt, hidden.tokens.out_total, hidden.cost_usd) == (600, 60, 3.5)
    assert codes(run) == ["W_PHANTOM_PARENT", "W_USAGE_MEANING"]
    assert "1 sub-agent's trajectory is" in run.issues[0].message


def test_totals_that_leave_the_sub_agents_out() -> None:
    main = trajectory(asked(1), worked(2), handover(3, helper(1)), final=totals(100, 10, 60))
    sub = {**trajectory(asked(1), worked(2, 300, 30, 0), final=totals(300, 30, 0)), **helper(1)}
    run = read_all(trajectory=main, trajectory__h1=sub)
    assert (sums(run)["requests"], sums(run)["out_total"], codes(run)) == (2, 40, [])


def test_embedded_sub_agents_belong_to_the_call_that_started_them() -> None:
    inner = {**trajectory(asked(1), worked(2, 30, 3, 0)), "trajectory_id": "inner-1"}
    reference = {"source_call_id": "call_a", "content": "done", "subagent_trajectory_ref": {"trajectory_id": "inner-1"}}
    step = worked(1, tool_calls=[used("call_a", "ls")], observation={"results": [reference]})
    run = read_json(ATIF, trajectory(step, subagent_trajectories=[inner], final=totals(130, 13, 60)))
    main, sub = run.threads
    assert (sub.kind, sub.thread_id, sub.parent_thread_id) == (ThreadKind.SUBAGENT, "inner-1", main.thread_id)
    assert (sub.spawned_by, run.calls[0].spawned_thread) == ("call_a", "inner-1")
    assert (sums(run)["requests"], sums(run)["out_total"], codes(run)) == (2, 13, [])


def test_trajectories_that_refer_to_each_other_have_a_beginning() -> None:
    a = {**trajectory(worked(1), handover(2, helper(2))), **helper(1)}
    b = {**trajectory(worked(1), handover(2, helper(1))), **helper(2)}
    run = read_all(trajectory__h1=a, trajectory__h2=b)
    assert sorted(each.kind.value for each in run.threads) == ["main", "subagent"]


def test_a_continuation_alone_and_a_beginning_alone_say_so() -> None:
    first = trajectory(worked(1), continued_trajectory_ref="trajectory.cont-1.json")
    assert codes(read_json(ATIF, first, "trajectory.json")) == ["W_UNSETTLED"]
    second = read_json(ATIF, trajectory(worked(2), final=totals(900, 90, 60)), "trajectory.cont-1.json")
    assert codes(second) == ["W_PHANTOM_PARENT", "W_USAGE_MEANING"]
    assert sums(second)["fresh_in"] + sums(second)["cache_read"] == 900


def test_what_a_trajectory_is_known_by() -> None:
    data = json.dumps(WHOLE, indent=1).encode()
    assert ATIF.sniff(data, "x.json") >= 0.95
    unnamed = json.dumps({**WHOLE, "schema_version": "1.4"}).encode()
    assert ATIF.sniff(unnamed, "a/trajectory.json") > ATIF.sniff(unnamed, "x.json") > 0.5
    assert ATIF.sniff(b'[{"schema_version": "ATIF-v1.0"}]', "x.json") == 0
    assert ATIF.origin(data, "a/x.json").run == ATIF.origin(data, "b/y.json").run == "session-1"
    assert ATIF.origin(data, "x.json").started == 1_777_629_602_000
    nameless = json.dumps({**WHOLE, "session_id": None}).encode()
    assert ATIF.origin(nameless, "a/t.cont-2.json").run == ATIF.origin(nameless, "a/t.json").run
    assert ATIF.origin(nameless, "a/t.json").run != ATIF.origin(nameless, "b/t.json").run


def test_no_words_are_kept() -> None:
    told = worked(2, tool_calls=[used("c", "frobnicate -q")], observation={"results": [{"content": "marmalade"}]})
    run = read_json(ATIF, trajectory(asked(1, "gooseberry"), told))
    for word in ("marmalade", "frobnicate", "gooseberry"):
        assert word not in repr(run)


@given(damaged(json.dumps(WHOLE).encode()))
def test_damaged_files(data: bytes) -> None:
    check_reader(ATIF, data)


WORDS = (
    "steps step_id source agent user system message tool_calls tool_call_id function_name arguments observation results"
    " source_call_id content subagent_trajectory_ref trajectory_id trajectory_path session_id metrics prompt_tokens"
    " completion_tokens cached_tokens final_metrics total_prompt_tokens extra context_management type compaction"
    " is_copied_context subagent_trajectories continued_trajectory_ref"
)


@given(st.lists(almost(*WORDS.split()), max_size=4), almost(*WORDS.split()))
def test_trajectories_that_almost_fit(steps: list[Any], other: Any) -> None:
    for told in (trajectory(*steps), {**trajectory(*steps), "final_metrics": other, "agent": other}, other):
        check_reader(ATIF, json.dumps(told).encode())
    nested = trajectory(worked(1), subagent_trajectories=[other, trajectory(*steps, continued_trajectory_ref=other)])
    check_reader(ATIF, json.dumps(nested).encode())


def test_a_file_without_steps() -> None:
    for data in (b"{}", b"[]", b"", b'{"schema_version": "ATIF-v1.6"}'):
        assert codes(read_bytes(ATIF, data)) == ["E_UNREADABLE"]


def test_recorded_case(cases: Path) -> None:
    names = ("summarised.trajectory.json", "summarised.trajectory.cont-1.json")
    files = {name: (cases / "transcripts" / "atif" / name).read_bytes() for name in names}
    assert all(ATIF.sniff(data, name) >= 0.95 for name, data in files.items())
    run = read_files(ATIF, files)
    found = sums(run)
    assert (found["fresh_in"], found["cache_read"], found["out_total"], found["unattributed"]) == (7_802, 0, 1_030, 0)
    steps = [each for each in run.requests if each.scope is UsageScope.REQUEST]
    assert (len(steps), sum(each.tokens.prompt or 0 for each in steps)) == (7, 2_252 + 4_250)
    (hidden,) = [each for each in run.requests if each.scope is UsageScope.RUN]
    assert (hidden.tokens.prompt, hidden.tokens.out_total) == (1_300, 340)
    assert sum(each.cost_usd or 0 for each in run.requests) == pytest.approx(0.029805)
    assert sorted(each.kind.value for each in run.threads) == ["main", "summariser"]
    assert [each.kind for each in run.events] == [EventKind.COMPACTION]
    assert codes(run) == ["W_PHANTOM_PARENT", "W_USAGE_MEANING"]

"""A number can be explained by the lines that it was counted from."""

from __future__ import annotations

import pytest
from hypothesis import given

from kpis.formulas.recorded.evaluate import metric_ids, metrics
from kpis.formulas.recorded.evidence import EXPLAINED, evidence
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Outcome, RunFacts, Thread, ThreadKind, ToolOp, Turn, UserKind
from tests.kpis.recorded.runs import TABLE, call, compaction, parts, recorded_runs, request, run

COUNTED = (
    "cache_breaks",
    "compactions",
    "implicit_compactions",
    "duplicate_calls",
    "tool_errors",
    "tool_denials",
    "tool_timeouts",
    "tool_interrupts",
    "tool_unanswered",
    "tool_orphans",
    "request_failures",
    "subagents",
)


@given(recorded_runs())
def test_there_are_as_many_lines_as_the_number_says(recorded: RecordedRun) -> None:
    found = metrics(parts(recorded))
    for name in COUNTED:
        told, number = len(list(evidence(recorded, name, TABLE))), found[name].value
        high = found[name].high if name == "duplicate_calls" else None
        assert (number or 0) <= told <= (number or 0 if high is None else high), name
    for name in ("tool_loops", "tool_loop_warnings"):
        told = found[name].value if found[name].value is not None else found[name].detail.get("seen", 0)
        assert len(list(evidence(recorded, name))) == told


@given(recorded_runs())
def test_every_line_is_a_sentence(recorded: RecordedRun) -> None:
    for name in EXPLAINED:
        for file, line, said in evidence(recorded, name, TABLE):
            assert file in (None, "a.jsonl")
            assert line is None or line > 0
            assert said.endswith(".")
            assert "\n" not in said


def said_of(recorded: RecordedRun, name: str) -> list[tuple[int | None, str]]:
    return [(line, said) for _, line, said in evidence(recorded, name, TABLE)]


def test_every_metric_has_lines_to_be_explained_by() -> None:
    # How many were judged and passed is explained by its own verdicts.
    assert set(metric_ids()) - {"success_ratio", "judged"} <= EXPLAINED <= set(metric_ids())


def test_the_largest_parts_of_a_sum_are_its_lines() -> None:
    recorded = run([request(0, read=3), request(1, read=9, fresh=2), request(2)])
    assert said_of(recorded, "cache_read_tokens") == [
        (11, "9 tokens were read from a cache."),
        (1, "3 tokens were read from a cache."),
    ]
    assert [line for line, _ in said_of(recorded, "fresh_tokens")] == [11]
    assert [line for line, _ in said_of(recorded, "tool_calls")] == []


def test_a_number_of_main_threads_is_explained_by_their_prompts_alone() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("s", ThreadKind.SUBAGENT))
    side = request(8, fresh=900, thread_id="s")
    recorded = run([*(request(n, fresh=10 * (n + 1)) for n in range(4)), side], threads=threads)
    for name in ("tokens", "mean", "peak"):
        assert [line for line, _ in said_of(recorded, f"exposed_main_{name}")] == [31, 21, 11, 1]
        assert [line for line, _ in said_of(recorded, f"exposed_other_{name}")] == [81]
    assert [line for line, _ in said_of(recorded, "exposed_main_median")] == [11, 21]
    assert [line for line, _ in said_of(recorded, "exposed_main_p95")] == [21, 31]
    ((_, said),) = said_of(recorded, "exposed_other_median")
    assert said == "A prompt of 900 tokens in a subagent thread, number 1 of 1 by size in this run."


def test_a_loop_that_only_began_is_behind_the_number_of_those() -> None:
    recorded = run([request(n) for n in range(3)], [call(n, n) for n in range(3)])
    assert said_of(recorded, "tool_loops") == []
    ((_, said),) = said_of(recorded, "tool_loop_warnings")
    assert said.endswith("from Read: a loop begun.")
    ((_, said),) = said_of(run([request(n) for n in range(5)], [call(n, n) for n in range(5)]), "tool_loops")
    assert said.endswith("from Read: loop.")


def test_what_came_first_after_a_compaction_is_named() -> None:
    requests = [request(0, read=900), request(1, read=100)]
    calls = [call(0, 1, ToolOp.TEST), call(1, 1, result="y"), call(2, 1, result="z")]
    recorded = run(requests, calls, events=[compaction(5)])
    assert said_of(recorded, "read_after_fold_3") == [(12, "Call 2 after a compaction, Read.")]
    assert said_of(recorded, "read_after_fold_1") == []
    assert [said for _, said in said_of(recorded, "test_after_fold_1")] == ["Call 1 after a compaction, test."]


def test_turns_and_what_ran_side_by_side_have_places() -> None:
    turns = [Turn("main", 0, UserKind.HUMAN, 0), Turn("main", 1, UserKind.HUMAN, 50_000)]
    calls = [call(n, 0, args=f"a{n}", t_start=4_000, t_end=10_000 + 1_000 * n) for n in range(2)]
    recorded = run([request(0, at=4_000), request(1, at=60_000)], calls, turns=turns)
    places = [line for line, _ in said_of(recorded, "time_wall_ms")]
    assert places == [1, 11]
    assert said_of(recorded, "time_tool_overlap_ms") == [(2, "Read took 7.0 s, 6.0 s of it beside others.")]


def test_a_verdict_is_behind_the_score() -> None:
    facts = (RunFacts(success=True, score=0.5, case_id="c", replicate=1, file="a.jsonl"), RunFacts(turns=3))
    assert said_of(run([request(0)], facts=facts), "score_per_action") == [
        (None, "Judged, case c, replicate 1: passed, score 0.5.")
    ]


def test_a_break_names_its_line_its_size_and_its_cause() -> None:
    recorded = run([request(0, write=50_000, at=0), request(1, write=50_500, at=396_000)])
    assert list(evidence(recorded, "cache_breaks")) == [
        (
            "a.jsonl",
            11,
            "50,000 tokens of the prefix were not read from cache, 6.6 min after the request before: pause.",
        )
    ]
    ((_, _, priced),) = evidence(recorded, "cache_break_cost_usd", TABLE)
    assert priced.endswith("pause; $0.1725 above a read.")


def test_a_merged_answer_names_its_line() -> None:
    ((file, line, said),) = evidence(run([request(0, n_lines=4)]), "line_sum_tokens")
    assert (file, line) == ("a.jsonl", 1)
    assert said.startswith("4 lines are one answer")


@pytest.mark.parametrize("name", ["duplicate_calls", "tool_errors", "reread_after_fold_1", "demand_page_miss_rate"])
def test_what_a_call_was_about_is_named_where_names_are_asked_for(name: str) -> None:
    requests = [request(0, read=900), request(1, read=100)]
    calls = [
        call(0, 0, target="/secret/f"),
        call(1, 1, target="/secret/f"),
        call(2, 1, ToolOp.EXEC, "e", target="/secret/f", outcome=Outcome.ERROR),
    ]
    recorded = run(requests, calls, events=[compaction(5)])
    plain = [said for _, _, said in evidence(recorded, name)]
    named = [said for _, _, said in evidence(recorded, name, names=True)]
    assert plain
    assert not any("secret" in said for said in plain)
    assert all("secret" in said for said in named)


def test_a_model_without_a_price_is_named_once() -> None:
    requests = [request(n, fresh=5, model="nobody") for n in range(3)] + [request(9, fresh=5)]
    said = [sentence for _, _, sentence in evidence(run(requests), "cost_computed_usd", TABLE)]
    assert said == ["There is no price for nobody.", "$0.0000, prices of small as of 2026-01-31."]

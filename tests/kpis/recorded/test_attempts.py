"""Verdicts and scores are of attempts: one a run, or one for each case and replicate that its recording names."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.recorded.evaluate import metrics
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import ModelUsage, RunFacts, Tokens
from tests.kpis.recorded.runs import call, parts, request, run


def trials(*passed: bool) -> list[RunFacts]:
    """A simulation each, two of a task."""
    return [
        RunFacts(success=each, score=float(each), case_id=str(at // 2), replicate=at % 2)
        for at, each in enumerate(passed)
    ]


SIX = trials(True, True, True, True, False, False)


def recorded(facts: list[RunFacts], calls: int = 6) -> RecordedRun:
    return run([request(0)], [call(n, 0) for n in range(calls)], facts=facts)


@pytest.mark.parametrize("order", list(permutations(range(6)))[::97])
def test_each_case_of_a_run_counts_in_any_order(order: tuple[int, ...]) -> None:
    found = metrics(parts(recorded([SIX[at] for at in order])))
    success, score = found["success_ratio"], found["score_per_action"]
    assert (success.numerator, success.denominator) == (4, 6)
    assert (score.numerator, score.denominator, score.value) == (4, 12, 4 / 12)


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.lists(st.booleans(), min_size=1, max_size=6))
def test_cases_in_two_files_are_those_of_one(one: list[bool], other: list[bool]) -> None:
    apart = parts(recorded(trials(*one), 2)) + parts(recorded(trials(*other), 3))
    success = metrics(apart)["success_ratio"]
    assert (success.numerator, success.denominator) == (sum(one) + sum(other), len(one) + len(other))


def test_what_names_no_case_is_of_the_only_one_there_is() -> None:
    case = RunFacts(success=True, score=0.5, case_id="a")
    found = metrics(parts(recorded([case, RunFacts(success=False), RunFacts(cost_usd=1.0)])))
    assert (found["success_ratio"].numerator, found["success_ratio"].denominator) == (0, 1)
    whole = metrics(parts(recorded([*SIX, RunFacts(success=False), RunFacts(outcome="done")])))["success_ratio"]
    assert (whole.numerator, whole.denominator) == (4, 7), "a verdict on the run as a whole is one of its own"


def test_an_attempt_passes_if_all_that_judge_it_say_so() -> None:
    said = [RunFacts(success=each, case_id="a", replicate=0) for each in (True, False, True)]
    found = metrics(parts(recorded([*said, RunFacts(case_id="b")])))["success_ratio"]
    assert (found.numerator, found.denominator, found.detail["unjudged"]) == (0, 1, 1)


def test_where_nothing_was_judged_nothing_succeeded_or_failed() -> None:
    found = metrics(parts(recorded([RunFacts(outcome="done")])))
    assert (found["success_ratio"].value, found["success_ratio"].undefined) == (None, "nothing was judged")
    assert (found["score_per_action"].value, found["score_per_action"].detail["attempts"]) == (None, 1)


def test_calls_of_a_run_whose_cases_are_scored_in_part_are_nobodys() -> None:
    found = metrics(parts(recorded([*trials(True), RunFacts(case_id="x")], calls=3)))["score_per_action"]
    assert (found.value, found.low, found.high) == (0.25, 0.25, 1)
    loss = [RunFacts(score=-1.0, case_id="a"), RunFacts(case_id="x")]
    assert metrics(parts(recorded(loss, calls=3)))["score_per_action"].low == -1
    nothing = metrics(parts(recorded([*trials(False), RunFacts(case_id="x")], calls=3)))["score_per_action"]
    assert (nothing.value, nothing.low) == (0, None), "nothing over anything is nothing"


TOLD = RunFacts(
    success=True,
    score=1.0,
    cost_usd=0.25,
    denied=2,
    by_model=(ModelUsage("small", Tokens(out_total=9)),),
    file="a.jsonl",
)


def test_what_is_only_shown_again_costs_and_passes_nothing_more() -> None:
    first = parts(run([request(0, out=9)], facts=[TOLD]))
    again = parts(run([request(0, out=9, copied=True)], facts=[TOLD]))
    names = ("cost_reported_usd", "success_ratio", "score_per_action", "unlogged_tokens", "cost_gap_usd")
    one, both = metrics(first), metrics(first + again)
    assert {name: both[name].value for name in names} == {name: one[name].value for name in names}
    assert both["success_ratio"].denominator == both["success_ratio"].detail["attempts"] == 1
    assert both["tool_denials"].detail == one["tool_denials"].detail


def test_a_file_that_only_repeats_another_of_its_run_says_nothing_more() -> None:
    copy = request(1, out=9, copied=True, file="b.jsonl")
    second = RunFacts(success=True, score=1.0, cost_usd=0.25, file="b.jsonl")
    found = metrics(parts(run([request(0, out=9), copy], facts=[TOLD, second])))
    assert found["cost_reported_usd"].value == 0.25
    new = metrics(parts(run([request(0, out=9), request(1, out=9, file="b.jsonl")], facts=[TOLD, second])))
    assert new["cost_reported_usd"].value == 0.5

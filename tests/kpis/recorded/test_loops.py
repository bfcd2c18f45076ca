"""Loops are equal calls with equal results; what only looks like one is not."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.loops import CycleKind, cycles
from kpis.formulas.recorded.view import view_of
from kpis.terms.trace import ToolCall, ToolOp
from tests.kpis.recorded.runs import call, parts, request, run


def steps(*said: tuple[str, str | None], **more: object) -> list[ToolCall]:
    return [call(n, n, ToolOp.EXEC, args, result, **more) for n, (args, result) in enumerate(said)]  # type: ignore[arg-type]


def found(calls: list[ToolCall]) -> list[tuple[CycleKind, int, int]]:
    recorded = run([request(n) for n in range(len(calls))], calls)
    return [(cycle.kind, cycle.period, cycle.rounds) for cycle in cycles(view_of(recorded))]


@pytest.mark.parametrize(("times", "warnings", "loops"), [(2, 0, 0), (3, 1, 0), (4, 1, 0), (5, 0, 1), (14, 0, 1)])
def test_three_rounds_warn_and_five_are_a_loop(times: int, warnings: int, loops: int) -> None:
    calls = steps(*[("a", "x")] * times)
    got = metrics(parts(run([request(n) for n in range(times)], calls)))
    assert (got["tool_loop_warnings"].value, got["tool_loops"].value) == (warnings, loops)
    assert got["looped_step_ratio"].value == (pytest.approx((times - 1) / times) if warnings or loops else 0)


def test_one_tool_called_five_times_differently_is_no_loop() -> None:
    assert not found(steps(*[(f"a{n}", "x") for n in range(5)]))


def test_equal_calls_with_other_results_are_polling() -> None:
    assert found(steps(*[("a", f"x{n}") for n in range(5)])) == [(CycleKind.POLLING, 1, 5)]


def test_a_tool_that_waits_is_polling_whatever_it_says() -> None:
    calls = steps(*[("a", "x")] * 5, polling=True)
    assert found(calls) == [(CycleKind.POLLING, 1, 5)]
    got = metrics(parts(run([request(n) for n in range(5)], calls)))
    assert (got["polling_runs"].value, got["polling_calls"].value, got["tool_loops"].value) == (1, 5, 0)


def test_without_results_nothing_is_proven() -> None:
    assert found(steps(*[("a", None)] * 5)) == [(CycleKind.UNPROVEN, 1, 5)]


@pytest.mark.parametrize("period", [1, 2, 3, 4, 5])
def test_cycles_of_any_short_period_are_found_by_their_shortest(period: int) -> None:
    said = [(f"a{n}", f"x{n}") for n in range(period)] * 5
    assert found(steps(*said)) == [(CycleKind.LOOP, period, 5)]


def test_a_longer_period_is_not_looked_for() -> None:
    assert not found(steps(*[(f"a{n}", "x") for n in range(6)] * 5))


def test_calls_of_one_request_are_a_multiset() -> None:
    calls = []
    for n in range(3):
        pair = [call(2 * n, n, args="a"), call(2 * n + 1, n, args="b")]
        calls += pair if n != 1 else pair[::-1]
    assert found(calls) == [(CycleKind.LOOP, 1, 3)]


def test_three_repeats_far_apart_are_no_loop() -> None:
    between = [(f"b{n}", "x") for n in range(20)]
    assert not found(steps(("a", "x"), *between, ("a", "x"), *[(f"c{n}", "x") for n in range(20)], ("a", "x")))


def test_arguments_that_are_not_recorded_match_nothing() -> None:
    assert not found([call(n, n, args=None) for n in range(5)])


def test_the_base_rate_is_told() -> None:
    got = metrics(parts(run([request(0)], steps(("a", "x")))))["tool_loops"]
    assert got.value == 0
    assert got.notes == ("0 in 1 requests that call tools.",)

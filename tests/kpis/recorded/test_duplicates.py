"""Duplicate work lies between two bounds, which the environment decides where it is recorded."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.terms.trace import Outcome, Thread, ThreadKind, ToolCall, ToolOp
from tests.kpis.recorded.runs import call, parts, request, run


def bounds(*calls: ToolCall, **more: object) -> tuple[int, int]:
    found = parts(run([request(n) for n in range(len(calls))], list(calls), **more)).duplicates
    return found.lower, found.upper


READ, AGAIN = call(0, 0), call(9, 9)


def test_a_read_repeated_with_nothing_in_between_is_one() -> None:
    assert bounds(READ, AGAIN) == (1, 1)


def test_an_edit_in_between_makes_it_none() -> None:
    assert bounds(READ, call(1, 1, ToolOp.WRITE, "w"), AGAIN) == (0, 0)


def test_a_command_of_unknown_effect_opens_the_range() -> None:
    assert bounds(READ, call(1, 1, ToolOp.EXEC, "e"), AGAIN) == (0, 1)


@pytest.mark.parametrize(("mutates", "expected"), [(False, (1, 1)), (True, (0, 0))])
def test_a_command_whose_effect_is_known_closes_it(mutates: bool, expected: tuple[int, int]) -> None:
    assert bounds(READ, call(1, 1, ToolOp.EXEC, "e", mutates=mutates), AGAIN) == expected


def test_a_test_run_twice_is_only_perhaps_work_done_twice() -> None:
    assert bounds(call(0, 0, ToolOp.TEST), call(1, 1, ToolOp.TEST)) == (0, 1)


def test_a_write_repeated_is_never_work_done_twice() -> None:
    assert bounds(call(0, 0, ToolOp.WRITE), call(1, 1, ToolOp.WRITE)) == (0, 0)


def test_polling_is_counted_apart() -> None:
    calls = [call(n, n, polling=True) for n in range(4)]
    found = parts(run([request(n) for n in range(4)], calls)).duplicates
    assert (found.calls, found.polling, found.lower, found.upper) == (0, 4, 0, 0)
    assert metrics(parts(run([], calls)))["duplicate_call_ratio"].value is None


@pytest.mark.parametrize(
    ("left", "found", "expected"),
    [("v1", "v1", (1, 1)), ("v1", "v2", (0, 0)), ("v1", None, (0, 1)), (None, "v2", (0, 1))],
)
def test_a_recorded_environment_decides(left: str | None, found: str | None, expected: tuple[int, int]) -> None:
    first = call(0, 0, environment_after=left)
    second = call(9, 9, environment_before=found)
    assert bounds(first, call(1, 1, ToolOp.EXEC, "e"), second) == expected


def test_what_was_never_answered_is_not_repeated() -> None:
    assert bounds(call(0, 0, outcome=Outcome.UNANSWERED), AGAIN) == (0, 0)
    assert bounds(call(0, 0, outcome=Outcome.ERROR), AGAIN) == (1, 1)


def test_another_operation_or_thread_is_another_call() -> None:
    assert bounds(READ, call(1, 1, ToolOp.SEARCH)) == (0, 0)
    assert bounds(READ, call(1, 1, thread_id="side")) == (0, 0)


def test_a_write_of_another_thread_counts_where_times_are_known() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("side", ThreadKind.SUBAGENT, "main"))
    edit = call(5, 5, ToolOp.WRITE, "w", thread_id="side", t_start=20)
    first, second = call(0, 0, t_start=10), call(1, 1, t_start=30)
    assert bounds(first, second, edit, threads=threads) == (0, 0)


def test_both_bounds_are_told_and_the_value_is_the_lower_one() -> None:
    calls = [READ, call(1, 1, ToolOp.EXEC, "e"), AGAIN, call(10, 10)]
    found = metrics(parts(run([], calls)))
    assert (found["duplicate_calls"].value, found["duplicate_calls"].low, found["duplicate_calls"].high) == (1, 1, 2)
    ratio = found["duplicate_call_ratio"]
    assert (ratio.value, ratio.low, ratio.high) == (0.25, 0.25, 0.5)
    assert "lower bound" in ratio.notes[0]

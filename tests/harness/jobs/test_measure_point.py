"""The steps of one point, told by the questions that it asks."""

from __future__ import annotations

from typing import Any

import pytest

from harness.jobs.measure_point import Late, Outcome, measure
from harness.jobs.modes import DEFAULT, QUICK
from harness.jobs.plan import PlannedPoint
from kpis.registry import load
from kpis.terms.reading import Reason, Undefined

POINT = {"objective": "greedy", "n": "1000"}
TIMED = PlannedPoint(load().get("planner_optimize_ns"), POINT, ("reference", "r"), None, "p")
COUNT = PlannedPoint(load().get("denies"), {}, ("reference", "r"), None, "p")

FOUND = {"slice": "batch", "engine": "none", "source": None, "touched": {"a.py": "0"}, "seconds": 0.1}
TALLY = {"tally": {"numerator": 3, "denominator": None, "reasons": {}}, "seconds": 0.1}


class Answers:
    """Answers questions from a table and writes down what was asked."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table
        self.asked: list[tuple[str, int, int | None]] = []

    def __call__(self, task: str, index: int, extra: Any) -> dict[str, Any]:
        self.asked.append((task, index, extra.get("loops")))
        answer = self.table[task]
        return answer(index, extra) if callable(answer) else answer


def process(value_ns: float = 1e6) -> Any:
    return lambda _index, extra: {"values_ns": [value_ns] * extra["values"], "process_ns": value_ns, "seconds": 0.2}


def last(outcomes: Any) -> Outcome:
    return list(outcomes)[-1]


def test_a_timed_point_discovers_calibrates_and_takes_a_process_a_sample() -> None:
    ask = Answers({"discover": FOUND, "calibrate": {"loops": 8, "seconds": 0.1}, "measure": process()})
    outcome = last(measure(TIMED, QUICK, ask))
    assert ask.asked == [
        ("discover", 0, None), ("calibrate", 0, None), ("measure", 1, 8), ("measure", 2, 8), ("measure", 3, 8),
    ]  # fmt: skip
    assert len(outcome.processes) == 3
    assert (outcome.engine, outcome.touched) == ("none", {"a.py": "0"})


def test_a_calibration_on_a_stalled_core_is_made_good() -> None:
    ask = Answers({"discover": FOUND, "calibrate": {"loops": 2, "seconds": 0.1}, "measure": process(1e6)})
    outcome = last(measure(TIMED, QUICK, ask))
    assert [loops for task, _, loops in ask.asked if task == "measure"] == [2, 4, 4, 4]
    assert [process["loops"] for process in outcome.processes] == [4, 4, 4]


def test_a_count_is_counted_in_two_processes() -> None:
    ask = Answers({"discover": TALLY, "tally": TALLY})
    assert last(measure(COUNT, QUICK, ask)).tally == TALLY["tally"]
    assert [task for task, *_ in ask.asked] == ["discover", "tally"]


def test_two_counts_that_differ_are_no_count() -> None:
    other = {**TALLY, "tally": {**TALLY["tally"], "numerator": 4}}
    outcome = last(measure(COUNT, QUICK, Answers({"discover": TALLY, "tally": other})))
    assert outcome.undefined == ("not-repeatable", "Two processes counted differently (numerator): 3 and 4.")


@pytest.mark.parametrize("task", ["discover", "calibrate", "measure"])
def test_what_a_worker_says_is_undefined_voids_the_point(task: str) -> None:
    gone = {"undefined": {"reason": "error", "detail": "broken"}, "seconds": 0.1}
    table = {"discover": FOUND, "calibrate": {"loops": 8, "seconds": 0.1}, "measure": process(), task: gone}
    outcome = last(measure(TIMED, QUICK, Answers(table)))
    assert outcome.undefined == ("error", "broken")
    assert not outcome.processes


def test_a_limit_after_three_processes_leaves_a_thin_reading_and_before_them_none() -> None:
    late = {"undefined": {"reason": "timeout", "detail": "late"}, "seconds": 99}
    common = {"discover": FOUND, "calibrate": {"loops": 8, "seconds": 0.1}}
    fourth = Answers({**common, "measure": lambda index, extra: process()(index, extra) if index < 4 else late})
    outcome = last(measure(TIMED, DEFAULT, fourth))
    assert (len(outcome.processes), outcome.stopped_early, outcome.undefined) == (3, True, None)
    second = Answers({**common, "measure": lambda index, extra: process()(index, extra) if index < 2 else late})
    outcome = last(measure(TIMED, DEFAULT, second))
    assert outcome.undefined == ("timeout", "late")


def test_what_is_known_to_be_undefined_starts_no_worker() -> None:
    undefined = Undefined(Reason.WORKLOAD_KIND, "It needs a session.")
    point = PlannedPoint(TIMED.kpi, {}, ("reference", "r"), None, "p", undefined)
    ask = Answers({})
    assert last(measure(point, QUICK, ask)).undefined == ("workload-kind", "It needs a session.")
    assert not ask.asked


def test_a_spent_budget_leaves_the_point_where_it_is() -> None:
    def late(_index: int, _extra: Any) -> Any:
        raise Late

    steps = measure(TIMED, QUICK, Answers({"discover": FOUND, "calibrate": late}))
    with pytest.raises(Late):
        list(steps)

"""What stands beside a clock reading: each threshold from both sides."""

from __future__ import annotations

from typing import Any

import pytest

from harness.jobs import notices
from harness.jobs.measure_point import Outcome
from harness.jobs.modes import DEFAULT, QUICK, budgeted
from harness.jobs.plan import PlannedPoint
from kpis.registry import load as catalog

MEAN = PlannedPoint(catalog().get("planner_optimize_ns"), {}, ("reference", "r"), None, "p")
MEDIAN = PlannedPoint(catalog().get("tool_call_p50_ns"), {}, ("reference", "r"), None, "p")


def codes(point: PlannedPoint = MEAN, *, values: list[float] | None = None, **process: Any) -> list[str]:
    values = values or [1000.0] * 12
    one = {"overhead_share": 0.001, "cpu_ns": [1000.0], "values_ns": [1000.0, 1000.0], **process}
    outcome = Outcome(processes=[one] * len(values))
    return [notice.code.value for notice in notices.timed(point, outcome, DEFAULT, values)]


def test_a_sound_reading_has_nothing_beside_it() -> None:
    assert codes() == []


@pytest.mark.parametrize(
    ("below", "above", "code"),
    [
        ({"overhead_share": 0.0099}, {"overhead_share": 0.0101}, "clock-share"),
        ({"cpu_ns": [901.0]}, {"cpu_ns": [899.0]}, "off-cpu"),
        ({"values_ns": [1190.0, 1000.0, 1000.0]}, {"values_ns": [1210.0, 1000.0, 1000.0]}, "first-slow"),
    ],
)
def test_each_threshold_from_both_sides(below: dict[str, Any], above: dict[str, Any], code: str) -> None:
    assert code not in codes(**below)
    assert code in codes(**above)


def test_waiting_is_told_of_means_only() -> None:
    assert codes(MEDIAN, cpu_ns=[1.0]) == []


def test_spread_is_the_middle_half_so_that_one_displaced_process_is_none() -> None:
    assert codes(values=[1000.0] * 11 + [3000.0]) == []
    assert codes(values=[950.0] * 6 + [1060.0] * 6) == ["spread"]
    assert codes(values=[950.0] * 6 + [1040.0] * 6) == []


def test_few_processes_are_told_with_what_would_help() -> None:
    said = {effort.mode.value: notices.too_few(3, effort)[0].message for effort in (QUICK, DEFAULT, budgeted(1))}
    assert "leave out --quick" in said["quick"]
    assert "--budget" in said["budget"]
    assert "--" not in said["default"]
    assert notices.too_few(6, QUICK) == []


def test_an_unchecked_slice_and_a_limit_are_told() -> None:
    one = {"overhead_share": 0.001, "cpu_ns": [1000.0], "values_ns": [1000.0]}
    outcome = Outcome(processes=[one] * 12, checked=False, stopped_early=True)
    assert [notice.code.value for notice in notices.timed(MEAN, outcome, DEFAULT, [1000.0] * 12)] == [
        "unchecked",
        "short",
    ]


def load(number: float | None) -> dict[str, Any]:
    return {"load_average": None if number is None else [number, 0, 0]}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (0.9, 1.9, False),
        (1.1, 1.0, True),
        (0.1, 2.1, True),
        (None, 2.1, True),
        (1.1, None, True),
        (None, None, False),
    ],
)
def test_a_busy_machine_is_told_by_the_higher_of_before_and_after(
    before: float | None, after: float | None, told: bool
) -> None:
    busy = notices.loaded(load(before), 2, load(after))
    assert (busy is not None) is told
    if busy is not None:
        assert busy.code.value == "loaded"
        assert before is None or f"{before:g} before the run" in busy.message
        assert after is None or f"{after:g} after it" in busy.message


def test_the_load_after_is_that_of_now_where_it_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices.machine, "noise", lambda: load(7.5))
    busy = notices.loaded(load(0.0), 2)
    assert busy is not None
    assert "0 before the run and 7.5 after it" in busy.message


@pytest.mark.parametrize("point", [MEAN, MEDIAN])
@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.013, ("small part", "1.3%")),
        (0.0499, ("small part", "5.0%")),
        (0.0501, ("is 5.0% of",)),
        (0.1999, ("is 20.0% of",)),
        (0.24, ("Distrust the value: 24.0%", "a quarter of it, is the clock's")),
        (0.6, ("Distrust the value: 60.0%", "most of it, is the clock's")),
    ],
)
def test_the_clock_s_share_is_worded_by_its_size(point: PlannedPoint, share: float, words: tuple[str, ...]) -> None:
    one = {"overhead_share": share, "cpu_ns": [1000.0], "values_ns": [1000.0, 1000.0]}
    (said,) = notices.timed(point, Outcome(processes=[one] * 12), DEFAULT, [1000.0] * 12)
    assert said.code.value == "clock-share"
    assert all(word in said.message for word in words)
    assert ("small" in said.message) is (share <= notices.CLOCK_PLAIN)
    assert ("Distrust" in said.message) is (share > notices.CLOCK_LARGE)
    assert ("taken off" in said.message) is (point is MEDIAN)

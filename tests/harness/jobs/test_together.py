"""One opening that serves several counts: asked once, kept for each, and never mixed up or believed blindly."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.jobs.modes import QUICK
from harness.jobs.plan import Plan, make_plan
from harness.jobs.run import Interrupted, run
from harness.jobs.together import beside
from harness.measure.answer import Answer
from harness.project import Project
from harness.record.run import Selection
from kpis.registry import load

RATES = ["keep_rate", "suite_green_rate", "truth_clean_rate"]
HELD = {"keep_rate": 3, "suite_green_rate": 7, "truth_clean_rate": 6, "vs_main_freshness": 1}
SELECTION = Selection(all=False, layers=[], kpis=RATES, params={}, runtimes=[], workloads=[])


def plan_of(*kpis: str, runtimes: tuple[str, ...] = ("reference",)) -> Plan:
    made = [(name, "seams.runtimes.reference:make") for name in runtimes]
    return make_plan(load(), kpis=list(kpis), params={}, runtimes=made, effort=QUICK)


def tally(kpi: str) -> dict[str, Any]:
    rate = kpi != "vs_main_freshness"
    more = {"reasons": {}, "excluded": 0, "knobs": None, "basis": "count", "source": "synthetic"}
    return {"numerator": HELD[kpi], "denominator": 9 if rate else None, **more, "evidence": [], "clocked": []}


class Together:
    """Answers as a worker whose probe has ``open_all``; ``spoil`` is done to what it hands over besides."""

    def __init__(self, spoil: Any = lambda others: others, stop_at: int | None = None) -> None:
        self.spoil = spoil
        self.stop_at = stop_at
        self.asked: list[tuple[str, str, int]] = []

    def __call__(self, job: dict[str, Any], *, seed: int, **more: Any) -> Answer:
        if len(self.asked) == self.stop_at:
            raise Interrupted(15)
        self.asked.append((job["kpi"], job["task"], seed))
        result: dict[str, Any] = {"tally": tally(job["kpi"])}
        others = {name: {"tally": tally(name)} for name in job["beside"] if name in RATES and job["kpi"] in RATES}
        if others:
            result["beside"] = self.spoil(others)
        if job["task"] == "discover":
            result["touched"] = [__file__]
        return Answer(result=result, seconds=0.01)


def do(root: Path, plan: Plan, launcher: Together, *, resume: bool = False) -> dict[str, Any]:
    told = {"selection": SELECTION, "argv": ["run"], "resume": resume, "launch": launcher}
    return {each.kpi: each for each in run(Project(root), load(), plan, **told).run.readings}


def test_one_opening_in_each_of_two_processes_serves_every_rate(tmp_path: Path) -> None:
    launcher = Together()
    readings = do(tmp_path, plan_of(*RATES, "vs_main_freshness"), launcher)
    assert launcher.asked == [
        (kpi, task, seed)
        for kpi in ("keep_rate", "vs_main_freshness")
        for task, seed in (("discover", 1), ("tally", 2))
    ]
    assert {kpi: reading.numerator for kpi, reading in readings.items()} == HELD
    touched = [reading.touched for reading in readings.values()]
    assert None not in touched
    assert len(set(touched)) == 1


CLOCKED = ["net_value_add_vs_naive", "net_value_add_vs_tuned", "turn_tax_A_over_B"]


class Clocked(Together):
    """Answers as a worker of which every process times three ratios in the same rounds."""

    def __call__(self, job: dict[str, Any], *, seed: int, **more: Any) -> Answer:
        self.asked.append((job["kpi"], job["task"], seed))
        if job["task"] == "discover":
            found = {"slice": "parts", "engine": "none", "source": "synthetic", "touched": [__file__]}
            return Answer(result=found, seconds=0.01)
        sides = dict(zip(CLOCKED, ((60, 10), (20, 10), (60, 20)), strict=True))
        ratios = {
            kpi: {"ratio": {"numerator": up * seed, "denominator": low * seed, "evidence": []}, "rounds": {"a": [seed]}}
            for kpi, (up, low) in sides.items()
        }
        others = {kpi: ratios[kpi] for kpi in job["beside"] if kpi in ratios}
        return Answer(result={**ratios[job["kpi"]], "beside": self.spoil(others)}, seconds=0.01)


def clocked_plan() -> Plan:
    made = [("reference", "seams.runtimes.reference:make")]
    return make_plan(load(), kpis=CLOCKED, params={"of": ["clock"]}, runtimes=made, effort=QUICK)


def test_processes_that_time_several_ratios_are_the_processes_of_each(tmp_path: Path) -> None:
    launcher = Clocked()
    readings = do(tmp_path, clocked_plan(), launcher)
    assert [(kpi, seed) for kpi, task, seed in launcher.asked if task == "ratio"] == [
        (CLOCKED[0], 2),
        (CLOCKED[0], 3),
        (CLOCKED[0], 4),
    ]
    assert [readings[kpi].value for kpi in CLOCKED] == [6.0, 2.0, 3.0]
    assert [readings[kpi].numerator for kpi in CLOCKED] == [180, 60, 180]


def test_a_ratio_that_was_not_handed_over_whole_is_asked_for(tmp_path: Path) -> None:
    launcher = Clocked(lambda others: {name: {"ratio": {"numerator": 1}} for name in others})
    readings = do(tmp_path, clocked_plan(), launcher)
    assert len([task for _, task, _ in launcher.asked if task == "ratio"]) == 9
    assert [readings[kpi].value for kpi in CLOCKED] == [6.0, 2.0, 3.0]


def test_what_is_handed_over_is_kept_when_the_run_is_interrupted(tmp_path: Path) -> None:
    plan = plan_of(*RATES)
    first = Together(stop_at=1)
    do(tmp_path, plan, first)
    second = Together()
    readings = do(tmp_path, plan, second, resume=True)
    assert len(first.asked) + len(second.asked) == 2
    assert all(readings[kpi].numerator == HELD[kpi] for kpi in RATES)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda others: None,
        lambda others: [],
        dict.fromkeys,
        lambda others: {name: {} for name in others},
        lambda others: {name: {"tally": {"numerator": 1}} for name in others},
        lambda others: {name: {"undefined": "no"} for name in others},
        lambda others: {"denies": {"tally": tally("keep_rate")}},
    ],
    ids=["none", "a list", "nothing each", "empty", "a part of a tally", "no reason", "a stranger"],
)
def test_what_is_no_answer_is_asked_for(tmp_path: Path, spoil: Any) -> None:
    launcher = Together(spoil)
    readings = do(tmp_path, plan_of(*RATES), launcher)
    assert len(launcher.asked) == 6
    assert all(readings[kpi].numerator == HELD[kpi] for kpi in RATES)


def test_two_openings_that_differ_are_no_count_for_each_that_differs(tmp_path: Path) -> None:
    def less(others: dict[str, Any]) -> dict[str, Any]:
        if len(launcher.asked) == 2:  # the second process
            others = copy.deepcopy(others)
            others["truth_clean_rate"]["tally"]["numerator"] = 5
        return others

    launcher = Together(less)
    readings = do(tmp_path, plan_of(*RATES), launcher)
    assert readings["truth_clean_rate"].undefined.reason.value == "not-repeatable"
    assert readings["suite_green_rate"].numerator == HELD["suite_green_rate"]


def test_others_are_of_one_probe_point_runtime_and_workload_and_none_is_timed() -> None:
    plan = plan_of(*RATES, "escalate_after_k", "rsi_cycle_ns", "fold_results_ns", runtimes=("reference", "again"))
    groups = beside(plan.points)
    for point in plan.points:
        mates = [other.kpi.id for other in groups.get(point.key, [])]
        assert sorted(mates) == sorted(set(RATES) - {point.kpi.id} if point.kpi.id in RATES else [])
        assert all(other.runtime == point.runtime for other in groups.get(point.key, []))
    assert not any(point.key in groups for point in plan.points if point.kpi.timed)
    points = plan_of("prefix_tokens_saved").points
    assert len(points) == 2
    assert not any(beside(points).values()), "two points of one KPI are two openings"
    elsewhere = replace(points[0], kpi=load().get("cross_uplift"))
    assert not any(beside([points[0], elsewhere]).values()), "another seam is another runtime object"

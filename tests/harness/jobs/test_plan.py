"""What is planned of slopes: one a workload, each from all its lengths of history, and none of a narrowed selection."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.cli.exits import Exit
from harness.cli.run_end import show
from harness.formats.workload import LoadedWorkload
from harness.jobs.modes import QUICK
from harness.jobs.plan import Plan, make_plan, named
from harness.jobs.run import Finished, run
from harness.measure.answer import Answer
from harness.measure.clock import Workload
from harness.project import Project
from kpis.errors import SelectionError
from kpis.growth import HISTORY, growth_points, is_growth
from kpis.registry import Catalog, extend, load
from tests.harness.cli.own import SEAM, row
from tests.harness.jobs.test_run_job import SELECTION, answer

RUNTIMES = [("reference", "seams.runtimes.reference:make")]
GROWING = ["turn_spawn_ns_growth", "planner_optimize_ns_growth", "turn_reap_ns_growth"]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nobody else is at work, whatever this one is doing."""
    monkeypatch.setattr("harness.measure.machine.noise", lambda: {"load_average": [0.0, 0.0, 0.0]})


def plan_of(catalog: Catalog, *kpis: str, layers: list[str] | None = None, **more: Any) -> Plan:
    more = {"params": {}, "runtimes": RUNTIMES, "effort": QUICK, **more}
    return make_plan(catalog, layers=layers or [], kpis=list(kpis), **more)


def slopes(plan: Plan) -> list[str]:
    """The slopes of ``plan``; each of them has every length of history that is due, and has it once."""
    found = [point for point in plan.derived if is_growth(point.kpi)]
    for growth in found:
        mine = [
            int(point.params[HISTORY])
            for point in plan.points
            if point.kpi.id == growth.kpi.inputs[0] and HISTORY in point.params
            if (point.runtime, point.workload) == (growth.runtime, growth.workload)
        ]
        source = next(point.kpi for point in plan.points if point.kpi.id == growth.kpi.inputs[0])
        assert Counter(mine) == {int(at[HISTORY]): 1 for at in growth_points(source)}
    return [growth.kpi.id for growth in found]


class Launcher:
    """Answers every job, a time by its length of history: linear on one workload and quadratic on another."""

    def __call__(self, job: dict[str, Any], *, seed: int, limit: float, folder: Path, cwd: Path) -> Answer:
        found = answer(job, seed)
        if job["task"] == "measure" and HISTORY in job["params"]:
            power = 2 if job["workload_name"] == "two" else 1
            found["process_ns"] = 1000.0 * int(job["params"][HISTORY]) ** power
        return Answer(result=found, seconds=0.01)


def done(root: Path, catalog: Catalog, plan: Plan) -> Finished:
    return run(Project(root), catalog, plan, selection=SELECTION, argv=["run"], launch=Launcher())


@pytest.mark.parametrize(
    ("layer", "param", "left"),
    [
        ("turn", None, GROWING),
        ("turn", ("phase", "plan"), ["planner_optimize_ns_growth", "turn_reap_ns_growth"]),
        ("turn", ("phase", "all"), GROWING),
        ("turn", ("objective", "exact"), ["turn_spawn_ns_growth", "turn_reap_ns_growth"]),
        ("turn", ("n", "100"), ["turn_spawn_ns_growth", "turn_reap_ns_growth"]),
        ("turn", ("payload", "injection"), ["turn_spawn_ns_growth", "planner_optimize_ns_growth"]),
        ("turn", ("history", "10"), []),
        ("syscall", ("outcome", "deny"), []),
        ("syscall", ("outcome", "allow"), ["submit_latency_growth"]),
    ],
)
def test_a_narrowed_run_has_the_slopes_whose_lengths_are_all_there_and_ends_with_0(
    layer: str, param: tuple[str, str] | None, left: list[str], tmp_path: Path
) -> None:
    plan = plan_of(load(), layers=[layer], params={} if param is None else {param[0]: [param[1]]})
    assert slopes(plan) == left
    growing = {point.kpi.id for point in plan.points if HISTORY in point.kpi.sweep}
    points = tuple(point for point in plan.points if point.kpi.id in growing)
    derived = tuple(point for point in plan.derived if is_growth(point.kpi))
    finished = done(tmp_path, load(), Plan(points, derived, plan.effort))
    assert [reading.kpi for reading in finished.run.readings if reading.kpi.endswith("_growth")] == left
    assert show(None, load(), finished, []) is Exit.OK


def test_a_slope_that_was_asked_for_by_its_name_is_not_dropped_in_silence() -> None:
    asked = ["turn_spawn_ns_growth", "planner_optimize_ns"]
    with pytest.raises(SelectionError) as caught:
        plan_of(load(), *asked, params={"history": ["10", "100"]})
    assert "turn_spawn_ns_growth is read from turn_spawn_ns at history = 10, 100, 1000, and --param" in str(
        caught.value
    )
    assert str(caught.value).endswith("`python -m harness run --kpi turn_spawn_ns --dry-run`.")
    assert slopes(plan_of(load(), *asked, params={"n": ["100"]})) == ["turn_spawn_ns_growth"]


def own(*more: str) -> Catalog:
    """The catalog with a row that is timed on a trace at three lengths of history."""
    lines = ['params = { history = ["10", "100", "1000"] }', 'takes = "calls"', *more]
    return extend(load(), "mine.toml", SEAM + row("mine_ns", "bench:Mine").rstrip() + "\n" + "\n".join(lines) + "\n")


def recorded(name: str, kind: str = "calls") -> LoadedWorkload:
    return LoadedWorkload(Workload(name, kind, name * 4, "replay", {"calls": []}), {})


def test_each_workload_has_a_slope_of_its_own(tmp_path: Path) -> None:
    catalog = own()
    plan = plan_of(catalog, "mine_ns", "mine_ns_growth", workloads=[recorded("one"), recorded("two")])
    assert slopes(plan) == ["mine_ns_growth"] * 2
    finished = done(tmp_path, catalog, plan)
    found = {reading.workload: reading for reading in finished.run.readings if reading.kpi == "mine_ns_growth"}
    assert {name: reading.value for name, reading in found.items()} == {"one": 1.0, "two": 2.0}
    for reading in found.values():
        lengths = [line.partition(":")[0] for line in reading.evidence]
        assert lengths == ["history 10", "history 100", "history 1000"]


def test_without_a_workload_the_slope_is_that_of_the_one_that_ships() -> None:
    plan = plan_of(own(), "mine_ns_growth")
    assert slopes(plan) == ["mine_ns_growth"]
    (growth,) = plan.derived
    assert growth.workload is not None
    assert growth.workload.workload.name == "desk.calls"


def test_a_workload_of_another_kind_leaves_the_slope_as_open_as_its_points_and_nothing_went_wrong(
    tmp_path: Path,
) -> None:
    catalog = own()
    plan = plan_of(catalog, "mine_ns", "turn_reap_ns_growth", "mine_ns_growth", workloads=[recorded("s", "session")])
    finished = done(tmp_path, catalog, plan)
    said = {reading.kpi: reading.undefined.reason.value for reading in finished.run.readings if reading.undefined}
    assert said == {"mine_ns": "workload-kind", "mine_ns_growth": "workload-kind"}
    assert show(None, catalog, finished, []) is Exit.OK


def test_a_recording_that_has_no_lengths_has_no_slope() -> None:
    catalog = own('replay_params = { history = "trace" }')
    assert slopes(plan_of(catalog, "mine_ns", layers=["turn"], workloads=[recorded("one")])) == GROWING
    with pytest.raises(SelectionError, match="a replayed workload leaves some of these out"):
        plan_of(catalog, "mine_ns_growth", workloads=[recorded("one")])


def test_a_point_is_named_by_its_kpi_and_its_parameters() -> None:
    assert named("denies", {}) == "denies"
    assert named("a_ns", {"n": "1", "m": "x"}) == "a_ns[n=1,m=x]"

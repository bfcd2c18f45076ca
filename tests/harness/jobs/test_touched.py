"""Whose files are whose: of what workers say that they touched, the sets of a run and the set of each reading."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from harness.jobs.asking import digest
from harness.jobs.measure_point import Outcome
from harness.jobs.modes import QUICK
from harness.jobs.plan import Plan, PlannedPoint, make_plan
from harness.jobs.touched import Touched, made_of, touched_of
from harness.measure.instrument import INSTRUMENT
from harness.project import REFERENCE, Project
from kpis.growth import HISTORY
from kpis.registry import load

CATALOG = load()
PLAN = make_plan(
    CATALOG,
    kpis=["gate_primary", "tool_call_p99_ns", "denies", "planner_optimize_ns", "turn_spawn_ns", "turn_spawn_ns_growth"],
    params={},
    runtimes=[("reference", REFERENCE)],
    effort=QUICK,
)


def point(plan: Plan, kpi: str, **params: str) -> PlannedPoint:
    every = (*plan.points, *plan.derived)
    return next(each for each in every if each.kpi.id == kpi and params.items() <= each.params.items())


def files(touched: Touched, of: PlannedPoint) -> set[str] | None:
    number = touched.set_of(of)
    return None if number is None else {list(touched.digests)[at] for at in touched.sets[number]}


@pytest.fixture
def outcomes(tmp_path: Path) -> dict[str, Outcome]:
    """Each point has touched a file of its KPI, one of its point, one that all share, and one without a digest."""
    made = {}
    for each in PLAN.points:
        at = "-".join(each.params.values()) or "only"
        names = {f"app/{each.kpi.id}.py": "1", f"app/{each.kpi.id}-{at}.py": "2", "app/all.py": "3"}
        found: dict[str, str | None] = {str(tmp_path / name): value for name, value in names.items()}
        made[each.key] = Outcome(touched={**found, str(tmp_path / "huge.bin"): None, "/elsewhere/os.py": "4"})
    return made


def test_a_measured_point_has_what_its_own_worker_touched(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    touched = touched_of(Project(tmp_path), PLAN, outcomes, CATALOG)
    assert files(touched, point(PLAN, "denies")) == {"app/denies.py", "app/denies-only.py", "app/all.py"}
    assert touched.digests["app/all.py"] == "3"
    assert not {"huge.bin", "/elsewhere/os.py"} & touched.digests.keys()


def test_a_derived_point_has_its_inputs_and_its_formula(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    touched = touched_of(Project(tmp_path), PLAN, outcomes, CATALOG)
    found = files(touched, point(PLAN, "gate_primary"))
    assert found is not None
    assert {"app/tool_call_p50_ns.py", "app/spawned_hook_baseline_p50_ns.py"} < found
    assert not {name for name in found if "denies" in name or "planner" in name}
    formula = "kpis/formulas/syscall/boundary.py"
    assert touched.digests[formula] == digest(str(Path(INSTRUMENT) / formula))
    shared = files(touched, point(PLAN, "tool_call_p99_ns"))
    assert shared == files(touched, point(PLAN, "tool_call_p50_ns"))
    assert formula not in (shared or ())


def test_a_growth_row_has_every_length_of_history(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    growth = point(PLAN, "turn_spawn_ns_growth")
    lengths = made_of(growth, PLAN, CATALOG)
    assert len({each.params[HISTORY] for each in lengths}) >= 3
    found = files(touched_of(Project(tmp_path), PLAN, outcomes, CATALOG), growth)
    assert found is not None
    assert {f"app/turn_spawn_ns-{'-'.join(each.params.values())}.py" for each in lengths} < found
    assert "kpis/formulas/growth.py" in found


def test_where_an_input_is_not_known_the_whole_is_not(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    outcomes[point(PLAN, "spawned_hook_baseline_p50_ns").key].touched = {}
    del outcomes[point(PLAN, "planner_optimize_ns").key]
    touched = touched_of(Project(tmp_path), PLAN, outcomes, CATALOG)
    for kpi in ("spawned_hook_baseline_p50_ns", "gate_primary", "planner_optimize_ns"):
        assert touched.set_of(point(PLAN, kpi)) is None
    assert touched.set_of(point(PLAN, "denies")) is not None


def test_equal_sets_are_kept_once_and_no_order_shows(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    one = touched_of(Project(tmp_path), PLAN, outcomes, CATALOG)
    assert one.set_of(point(PLAN, "tool_call_p99_ns")) == one.set_of(point(PLAN, "tool_call_p50_ns"))
    assert sorted(map(tuple, one.sets)) == list(dict.fromkeys(map(tuple, one.sets)))
    shuffled = list(outcomes.items())
    random.Random(5).shuffle(shuffled)
    assert touched_of(Project(tmp_path), PLAN, dict(shuffled), CATALOG) == one


def test_nothing_touched_is_nothing_known(tmp_path: Path) -> None:
    empty = touched_of(Project(tmp_path), PLAN, {each.key: Outcome() for each in PLAN.points}, CATALOG)
    assert empty == Touched({}, [], {})

"""The run as a function, with a launcher that answers from a table: what is kept, resumed and derived."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.jobs.modes import DEFAULT, QUICK, Effort, budgeted
from harness.jobs.plan import Plan, make_plan
from harness.jobs.run import Finished, Interrupted, run
from harness.measure.launch import Answer
from harness.project import Project
from harness.record.run import Mode, Selection, encode
from harness.record.store import StoreError
from kpis.registry import load


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nobody else is at work, whatever this one is doing."""
    monkeypatch.setattr("harness.measure.machine.noise", lambda: {"load_average": [0.0, 0.0, 0.0]})


KPIS = ["tool_call_p50_ns", "tool_call_p99_ns", "gate_primary", "denies", "planner_optimize_ns", "vdso_hit_rate"]
SELECTION = Selection(all=False, layers=[], kpis=KPIS, params={}, runtimes=[], workloads=[])


def answer(job: dict[str, Any], seed: int) -> dict[str, Any]:
    """What a worker would say: a pure function of the job and its seed."""
    if job["task"] in ("discover", "tally") and not job["timed"]:
        rate = job["estimand"] == "rate"
        tally = {"numerator": 6, "denominator": 12 if rate else None, "reasons": {"pure": 6} if rate else {}}
        more = {"excluded": 0, "knobs": None, "basis": "count", "source": None, "evidence": []}
        return {"tally": {**tally, **more}, "touched": []}
    if job["task"] == "discover":
        return {"slice": "batch", "engine": "none", "source": None, "touched": []}
    if job["task"] == "calibrate":
        return {"loops": 1000, "values_ns": [], "cpu_ns": []}
    base = 4e7 if job["kpi"].startswith("spawned") else 5e6
    value = base + 1000 * seed
    values = [value] * job["values"]
    pyperf = {
        "metadata": {"loops": job["loops"]},
        "warmups": [[job["loops"], 1.0]],
        "values": [v * 1e-9 for v in values],
    }
    stamped = {"p99_ns": int(value * 1.5), "calls": {str(int(value)): job["values"]}, "stamp_ns": 40}
    shares = {
        "process_ns": value,
        "overhead_share": 0.001,
        "cpu_ns": values,
        "values_ns": values,
        "loops": job["loops"],
    }
    return {"pyperf": pyperf, "engine": "none", **shares, **(stamped if job["estimand"] == "call-p50" else {})}


class Launcher:
    """Counts launches; raises Interrupted at the ``stop_at``-th."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at = stop_at
        self.launched: list[tuple[str, str, int]] = []

    def __call__(self, job: dict[str, Any], *, seed: int, limit: float, folder: Path, cwd: Path) -> Answer:
        assert limit > 0
        assert folder.is_dir()
        if self.stop_at is not None and len(self.launched) == self.stop_at:
            raise Interrupted(15)
        self.launched.append((job["kpi"], job["task"], seed))
        return Answer(result=answer(job, seed), seconds=0.01)


def plan_of(effort: Effort, kpis: list[str] = KPIS) -> Plan:
    return make_plan(
        load(), kpis=kpis, params={}, runtimes=[("reference", "seams.runtimes.reference:make")], effort=effort
    )


def do(root: Path, plan: Plan, launcher: Launcher, *, resume: bool = False) -> Finished:
    return run(Project(root), load(), plan, selection=SELECTION, argv=["run"], resume=resume, launch=launcher)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stops=st.lists(st.integers(0, 12), max_size=4))
def test_a_resumed_run_equals_the_uninterrupted_one(stops: list[int]) -> None:
    plan = plan_of(QUICK)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        whole = do(Path(one), plan, Launcher())
        launched = 0
        resume = False
        for stop in stops:
            launcher = Launcher(stop)
            part = do(Path(two), plan, launcher, resume=resume)
            launched += len(launcher.launched)
            if part.run.complete:
                break
            assert part.stopped_by == 15
            resume = True
        else:
            launcher = Launcher()
            part = do(Path(two), plan, launcher, resume=resume)
            launched += len(launcher.launched)
        assert part.run.complete
        assert part.run.readings == whole.run.readings
        uninterrupted = Launcher()
        do(Path(one), plan, uninterrupted)
        assert launched == len(uninterrupted.launched), "an answer was asked for twice, or never"
        assert not list(Path(two).glob(".harness/runs/*.journal"))


def test_derived_rows_come_from_the_readings_of_the_same_runtime(tmp_path: Path) -> None:
    finished = do(tmp_path, plan_of(QUICK), Launcher())
    found = {reading.kpi: reading for reading in finished.run.readings}
    assert found["gate_primary"].value == 1
    assert found["gate_primary"].evidence == [
        "tool_call_p50_ns = 5003000.0 ns",
        "spawned_hook_baseline_p50_ns = 40003000.0 ns",
    ]
    assert found["tool_call_p99_ns"].value == pytest.approx(1.5 * found["tool_call_p50_ns"].value, rel=1e-3)
    assert "spawned_hook_baseline_p50_ns" not in found, "measured for another row, not asked for"
    assert found["vdso_hit_rate"].histogram == {"pure": 6}


def test_a_default_run_has_an_exact_interval_and_a_quick_one_says_why_not(tmp_path: Path) -> None:
    effort = replace(DEFAULT, processes=6)
    run_ = do(tmp_path, plan_of(effort, ["planner_optimize_ns"]), Launcher()).run
    distribution = run_.readings[0].distribution
    assert distribution is not None
    assert distribution.ci95 == (5e6 + 2000, 5e6 + 7000)
    quick = do(tmp_path, plan_of(QUICK, ["planner_optimize_ns"]), Launcher()).run
    assert quick.readings[0].distribution is not None
    assert quick.readings[0].distribution.ci95 is None
    assert [notice.code.value for notice in quick.readings[0].warnings] == ["too-few"]


def test_a_budget_takes_three_processes_a_point_first_and_then_turns(tmp_path: Path) -> None:
    launcher = Launcher()
    plan = plan_of(budgeted(30), ["planner_optimize_ns"])
    finished = do(tmp_path, plan, launcher)
    assert finished.run.mode is Mode.BUDGET
    first = [task for _, task, _ in launcher.launched][: 5 * len(plan.points)]
    assert first == ["discover", "calibrate", "measure", "measure", "measure"] * len(plan.points)
    counts = {reading.distribution.n for reading in finished.run.readings if reading.distribution}
    assert counts == {25}


def test_every_answer_is_in_the_journal_before_the_next_is_asked_for(tmp_path: Path) -> None:
    seen: list[int] = []

    class Watching(Launcher):
        def __call__(self, *words: Any, **more: Any) -> Answer:
            (journal,) = tmp_path.glob(".harness/runs/*.journal")
            seen.append(journal.read_bytes().count(b"\n") - 1)
            return super().__call__(*words, **more)

    do(tmp_path, plan_of(QUICK), Watching())
    assert seen == list(range(len(seen)))


def test_the_same_outcomes_give_the_same_bytes_but_for_time_and_machine(tmp_path: Path) -> None:
    texts = []
    for _ in range(2):
        run_ = do(tmp_path, plan_of(QUICK), Launcher()).run
        texts.append(encode(replace(run_, id="x", created="y", noise={})))
    assert texts[0] == texts[1]


def test_the_stamped_calls_lie_beside_the_run_file(tmp_path: Path) -> None:
    finished = do(tmp_path, plan_of(QUICK, ["tool_call_p50_ns"]), Launcher())
    (calls,) = tmp_path.glob(f".harness/runs/{finished.run.id}.samples/*.stamps.json")
    document = json.loads(calls.read_text())
    assert document["n"] == sum(count for _, count in document["buckets"]) == 9


def test_code_that_changed_since_the_interruption_is_not_mixed_into_one_reading(tmp_path: Path) -> None:
    source = tmp_path / "slice.py"
    source.write_text("one")

    class Touching(Launcher):
        def __call__(self, job: dict[str, Any], **more: Any) -> Answer:
            found = super().__call__(job, **more)
            if job["task"] == "discover":
                found.result["touched"] = [str(source)]
            return found

    plan = plan_of(QUICK, ["planner_optimize_ns"])
    part = do(tmp_path, plan, Touching(4))
    assert not part.run.complete
    source.write_text("two")
    with pytest.raises(StoreError, match=r"slice\.py changed since the run was interrupted"):
        do(tmp_path, plan, Touching(), resume=True)
    source.write_text("one")
    assert do(tmp_path, plan, Touching(), resume=True).run.complete


def test_code_that_changes_during_the_run_makes_it_incomplete(tmp_path: Path) -> None:
    source = tmp_path / "slice.py"
    source.write_text("one")

    class Editing(Launcher):
        def __call__(self, job: dict[str, Any], **more: Any) -> Answer:
            found = super().__call__(job, **more)
            if job["task"] == "discover":
                found.result["touched"] = [str(source)]
            else:
                source.write_text("two")
            return found

    finished = do(tmp_path, plan_of(QUICK, ["planner_optimize_ns"]), Editing())
    assert not finished.run.complete
    assert finished.trouble is not None
    assert "slice.py changed while it was measured" in finished.trouble


def test_a_budget_that_ends_early_is_no_complete_run(tmp_path: Path) -> None:
    finished = do(tmp_path, plan_of(budgeted(1e-9), ["planner_optimize_ns"]), Launcher())
    assert not finished.run.complete
    reasons = {item.undefined.reason.value for item in finished.run.readings if item.undefined}
    assert reasons == {"out-of-budget"}
    assert not list(tmp_path.glob(".harness/runs/*.journal")), "a spent budget is not resumed"

"""The run as a function, with a launcher that answers from a table: what is kept, resumed and derived."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.formats.workload import LoadedWorkload
from harness.jobs.asking import digests
from harness.jobs.modes import DEFAULT, QUICK, Effort, budgeted
from harness.jobs.plan import Plan, PlannedPoint, make_plan
from harness.jobs.run import Finished, Interrupted, run
from harness.jobs.samples import file_stem
from harness.measure.answer import Answer
from harness.measure.clock import Workload
from harness.project import Project
from harness.record.run import Mode, Selection, decode, encode
from harness.record.store import StoreError
from harness.subject.scratch import LOCK, MARK
from kpis.errors import SelectionError
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
        more = {"excluded": 0, "knobs": None, "basis": "count", "source": None, "evidence": [], "clocked": []}
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


def test_a_time_says_its_loops_and_values_and_what_is_no_time_says_none(tmp_path: Path) -> None:
    found = {reading.kpi: reading.distribution for reading in do(tmp_path, plan_of(DEFAULT), Launcher()).run.readings}
    for kpi in ("tool_call_p50_ns", "tool_call_p99_ns", "planner_optimize_ns"):
        taken = found[kpi]
        assert taken is not None
        assert (taken.n, taken.loops, taken.values) == (12, 1000, 5)
    assert found["denies"] is None


def test_what_a_worker_claims_of_its_loops_does_not_count(tmp_path: Path) -> None:
    class Claiming(Launcher):
        def __call__(self, job: dict[str, Any], **more: Any) -> Answer:
            said = super().__call__(job, **more)
            if job["task"] == "measure":
                said.result["loops"] = "many"
            return said

    (found,) = do(tmp_path, plan_of(QUICK, ["planner_optimize_ns"]), Claiming()).run.readings[:1]
    assert found.distribution is not None
    assert found.distribution.loops == 1000


def test_loops_are_those_of_most_processes_where_a_run_calibrated_again(tmp_path: Path) -> None:
    class Stalled(Launcher):
        def __call__(self, job: dict[str, Any], *, seed: int, **more: Any) -> Answer:
            said = super().__call__(job, seed=seed, **more)
            if job["task"] == "measure" and seed >= 4:  # from the third process on
                short = seed == 4 and job["loops"] == 1000
                said.result["values_ns"] = [3.0 if short else 5e6] * job["values"]
            return said

    (found,) = do(tmp_path, plan_of(DEFAULT, ["planner_optimize_ns"]), Stalled()).run.readings[:1]
    assert found.distribution is not None
    assert (found.distribution.n, found.distribution.loops) == (12, 2000)


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


class Odd(Launcher):
    """Answers the questions about one KPI with what it is given, and all others well."""

    def __init__(self, kpi: str, task: str, **odd: Any) -> None:
        super().__init__()
        self.kpi, self.task, self.odd = kpi, task, odd

    def __call__(self, job: dict[str, Any], **more: Any) -> Answer:
        found = super().__call__(job, **more)
        if job["kpi"] == self.kpi and job["task"] in (self.task, "tally"):
            found.result |= self.odd
        return found


TALLY = {
    "numerator": 6, "denominator": None, "reasons": {}, "excluded": 0, "knobs": None, "basis": "count", "source": None,
    "evidence": [], "clocked": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kpi", "task", "odd", "words"),
    [
        ("denies", "discover", {"tally": {**TALLY, "basis": "foo"}}, "basis is 'foo'"),
        ("denies", "discover", {"tally": {**TALLY, "source": ["live"]}}, "source is ['live']"),
        ("denies", "discover", {"tally": {**TALLY, "numerator": 2**70}}, "numerator does not fit into 64 bits"),
        ("denies", "discover", {"tally": {**TALLY, "excluded": None}}, "excluded is None"),
        ("denies", "discover", {"tally": {**TALLY, "numerator": -1}}, "no count below zero"),
        ("denies", "discover", {"tally": {**TALLY, "numerator": 1.5}}, "a count of count is a whole number"),
        ("denies", "discover", {"tally": {**TALLY, "evidence": [1]}}, "evidence holds 1"),
        ("vdso_hit_rate", "discover", {"tally": {**TALLY, "denominator": -3}}, "denominator is -3"),
        ("denies", "discover", {"tally": {"numerator": 1}}, "without a usable tally"),
        ("denies", "discover", {"tally": 5}, "without a usable tally"),
        ("planner_optimize_ns", "discover", {"engine": ["none"]}, "without a usable engine"),
        ("planner_optimize_ns", "discover", {"source": "weird"}, "without a usable source"),
        ("planner_optimize_ns", "discover", {"touched": {"a": 5}}, "without a usable touched"),
        ("planner_optimize_ns", "calibrate", {"loops": 0}, "without a usable loops"),
        ("planner_optimize_ns", "measure", {"values_ns": []}, "without a usable values_ns"),
        ("planner_optimize_ns", "measure", {"process_ns": 2**70}, "without a usable process_ns"),
        ("planner_optimize_ns", "measure", {"pyperf": {}}, "without a usable pyperf"),
        ("planner_optimize_ns", "measure", {"more": float("nan")}, "cannot be written down"),
        ("planner_optimize_ns", "measure", {"more": object()}, "cannot be written down"),
        ("planner_optimize_ns", "measure", {"undefined": {"reason": ["a"], "detail": "b"}}, "usable undefined"),
    ],
)
def test_what_one_kpi_answers_never_costs_the_others(
    kpi: str, task: str, odd: dict[str, Any], words: str, tmp_path: Path
) -> None:
    finished = do(tmp_path, plan_of(QUICK), Odd(kpi, task, **odd))
    assert finished.path is not None
    assert finished.run.complete
    assert finished.trouble is None
    readings = decode(finished.path.read_bytes(), "it").readings
    spoilt = [reading for reading in readings if reading.kpi == kpi]
    assert spoilt
    for reading in spoilt:
        assert reading.undefined is not None
        assert reading.undefined.reason.value == "bad-value"
        assert words in reading.undefined.detail
    others = [reading for reading in readings if reading.kpi != kpi and reading.undefined is None]
    assert len(others) >= 4


def test_a_journal_with_spoilt_entries_is_resumed_and_they_are_asked_again(tmp_path: Path) -> None:
    plan = plan_of(QUICK)
    do(tmp_path, plan, Launcher(9))
    (journal,) = tmp_path.glob(".harness/runs/*.journal")
    lines = journal.read_bytes().splitlines()
    first, second, third = (json.loads(line) for line in lines[1:4])
    spoilt = [
        {"answer": first["answer"]},
        {"asked": first["asked"]},
        {"asked": first["asked"], "answer": 5},
        {"asked": second["asked"], "answer": {}},
        {"asked": ["x"], "answer": first["answer"]},
        {"asked": third["asked"], "answer": {"seconds": 0.1}},
        {"asked": third["asked"], "answer": {**third["answer"], "seconds": "soon"}},
        {"asked": "[not a question", "answer": {"seconds": 0.1, "touched": {"/dev/zero": 5}}},
        {},
        {"asked": 5, "answer": 5},
    ]
    journal.write_bytes(b"\n".join([lines[0], *(json.dumps(entry).encode() for entry in spoilt), *lines[4:]]) + b"\n")
    launcher = Launcher()
    finished = do(tmp_path, plan, launcher, resume=True)
    assert finished.run.complete
    with tempfile.TemporaryDirectory() as other:
        whole = Launcher()
        assert do(Path(other), plan, whole).run.readings == finished.run.readings
    assert len(launcher.launched) == len(whole.launched) - 9 + 3


def test_an_id_in_a_journal_leads_nowhere_else(tmp_path: Path) -> None:
    plan = plan_of(QUICK, ["planner_optimize_ns"])
    do(tmp_path, plan, Launcher(4))
    (journal,) = tmp_path.glob(".harness/runs/*.journal")
    lines = journal.read_bytes().split(b"\n")
    lines[0] = json.dumps({**json.loads(lines[0]), "id": "../../../evil"}).encode()
    journal.write_bytes(b"\n".join(lines))
    with pytest.raises(StoreError, match="no interrupted run"):
        do(tmp_path, plan, Launcher(), resume=True)
    assert not list(tmp_path.parent.glob("evil*"))


def test_a_file_that_has_no_digest_is_named_beside_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.jobs.asking.LARGEST", 10)
    (tmp_path / "large.bin").write_bytes(b"x" * 11)
    (tmp_path / "small.bin").write_bytes(b"x" * 10)
    os.mkfifo(tmp_path / "pipe")
    names = [str(tmp_path / name) for name in ("large.bin", "small.bin", "pipe", "gone", "\0")]
    found = digests(names)
    assert [name for name in names if found[name] is not None] == [str(tmp_path / "small.bin")]
    with monkeypatch.context() as patch:
        patch.setattr(os, "read", lambda *_: pytest.fail("a file that is too large was read"))
        assert digests(names[:1]) == {names[0]: None}

    class Touching(Launcher):
        def __call__(self, job: dict[str, Any], **more: Any) -> Answer:
            answered = super().__call__(job, **more)
            if job["task"] == "discover":
                answered.result["touched"] = names[:2]
            return answered

    finished = do(tmp_path, plan_of(QUICK, ["planner_optimize_ns"]), Touching())
    assert finished.run.complete
    (warning,) = [item for item in finished.run.readings[0].warnings if item.code.value == "undigested"]
    assert warning.message.startswith("No digest of large.bin (gone, unreadable or over 64 MiB)")
    assert list(finished.run.source.touched) == ["small.bin"]


def test_how_a_worker_ended_stands_beside_the_reading(tmp_path: Path) -> None:
    class Lingering(Launcher):
        def __call__(self, job: dict[str, Any], **more: Any) -> Answer:
            found = super().__call__(job, **more)
            found.notices.append("The worker did not end by itself.")
            return found

    finished = do(tmp_path, plan_of(QUICK, ["planner_optimize_ns"]), Lingering())
    said = [notice.message for notice in finished.run.readings[0].warnings]
    assert said.count("The worker did not end by itself.") == 1


def test_a_runtime_that_is_given_twice_is_planned_once_and_two_of_one_name_are_refused() -> None:
    one, other = ("mine", "a:make"), ("mine", "b:make")
    twice = make_plan(load(), kpis=["denies"], params={}, runtimes=[one, one], effort=QUICK)
    assert len(twice.points) == 1
    with pytest.raises(SelectionError, match=r"denies mine .* measured twice under one name"):
        make_plan(load(), kpis=["denies"], params={}, runtimes=[one, other], effort=QUICK)


def test_no_two_points_share_a_key_or_a_file() -> None:
    kpi = load().get("denies")
    parts: list[Any] = []
    for params in ({"a": "1,b=2"}, {"a": "1", "b": "2"}, {"a": "1 r x"}, {"a": "1/"}, {"a": "1_"}, {"a": "1?"}, {}):
        parts += [(params, runtime, None) for runtime in ("r", "r@x", "r:x", "r_x", "x" * 300, "x" * 299 + "y")]
    recorded = LoadedWorkload(Workload("-", "calls", "0", "replay", {}), {})
    stamps = LoadedWorkload(Workload("w.stamps", "calls", "0", "replay", {}), {})
    plain = LoadedWorkload(Workload("w", "calls", "0", "replay", {}), {})
    parts += [({}, "r", workload) for workload in (recorded, stamps, plain)]
    points = [PlannedPoint(kpi, params, (runtime, "m:f"), workload, "p") for params, runtime, workload in parts]
    assert len({point.key for point in points}) == len(points)
    stems = [file_stem(point) for point in points]
    files = {f"{stem}{end}" for stem in stems for end in (".json", ".stamps.json")}
    assert len(files) == 2 * len(points)
    assert max(map(len, files)) <= 255
    assert all(re.fullmatch(r"[A-Za-z0-9._,=@~-]+", file) for file in files)


def test_a_sound_name_is_the_file_s_own() -> None:
    (point,) = make_plan(load(), kpis=["denies"], params={}, runtimes=[("reference", "a:b")], effort=QUICK).points
    assert "~" not in file_stem(point)


def test_the_folder_of_a_killed_run_goes_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    seen: list[Path] = []

    class Looking(Launcher):
        def __call__(self, job: dict[str, Any], **more: Any) -> Answer:
            seen.append(more["folder"])
            return super().__call__(job, **more)

    do(tmp_path, plan_of(QUICK, ["denies"]), Looking())
    assert not list(place.iterdir())
    dead = place / seen[0].name
    dead.mkdir()
    (dead / LOCK).write_bytes(MARK)
    (dead / "workload-0.json").write_text("{}")
    do(tmp_path, plan_of(QUICK, ["denies"]), Looking())
    assert not list(place.iterdir())


def test_samples_that_pyperf_refuses_cost_no_run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise ValueError("values must be numbers")

    monkeypatch.setattr("harness.jobs.run.save_samples", refuse)
    finished = do(tmp_path, plan_of(QUICK, ["planner_optimize_ns"]), Launcher())
    assert finished.path is not None
    assert finished.trouble is not None
    assert "values must be numbers" in finished.trouble

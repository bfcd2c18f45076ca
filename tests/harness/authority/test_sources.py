"""Which files concern a reading: what the tree says of a probe against what its worker really touches."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.jobs.asking import digest
from harness.jobs.authority_sources import Sources
from harness.jobs.modes import QUICK
from harness.jobs.plan import make_plan
from harness.jobs.rows import project_catalog
from harness.jobs.worker_job import job_of, lay_out
from harness.measure.instrument import INSTRUMENT
from harness.measure.launch import launch
from harness.project import REFERENCE, load_project
from harness.record.run import SourceTree
from harness.report.authority_numbers import Artifact
from kpis.registry import load
from tests.conftest import REPO
from tests.harness.authority.project import FOLD, SEND, run_of
from tests.harness.authority.project import lay_out as lay_out_project

CATALOG = load()
BY_SEAM = {
    kpi.seam: kpi.id for kpi in CATALOG if not kpi.derived and (Path(INSTRUMENT) / f"seams/{kpi.seam}.py").is_file()
}
EVERYBODYS = ("harness/__main__.py", "harness/measure/")
"""The worker's own share: loaded by name, and of every reading."""


def touched(kpi, folder):
    """What the discovery worker of the first point of ``kpi`` touches, by name."""
    project = load_project(REPO)
    plan = make_plan(CATALOG, kpis=[kpi], params={}, runtimes=[("reference", REFERENCE)], effort=QUICK)
    point = next(point for point in plan.points if point.kpi.id == kpi)
    files = lay_out([point], folder)
    job = job_of(point, path=project.path, instrument=INSTRUMENT, under_test=project.under_test, workloads=files)
    more = {"task": "discover", "frozen_sync": CATALOG.seams[point.kpi.seam].frozen_sync, "limit": 60.0}
    answer = launch({**job, **more}, seed=1, limit=60.0, folder=folder, cwd=REPO)
    assert answer.undefined is None, answer.undefined
    return {Path(name).relative_to(REPO).as_posix() for name in answer.result["touched"]}


@pytest.mark.parametrize("seam", sorted(BY_SEAM))
def test_nothing_that_a_worker_touches_is_lost(seam, tmp_path):
    kpi = CATALOG.get(BY_SEAM[seam])
    reading = replace(FOLD, kpi=kpi.id, runtime="reference")
    said = Sources(load_project(REPO), CATALOG).concerned(reading)
    lost = {name for name in touched(kpi.id, tmp_path) - said if not name.startswith(EVERYBODYS)}
    assert lost == set()
    assert {f"seams/{seam}.py", f"harness/probes/{seam}.py"} <= said


@pytest.mark.parametrize(
    ("changed", "stale", "fresh"),
    [
        ("seams/turn/kv.py", "kv_evict_ns", "turn_spawn_ns"),
        ("seams/turn/planner.py", "planner_optimize_ns", "denies"),
        ("seams/turn/planner.py", "turn_spawn_ns", "kv_evict_ns"),
        ("seams/syscall/vdso.py", "vdso_hit_rate", "planner_optimize_ns"),
        ("kpis/formulas/turn/planner.py", "candidate_scorings", "turn_reap_ns"),
        ("harness/probes/syscall/hook.py", "gate_primary", "submit_latency"),
    ],
)
def test_a_changed_seam_concerns_those_that_pass_it(changed, stale, fresh):
    sources = Sources(load_project(REPO), CATALOG)
    assert changed in sources.concerned(replace(FOLD, kpi=stale, runtime="reference"))
    assert changed not in sources.concerned(replace(FOLD, kpi=fresh, runtime="reference"))


def test_a_reading_of_somebodys_runtime_does_not_depend_on_ours():
    said = Sources(load_project(REPO), CATALOG).concerned(replace(FOLD, kpi="kv_evict_ns", runtime="mine:make"))
    assert "harness/probes/turn/kv.py" in said
    assert "seams/turn/kv.py" not in said


def test_a_file_that_is_gone_or_was_never_ours_to_read_is_changed(tmp_path):
    lay_out_project(tmp_path)
    run = run_of(tmp_path)
    project = load_project(tmp_path)
    sources = Sources(project, project_catalog(project))
    gone = replace(
        run, source=SourceTree(commit=None, dirty=None, touched={**run.source.touched, "app/gone.py": "0" * 64})
    )
    artifact = Artifact("baselines/m/runs/0123456789abcdef.json", {}, gone)
    assert sources.changed(artifact, SEND) == ["app/gone.py"]
    assert digest(str(tmp_path / "app" / "gone.py")) is None

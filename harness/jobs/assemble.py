"""From outcomes to the run: every reading in the plan's order, derived rows last, and the facts around them.

Reads the machine and the tree, and digests the touched files; measures nothing and writes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.formats.workload import LoadedWorkload
from harness.jobs.measure_point import Outcome
from harness.jobs.plan import Plan, PlannedPoint
from harness.jobs.readings import derived_reading, shared_reading, to_reading
from harness.measure.launch import INSTRUMENT
from harness.project import Project
from harness.record.run import WorkloadRecord
from kpis.registry import Catalog
from kpis.terms.reading import Reading

__all__ = ["readings_of", "touched_files", "workload_records"]


def readings_of(plan: Plan, outcomes: Mapping[str, Outcome], catalog: Catalog, *, interrupted: bool) -> list[Reading]:
    """The readings of the plan; what an interruption left unmeasured is absent, what a budget left is undefined."""
    readings: list[Reading] = []
    by_key: dict[str, Reading] = {}
    for point in plan.points:
        outcome = outcomes.get(point.key, Outcome())
        if outcome.empty:
            if interrupted:
                continue
            outcome = Outcome(undefined=("out-of-budget", "The budget ended before it was measured."))
        by_key[point.key] = to_reading(point, outcome, catalog, plan.effort)
        if point.emit:
            readings.append(by_key[point.key])
    for point in plan.derived:
        made = _derive(point, plan, outcomes, by_key, catalog)
        if made is not None and point.emit:
            readings.append(made)
    return readings


def _derive(
    point: PlannedPoint,
    plan: Plan,
    outcomes: Mapping[str, Outcome],
    by_key: Mapping[str, Reading],
    catalog: Catalog,
) -> Reading | None:
    """The derived reading, from the points of the same runtime; None where an interruption left an input out."""
    if point.kpi.shares is not None:
        owners = [
            owner
            for owner in plan.points
            if owner.kpi.id == point.kpi.shares and owner.runtime == point.runtime and owner.workload == point.workload
        ]
        if not owners or owners[0].key not in outcomes:
            return None
        return shared_reading(point, outcomes[owners[0].key], catalog, plan.effort)
    inputs = []
    for name in point.kpi.inputs:
        gate = catalog.get(name).gate_point
        found = [
            by_key[other.key]
            for other in plan.points
            if other.kpi.id == name
            and other.runtime == point.runtime
            and all(other.params.get(key) == value for key, value in gate.items())
            and other.key in by_key
        ]
        if not found:
            return None
        inputs.append(found[0])
    return derived_reading(point, inputs, catalog)


def workload_records(plan: Plan) -> dict[str, WorkloadRecord]:
    """What the run file says of each workload that the plan uses."""
    used = {point.workload.workload.name: point.workload for point in plan.points if point.workload is not None}
    return {name: _record(load) for name, load in used.items()}


def _record(load: LoadedWorkload) -> WorkloadRecord:
    work = load.workload
    return WorkloadRecord(
        sha256=work.sha256, kind=work.kind, source=work.source, hash=work.data.get("hash"), facts=dict(load.facts)
    )


def touched_files(project: Project, outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Digest of every touched file, named by its path inside the project or inside the instrument."""
    digests: dict[str, str] = {}
    for name in sorted({name for outcome in outcomes for name in outcome.touched}):
        path = Path(name)
        for base in (project.root.resolve(), Path(INSTRUMENT)):
            if path.is_relative_to(base) and path.is_file():
                digests[path.relative_to(base).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
                break
    return digests

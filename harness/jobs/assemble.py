"""From outcomes to the run: every reading in the plan's order, derived rows last, and the facts around them.

Reads the machine and the tree, and digests the touched files; measures nothing and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from harness.formats.workload import LoadedWorkload
from harness.jobs.growth import GrowthPoint
from harness.jobs.measure_point import Outcome
from harness.jobs.plan import Plan, PlannedPoint
from harness.jobs.readings import derived_reading, growth_reading, shared_reading, to_reading
from harness.measure.launch import INSTRUMENT
from harness.project import Project
from harness.record.run import WorkloadRecord
from kpis.growth import HISTORY, growth_points, is_growth
from kpis.registry import Catalog
from kpis.terms.reading import Notice, Reading

__all__ = ["readings_of", "touched_files", "workload_records"]


def readings_of(
    plan: Plan, outcomes: Mapping[str, Outcome], catalog: Catalog, *, interrupted: bool, loaded: Notice | None = None
) -> list[Reading]:
    """The readings of the plan; what an interruption left unmeasured is absent, what a budget left is undefined.

    ``loaded`` is what the machine said before the run; it stands beside every clock reading.
    """
    readings: list[Reading] = []
    by_key: dict[str, Reading] = {}
    for point in plan.points:
        outcome = outcomes.get(point.key, Outcome())
        if outcome.empty:
            if interrupted:
                continue
            outcome = Outcome(undefined=("out-of-budget", "The budget ended before it was measured."))
        reading = to_reading(point, outcome, catalog, plan.effort)
        if loaded is not None and reading.distribution is not None:
            reading = replace(reading, warnings=[*reading.warnings, loaded])
        by_key[point.key] = reading
        if point.emit:
            readings.append(reading)
    for point in plan.derived:
        if point.kpi.shares is not None:
            made = _shared(point, plan, outcomes, catalog)
        elif is_growth(point.kpi):
            made = _growth(point, plan, by_key, outcomes, catalog)
        else:
            made = derived_reading(
                point, [_input(name, point, plan, by_key, catalog) for name in point.kpi.inputs], catalog
            )
        if point.emit and not (interrupted and made.undefined is not None):
            readings.append(made)
    return readings


def _shared(point: PlannedPoint, plan: Plan, outcomes: Mapping[str, Outcome], catalog: Catalog) -> Reading:
    """The reading from the same stamped calls as its owner's, of the same runtime on the same workload."""
    for owner in plan.points:
        same = owner.runtime == point.runtime and owner.workload == point.workload
        if owner.kpi.id == point.kpi.shares and same:
            return shared_reading(point, outcomes.get(owner.key, Outcome()), catalog, plan.effort)
    return shared_reading(point, Outcome(), catalog, plan.effort)


def _growth(
    point: PlannedPoint,
    plan: Plan,
    by_key: Mapping[str, Reading],
    outcomes: Mapping[str, Outcome],
    catalog: Catalog,
) -> Reading:
    """The slope over the points of its input that vary the history, of the same runtime on the same workload."""
    due = growth_points(catalog.get(point.kpi.inputs[0]))
    found = [
        GrowthPoint(by_key[other.key], outcomes.get(other.key, Outcome()))
        for at in due
        for other in plan.points
        if other.kpi.id == point.kpi.inputs[0] and other.params == at
        if other.runtime == point.runtime and other.workload == point.workload
        if other.key in by_key
    ]
    return growth_reading(point, found, [int(at[HISTORY]) for at in due], catalog)


def _input(
    name: str, point: PlannedPoint, plan: Plan, by_key: Mapping[str, Reading], catalog: Catalog
) -> Reading | None:
    """The reading of an input at its gate point: same runtime, and same workload where the input takes one."""
    gate = catalog.get(name).gate_point
    for other in plan.points:
        same = other.runtime == point.runtime and other.workload in (point.workload, None)
        at_gate = all(other.params.get(key) == value for key, value in gate.items())
        if other.kpi.id == name and same and at_gate:
            return by_key.get(other.key)
    return None


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
    """Digest of every touched file when its slice was discovered, by its path inside the project or the instrument."""
    named: dict[str, str] = {}
    every = {item for outcome in outcomes for item in outcome.touched.items()}
    for name, digest in sorted(every, key=lambda item: (item[0], item[1] or "")):
        for base in (project.root.resolve(), Path(INSTRUMENT)):
            if digest is not None and Path(name).is_relative_to(base):
                named[Path(name).relative_to(base).as_posix()] = digest
                break
    return named

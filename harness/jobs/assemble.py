"""From outcomes to the run: every reading in the plan's order, derived rows last, and the facts around them.

Measures nothing and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.formats.workload import LoadedWorkload
from harness.jobs.growth import GrowthPoint
from harness.jobs.measure_point import Outcome
from harness.jobs.plan import Plan, PlannedPoint
from harness.jobs.readings import shared_reading, to_reading
from harness.jobs.readings_derived import derived_reading, growth_reading
from harness.jobs.touched import Touched, made_of
from harness.record.run import WorkloadRecord
from kpis.growth import HISTORY, growth_points, is_growth
from kpis.registry import Catalog
from kpis.terms.reading import Notice, Reading

__all__ = ["readings_of", "workload_records"]


def readings_of(
    plan: Plan,
    outcomes: Mapping[str, Outcome],
    catalog: Catalog,
    touched: Touched,
    *,
    interrupted: bool,
    loaded: Notice | None = None,
) -> list[Reading]:
    """The readings of the plan; what an interruption left unmeasured is absent, what a budget left is undefined.

    ``touched`` knows the files of each. ``loaded`` is what the machine said before the run; it stands beside every
    clock reading.
    """
    readings: list[Reading] = []
    by_key: dict[str, Reading] = {}
    for point in plan.points:
        outcome = outcomes.get(point.key, Outcome())
        if outcome.empty:
            if interrupted:
                continue
            outcome = Outcome(undefined=("out-of-budget", "The budget ended before it was measured."))
        reading = replace(to_reading(point, outcome, catalog, plan.effort), touched=touched.set_of(point))
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
            inputs = [by_key.get(other.key) for other in made_of(point, plan, catalog)]
            made = derived_reading(point, inputs, catalog)
        if point.emit and not (interrupted and made.undefined is not None):
            readings.append(replace(made, touched=touched.set_of(point)))
    return readings


def _shared(point: PlannedPoint, plan: Plan, outcomes: Mapping[str, Outcome], catalog: Catalog) -> Reading:
    """The reading from the same stamped calls as its owner's, of the same runtime on the same workload."""
    owners = [outcomes.get(owner.key, Outcome()) for owner in made_of(point, plan, catalog)]
    return shared_reading(point, next(iter(owners), Outcome()), catalog, plan.effort)


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
        for other in made_of(point, plan, catalog)
        if other.key in by_key
    ]
    return growth_reading(point, found, [int(at[HISTORY]) for at in due], catalog)


def workload_records(plan: Plan) -> dict[str, WorkloadRecord]:
    """What the run file says of each workload that the plan uses."""
    used = {point.workload.workload.name: point.workload for point in plan.points if point.workload is not None}
    return {name: _record(load) for name, load in used.items()}


def _record(load: LoadedWorkload) -> WorkloadRecord:
    work = load.workload
    return WorkloadRecord(
        sha256=work.sha256, kind=work.kind, source=work.source, hash=work.data.get("hash"), facts=dict(load.facts)
    )

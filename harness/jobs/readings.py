"""From what the workers answered to readings: the one place where a number gets its name, basis and source.

Chooses by what came: a tally, two clocked sides, or the times of processes. Whatever one KPI's answers hold, the others
keep their readings: what makes no reading, or one that could not be written, is a bad value of that KPI alone. Refuses
to compute from other readings: :mod:`harness.jobs.readings_derived` does.
"""

from __future__ import annotations

from dataclasses import replace

from harness.jobs import notices
from harness.jobs.measure_point import Outcome
from harness.jobs.modes import Effort
from harness.jobs.plan import PlannedPoint
from harness.jobs.readings_clocked import ratio_of_clocks, timed
from harness.jobs.readings_counted import counted
from harness.jobs.readings_form import blank, guarded
from harness.judge.bounds import median
from kpis.registry import Catalog
from kpis.terms.kpi import Estimand
from kpis.terms.reading import Reading, Reason, Undefined

__all__ = ["shared_reading", "to_reading"]


def to_reading(point: PlannedPoint, outcome: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    """The reading of a measured point."""
    return guarded(point, lambda: _to_reading(point, outcome, catalog, effort))


def _to_reading(point: PlannedPoint, outcome: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    warnings = notices.beside(outcome)
    if outcome.undefined is not None:
        reason, detail = outcome.undefined
        known = reason in {item.value for item in Reason}
        undefined = Undefined(Reason(reason) if known else Reason.ERROR, detail)
        return replace(blank(point, undefined, outcome.engine), warnings=warnings)
    if outcome.tally is not None:
        return counted(point, outcome.tally, catalog, warnings)
    if outcome.ratios:
        return ratio_of_clocks(point, outcome, catalog, [*warnings, *notices.too_few(len(outcome.ratios), effort)])
    values = [float(process["process_ns"]) for process in outcome.processes]
    if not values:
        return blank(point, Undefined(Reason.OUT_OF_BUDGET, "The budget ended before its first process."))
    warnings += notices.timed(point, outcome, effort, values)
    # Of stamped calls the CPU time holds both reads of the clock as well: no number to set beside a corrected median.
    batches = point.kpi.estimand is Estimand.CALL_MEAN
    cpu = median([median(process["cpu_ns"]) for process in outcome.processes]) if batches else None
    share = median([process["overhead_share"] for process in outcome.processes])
    return timed(point, catalog, values, outcome, warnings, cpu=cpu, share=share)


def shared_reading(point: PlannedPoint, owner: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    """A reading of the same stamped calls as another KPI's: the nearest-rank tail of each process."""
    return guarded(point, lambda: _shared(point, owner, catalog, effort))


def _shared(point: PlannedPoint, owner: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    if owner.undefined is not None:
        return to_reading(point, owner, catalog, effort)
    values = [float(process["p99_ns"]) for process in owner.processes if "p99_ns" in process]
    if not values:
        return blank(point, Undefined(Reason.INPUT_UNDEFINED, f"{point.kpi.shares} has no stamped calls."))
    return timed(point, catalog, values, owner, notices.too_few(len(values), effort))

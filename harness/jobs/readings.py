"""From what the workers answered to readings: the one place where a number gets its name, basis and source.

Computes medians, ratios of two counts and exact intervals, nothing more; a result that is not a finite number of
the KPI's unit becomes *undefined*, never a zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from harness.jobs import notices
from harness.jobs.measure_point import Outcome
from harness.jobs.modes import Effort
from harness.jobs.plan import PlannedPoint
from harness.judge.bounds import median, median_interval
from kpis.registry import Catalog
from kpis.status import derive
from kpis.terms.kpi import Estimand, Status
from kpis.terms.quantity import Basis, Quantity, QuantityError, Source, combined_basis, weakest_source
from kpis.terms.reading import Distribution, Leg, Notice, Reading, ReadingKind, Reason, Undefined

__all__ = ["derived_reading", "shared_reading", "to_reading"]

_KINDS = {
    Estimand.COUNT: ReadingKind.COUNT,
    Estimand.RATE: ReadingKind.RATE,
    Estimand.INVARIANT: ReadingKind.INVARIANT,
    Estimand.HISTOGRAM: ReadingKind.HISTOGRAM,
}


def _kind(point: PlannedPoint) -> ReadingKind:
    if point.kpi.estimand.timed:
        return ReadingKind.TIMED
    return ReadingKind.MODELED if point.kpi.knobs else _KINDS[point.kpi.estimand]


def _blank(point: PlannedPoint, undefined: Undefined, isolation: str | None = None) -> Reading:
    kpi = point.kpi
    return Reading(
        kpi=kpi.id,
        layer=kpi.layer,
        params=dict(point.params),
        runtime=point.runtime[0],
        workload=point.workload.workload.name if point.workload else None,
        leg=Leg.MAIN,
        kind=_kind(point),
        value=None,
        undefined=undefined,
        unit=kpi.unit,
        direction=kpi.direction,
        status=Status.PROPOSED,
        basis=None,
        source=None,
        estimand=kpi.estimand,
        isolation=isolation,
        gate=kpi.gate,
        critical=kpi.critical,
    )


def _source(point: PlannedPoint, said: str | None) -> Source:
    workload = point.workload.workload.source if point.workload else Source.LIVE.value
    return weakest_source(Source(workload), Source(said) if said else Source.LIVE)


def to_reading(point: PlannedPoint, outcome: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    """The reading of a measured point."""
    warnings = notices.printed(outcome)
    if outcome.undefined is not None:
        reason, detail = outcome.undefined
        known = reason in {item.value for item in Reason}
        undefined = Undefined(Reason(reason) if known else Reason.ERROR, detail)
        return replace(_blank(point, undefined, outcome.engine), warnings=warnings)
    if outcome.tally is not None:
        return _counted(point, outcome.tally, catalog, warnings)
    values = [float(process["process_ns"]) for process in outcome.processes]
    if not values:
        return _blank(point, Undefined(Reason.OUT_OF_BUDGET, "The budget ended before its first process."))
    warnings += notices.timed(point, outcome, effort, values)
    # Of stamped calls the CPU time holds both reads of the clock as well: no number to set beside a corrected median.
    batches = point.kpi.estimand is Estimand.CALL_MEAN
    cpu = median([median(process["cpu_ns"]) for process in outcome.processes]) if batches else None
    share = median([process["overhead_share"] for process in outcome.processes])
    return _timed(point, catalog, values, outcome, warnings, cpu=cpu, share=share)


def shared_reading(point: PlannedPoint, owner: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    """A reading of the same stamped calls as another KPI's: the nearest-rank tail of each process."""
    if owner.undefined is not None:
        return to_reading(point, owner, catalog, effort)
    values = [float(process["p99_ns"]) for process in owner.processes if "p99_ns" in process]
    if not values:
        return _blank(point, Undefined(Reason.INPUT_UNDEFINED, f"{point.kpi.shares} has no stamped calls."))
    return _timed(point, catalog, values, owner, notices.too_few(len(values), effort))


def derived_reading(point: PlannedPoint, inputs: Sequence[Reading | None], catalog: Catalog) -> Reading:
    """A reading that a formula computes from others; undefined where one of them is, or where they do not mix."""
    given = [reading for reading in inputs if reading is not None and reading.value is not None]
    if len(given) < len(point.kpi.inputs):
        known = {reading.kpi for reading in given}
        names = ", ".join(name for name in point.kpi.inputs if name not in known)
        return _blank(point, Undefined(Reason.INPUT_UNDEFINED, f"It is computed from {names}, which is undefined."))
    room, _, name = (point.kpi.formula or "").partition(":")
    formula = getattr(import_module(f"kpis.formulas.{room.replace('/', '.')}"), name)
    try:
        basis = combined_basis(*(reading.basis for reading in given if reading.basis is not None))
    except QuantityError as error:
        return _blank(point, Undefined(Reason.BAD_VALUE, str(error)))
    source = weakest_source(*(reading.source for reading in given if reading.source is not None))
    evidence = [f"{reading.kpi} = {reading.value!r} {reading.unit.value}" for reading in given]
    warnings = list(dict.fromkeys(notice for reading in given for notice in reading.warnings))
    value = formula(*(reading.value for reading in given))
    return _defined(point, catalog, value, basis, source, evidence=evidence, warnings=warnings)


def _defined(point: PlannedPoint, catalog: Catalog, value: float, basis: Basis, source: Source, **more: Any) -> Reading:
    try:
        quantity = Quantity(value, point.kpi.unit, basis, source)
    except QuantityError as error:
        return _blank(point, Undefined(Reason.BAD_VALUE, str(error)))
    blank = _blank(point, Undefined(Reason.ERROR, ""), more.pop("isolation", None))
    reading = replace(blank, value=quantity.value, undefined=None, basis=basis, source=source, **more)
    return replace(reading, status=derive(point.kpi, catalog.seams[point.kpi.seam], [reading]))


def _counted(point: PlannedPoint, tally: Mapping[str, Any], catalog: Catalog, warnings: list[Notice]) -> Reading:
    kpi = point.kpi
    numerator, denominator = tally["numerator"], tally["denominator"]
    if (kpi.estimand is Estimand.RATE) != (denominator is not None):
        what = "a denominator" if denominator is None else "no denominator"
        return _blank(point, Undefined(Reason.BAD_VALUE, f"A {kpi.estimand.value} needs {what}."))
    basis = Basis(tally["basis"])
    if (basis is Basis.MODEL) != bool(tally["knobs"]) or bool(kpi.knobs) != bool(tally["knobs"]):
        sentence = "A model declares its knobs in the catalog and hands them over; a count has none."
        return _blank(point, Undefined(Reason.BAD_VALUE, sentence))
    strangers = set(tally["reasons"]) - set(kpi.reasons) if kpi.reasons else set()
    if strangers:
        sentence = f"The histogram has keys that the catalog does not know: {', '.join(sorted(strangers))}."
        return _blank(point, Undefined(Reason.BAD_VALUE, sentence))
    return _defined(
        point,
        catalog,
        numerator if denominator is None else numerator / denominator,
        basis,
        _source(point, tally["source"]),
        numerator=numerator,
        denominator=denominator,
        excluded=tally["excluded"],
        histogram=dict(tally["reasons"]) if tally["reasons"] or kpi.estimand is not Estimand.COUNT else None,
        knobs=None if tally["knobs"] is None else dict(tally["knobs"]),
        evidence=list(tally["evidence"]),
        warnings=warnings,
    )


def _timed(
    point: PlannedPoint,
    catalog: Catalog,
    values: list[float],
    outcome: Outcome,
    warnings: list[Notice],
    *,
    cpu: float | None = None,
    share: float | None = None,
) -> Reading:
    centre = round(median(values), 3)
    interval = median_interval(values)
    distribution = Distribution(
        of="process values",
        n=len(values),
        median=centre,
        ci95=None if interval is None else (round(interval[0], 3), round(interval[1], 3)),
        cpu_median=None if cpu is None else round(cpu, 3),
        overhead_share=None if share is None else round(share, 6),
    )
    return _defined(
        point,
        catalog,
        centre,
        Basis.CLOCK,
        _source(point, outcome.source),
        isolation=outcome.engine,
        distribution=distribution,
        evidence=_stamped(outcome),
        warnings=warnings,
    )


def _stamped(outcome: Outcome) -> list[str]:
    """What the clock took off each stamped call, where calls were stamped."""
    costs = [process["stamp_ns"] for process in outcome.processes if "stamp_ns" in process]
    return [f"a stamp of the clock costs {median(costs):g} ns, measured and taken off"] if costs else []

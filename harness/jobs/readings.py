"""From what the workers answered to readings: the one place where a number gets its name, basis and source.

Computes medians, ratios of two counts and exact intervals, nothing more; a result that is not a finite number of
the KPI's unit becomes *undefined*, never a zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from harness.jobs.measure_point import Outcome
from harness.jobs.modes import Effort
from harness.jobs.plan import PlannedPoint
from harness.judge.bounds import median, median_interval, smallest_sample
from harness.record.run import Mode
from kpis.registry import Catalog
from kpis.status import derive
from kpis.terms.kpi import Estimand, Status
from kpis.terms.quantity import Basis, Quantity, QuantityError, Source, weakest_source
from kpis.terms.reading import Distribution, Leg, Notice, Reading, ReadingKind, Reason, Undefined, Warn

__all__ = ["derived_reading", "shared_reading", "to_reading"]

CLOCK_SHARE = 0.01
"""Above this share of the slice the harness's own cost is worth a warning."""

OFF_CPU = 0.10
SPREAD = 0.10
FIRST_SLOW = 1.2

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
    warnings = _printed(outcome)
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
    warnings += _timed_warnings(point, outcome, effort, values)
    cpu = median([median(process["cpu_ns"]) for process in outcome.processes])
    share = median([process["overhead_share"] for process in outcome.processes])
    return _timed(point, catalog, values, outcome, warnings, cpu=cpu, share=share)


def shared_reading(point: PlannedPoint, owner: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    """A reading of the same stamped calls as another KPI's: the nearest-rank tail of each process."""
    if owner.undefined is not None:
        return to_reading(point, owner, catalog, effort)
    values = [float(process["p99_ns"]) for process in owner.processes if "p99_ns" in process]
    if not values:
        return _blank(point, Undefined(Reason.INPUT_UNDEFINED, f"{point.kpi.shares} has no stamped calls."))
    return _timed(point, catalog, values, owner, _too_few(len(values), effort))


def derived_reading(point: PlannedPoint, inputs: Sequence[Reading], catalog: Catalog) -> Reading:
    """A reading that a formula computes from others; undefined where one of them is."""
    missing = [reading.kpi for reading in inputs if reading.value is None]
    if missing or len(inputs) < len(point.kpi.inputs):
        names = ", ".join(missing) or "an input"
        return _blank(point, Undefined(Reason.INPUT_UNDEFINED, f"It is computed from {names}, which is undefined."))
    room, _, name = (point.kpi.formula or "").partition(":")
    formula = getattr(import_module(f"kpis.formulas.{room.replace('/', '.')}"), name)
    value = formula(*(reading.value for reading in inputs))
    bases = {reading.basis for reading in inputs if reading.basis is not None}
    basis = bases.pop() if len(bases) == 1 else Basis.MODEL
    source = weakest_source(*(reading.source for reading in inputs if reading.source is not None))
    evidence = [f"{reading.kpi} = {reading.value!r} {reading.unit.value}" for reading in inputs]
    return _defined(point, catalog, value, basis, source, evidence=evidence)


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


_LONGER = {Mode.QUICK: "; leave out --quick to get one", Mode.BUDGET: "; a longer --budget gives one"}


def _too_few(n: int, effort: Effort) -> list[Notice]:
    least = smallest_sample()
    if n >= least:
        return []
    advice = _LONGER.get(effort.mode, "")
    return [Notice(Warn.TOO_FEW, f"{n} process{'es' * (n != 1)}: no interval below {least}{advice}.")]


def _printed(outcome: Outcome) -> list[Notice]:
    if not outcome.printed:
        return []
    return [Notice(Warn.PRINTED, f"The probe printed {outcome.printed} bytes; they were kept out of the result.")]


def _spread(values: list[float]) -> float:
    """How far apart processes lie, over their median: the middle half of them, or all where they are fewer than six.

    A single displaced process says nothing of the others and does not move the interval, so it is no spread.
    """
    ordered = sorted(values)
    cut = len(ordered) // 4 if len(ordered) >= smallest_sample() else 0
    middle = median(ordered)
    return (ordered[len(ordered) - 1 - cut] - ordered[cut]) / middle if middle else 0.0


def _timed_warnings(point: PlannedPoint, outcome: Outcome, effort: Effort, values: list[float]) -> list[Notice]:
    warnings = _too_few(len(values), effort)
    share = median([process["overhead_share"] for process in outcome.processes])
    if share > CLOCK_SHARE:
        sentence = f"The harness itself is {share:.1%} of the slice: read differences, not the last digit."
        warnings.append(Notice(Warn.CLOCK_SHARE, sentence))
    if point.kpi.estimand is Estimand.CALL_MEAN:
        wall = median(values)
        cpu = median([median(process["cpu_ns"]) for process in outcome.processes])
        if wall - cpu > OFF_CPU * wall:
            sentence = f"{(wall - cpu) / wall:.0%} of the time it is off the CPU: it waits, sleeps or was displaced."
            warnings.append(Notice(Warn.OFF_CPU, sentence))
    spread = _spread(values)
    if spread > SPREAD:
        sentence = f"Processes differ by {spread:.0%} of the median: see python -m harness doctor."
        warnings.append(Notice(Warn.SPREAD, sentence))
    firsts = [process["values_ns"][0] / median(process["values_ns"]) for process in outcome.processes]
    if len(firsts) > 2 and median(firsts) > FIRST_SLOW:
        sentence = f"The first value of a process is {median(firsts):.2f} times its median: one warm-up is not enough."
        warnings.append(Notice(Warn.FIRST_SLOW, sentence))
    if outcome.stopped_early:
        done = f"{len(values)} of {effort.processes} processes"
        sentence = f"It reached its limit of {effort.limit_s:.0f} s after {done}."
        warnings.append(Notice(Warn.SHORT, sentence))
    return warnings

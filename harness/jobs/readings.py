"""From what the workers answered to readings: the one place where a number gets its name, basis and source.

Computes medians, ratios of two counts and exact intervals, nothing more; a result that is not a finite number of
the KPI's unit becomes *undefined*, never a zero. Whatever one KPI's answers hold, the others keep their readings: what
makes no reading, or one that could not be written, is a bad value of that KPI alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import multimode
from typing import Any

from harness.jobs import notices
from harness.jobs.growth import GrowthPoint, distribution_of, evidence_of, slope_of
from harness.jobs.measure_point import Outcome
from harness.jobs.modes import Effort
from harness.jobs.plan import PlannedPoint
from harness.judge.bounds import median, median_interval
from harness.measure.handed import tally_fault
from harness.record.plain import RunFileError, fits, plain
from kpis.registry import Catalog
from kpis.status import derive
from kpis.terms.kpi import Estimand, Status
from kpis.terms.quantity import Basis, Quantity, QuantityError, Source, Unit, combined_basis, weakest_source
from kpis.terms.reading import Distribution, Leg, Notice, Reading, ReadingKind, Reason, Undefined, Warn

__all__ = ["derived_reading", "growth_reading", "shared_reading", "to_reading"]

_KINDS = {
    Estimand.COUNT: ReadingKind.COUNT,
    Estimand.RATE: ReadingKind.RATE,
    Estimand.INVARIANT: ReadingKind.INVARIANT,
    Estimand.HISTOGRAM: ReadingKind.HISTOGRAM,
}

_WHOLE = (Unit.COUNT, Unit.OPS, Unit.TOK, Unit.BYTES, Unit.INSTRUCTIONS)
"""Units of what is counted one by one: none of them comes in halves or below zero."""

_NAMED = 3


def _kind(point: PlannedPoint) -> ReadingKind:
    if point.kpi.timed:
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


def _guarded(point: PlannedPoint, make: Callable[[], Reading]) -> Reading:
    """What ``make`` makes, if a run file can hold it; otherwise a bad value that says why."""
    try:
        reading = make()
        plain(reading, point.kpi.id)
    except RunFileError as error:
        why = str(error).removeprefix("The run cannot be written: ")
        return _blank(point, Undefined(Reason.BAD_VALUE, f"It cannot be written down: {why}"))
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        sentence = f"What was answered makes no reading ({type(error).__name__}: {str(error)[:200]})."
        return _blank(point, Undefined(Reason.BAD_VALUE, sentence))
    return reading


def _beside(outcome: Outcome) -> list[Notice]:
    """What the workers of the point did besides: printed, did not end, left processes, opened what has no digest."""
    found = notices.printed(outcome)
    found += [Notice(Warn.LEFTOVER, sentence) for sentence in outcome.notices]
    names = sorted({Path(name).name for name, digest in outcome.touched.items() if digest is None})
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        sentence = (
            f"No digest of {', '.join(names[:_NAMED])}{more} (gone, unreadable or over 64 MiB): whether such a file "
            "changed is not checked."
        )
        found.append(Notice(Warn.UNDIGESTED, sentence))
    return found


def to_reading(point: PlannedPoint, outcome: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    """The reading of a measured point."""
    return _guarded(point, lambda: _to_reading(point, outcome, catalog, effort))


def _to_reading(point: PlannedPoint, outcome: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    warnings = _beside(outcome)
    if outcome.undefined is not None:
        reason, detail = outcome.undefined
        known = reason in {item.value for item in Reason}
        undefined = Undefined(Reason(reason) if known else Reason.ERROR, detail)
        return replace(_blank(point, undefined, outcome.engine), warnings=warnings)
    if outcome.tally is not None:
        return _counted(point, outcome.tally, catalog, warnings)
    if outcome.ratios:
        return _clocked(point, outcome, catalog, [*warnings, *notices.too_few(len(outcome.ratios), effort)])
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
    return _guarded(point, lambda: _shared(point, owner, catalog, effort))


def _shared(point: PlannedPoint, owner: Outcome, catalog: Catalog, effort: Effort) -> Reading:
    if owner.undefined is not None:
        return to_reading(point, owner, catalog, effort)
    values = [float(process["p99_ns"]) for process in owner.processes if "p99_ns" in process]
    if not values:
        return _blank(point, Undefined(Reason.INPUT_UNDEFINED, f"{point.kpi.shares} has no stamped calls."))
    return _timed(point, catalog, values, owner, notices.too_few(len(values), effort))


def derived_reading(point: PlannedPoint, inputs: Sequence[Reading | None], catalog: Catalog) -> Reading:
    """A reading that a formula computes from others; undefined where one of them is, or where they do not mix."""
    return _guarded(point, lambda: _derived(point, inputs, catalog))


def _derived(point: PlannedPoint, inputs: Sequence[Reading | None], catalog: Catalog) -> Reading:
    if point.undefined is not None:
        return _blank(point, point.undefined)
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


def growth_reading(
    point: PlannedPoint, lengths: Sequence[GrowthPoint], due: Sequence[int], catalog: Catalog
) -> Reading:
    """The slope over a KPI's lengths of history; undefined unless each of ``due`` (turns, ascending) has one number."""
    return _guarded(point, lambda: _growth(point, lengths, due, catalog))


def _growth(point: PlannedPoint, lengths: Sequence[GrowthPoint], due: Sequence[int], catalog: Catalog) -> Reading:
    if point.undefined is not None:
        return _blank(point, point.undefined)
    given = sorted((each for each in lengths if each.reading.value is not None), key=lambda each: each.length)
    if [each.length for each in given] != list(due):
        wanted = ", ".join(map(str, due))
        there = ", ".join(str(each.length) for each in given) or "none"
        what = f"It needs {point.kpi.inputs[0]} once at each history of {wanted}, and there is a number at: {there}."
        return _blank(point, Undefined(Reason.INPUT_UNDEFINED, what))
    if nothing := [str(each.length) for each in given if not (each.reading.value or 0.0) > 0]:
        what = f"Nothing below or at zero has a logarithm, and {point.kpi.inputs[0]} is so at: {', '.join(nothing)}."
        return _blank(point, Undefined(Reason.INPUT_UNDEFINED, what))
    found = distribution_of(given)
    basis = combined_basis(*(each.reading.basis for each in given if each.reading.basis is not None))
    source = weakest_source(*(each.reading.source for each in given if each.reading.source is not None))
    isolation = given[0].reading.isolation
    # One notice a code: the points' own say the rest.
    warnings = list({notice.code: notice for each in reversed(given) for notice in each.reading.warnings}.values())
    more = {"isolation": isolation, "distribution": found, "evidence": evidence_of(given), "warnings": warnings}
    return _defined(point, catalog, slope_of(given), basis, source, **more)


def _defined(point: PlannedPoint, catalog: Catalog, value: float, basis: Basis, source: Source, **more: Any) -> Reading:
    if not fits(value):
        sentence = f"The value does not fit into 64 bits, as a number of {point.kpi.unit.value} must."
        return _blank(point, Undefined(Reason.BAD_VALUE, sentence))
    try:
        quantity = Quantity(value, point.kpi.unit, basis, source)
    except QuantityError as error:
        return _blank(point, Undefined(Reason.BAD_VALUE, str(error)))
    blank = _blank(point, Undefined(Reason.ERROR, ""), more.pop("isolation", None))
    reading = replace(blank, value=quantity.value, undefined=None, basis=basis, source=source, **more)
    return replace(reading, status=derive(point.kpi, catalog.seams[point.kpi.seam], [reading]))


def _counted(point: PlannedPoint, tally: Mapping[str, Any], catalog: Catalog, warnings: list[Notice]) -> Reading:
    kpi = point.kpi
    fault = tally_fault(tally) or _count_fault(point, tally)
    if fault is not None:
        return _blank(point, Undefined(Reason.BAD_VALUE, fault))
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
        evidence=[*tally["evidence"], *tally["clocked"]],
        warnings=warnings,
    )


def _clocked(point: PlannedPoint, outcome: Outcome, catalog: Catalog, warnings: list[Notice]) -> Reading:
    """The ratio of the median process, with that process's own two sides: medians of each would be nobody's ratio."""
    ranked = sorted(outcome.ratios, key=lambda each: each["numerator"] / each["denominator"])
    ratios = [each["numerator"] / each["denominator"] for each in ranked]
    middle = (len(ranked) - 1) // 2
    distribution = Distribution(
        of="ratios of processes",
        n=len(ratios),
        median=ratios[middle],
        ci95=median_interval(ratios),
        cpu_median=None,
        overhead_share=None,
        values=_of_most(len(next(iter(each["rounds"].values()), ())) for each in ranked),
    )
    return _defined(
        point,
        catalog,
        ratios[middle],
        Basis.CLOCK,
        _source(point, outcome.source),
        isolation=outcome.engine,
        numerator=ranked[middle]["numerator"],
        denominator=ranked[middle]["denominator"],
        distribution=distribution,
        evidence=list(ranked[middle]["evidence"]),
        warnings=warnings,
    )


def _count_fault(point: PlannedPoint, tally: Mapping[str, Any]) -> str | None:
    """What a count cannot be: less than nothing, or a fraction. Of amounts in money or time nothing is asked."""
    kpi = point.kpi
    counts = kpi.estimand in (Estimand.COUNT, Estimand.HISTOGRAM) and kpi.unit in _WHOLE
    if not counts or tally["basis"] != Basis.COUNT.value:
        return None
    value = tally["numerator"]
    if value < 0:
        return f"It counted {value!r}, and there is no count below zero."
    if isinstance(value, float) and not value.is_integer():
        return f"It counted {value!r}, and a count of {kpi.unit.value} is a whole number."
    return None


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
        loops=_of_most(process["loops"] for process in outcome.processes if "loops" in process),
        values=_of_most(len(process["values_ns"]) for process in outcome.processes),
    )
    return _defined(
        point,
        catalog,
        centre,
        Basis.CLOCK,
        _source(point, outcome.source),
        isolation=outcome.engine,
        distribution=distribution,
        evidence=[*_stamped(outcome), *_worked(outcome)],
        warnings=warnings,
    )


def _of_most(numbers: Iterable[int]) -> int | None:
    """The number that most processes have, of several such the largest; None of none."""
    return max(multimode(numbers), default=None)


def _worked(outcome: Outcome) -> list[str]:
    """What one call did, where the probe counted it."""
    counts = ", ".join(f"{name} {count:,}" for name, count in outcome.work.items())
    return [f"one call, counted exactly: {counts}"] if counts else []


def _stamped(outcome: Outcome) -> list[str]:
    """What the clock took off each stamped call, where calls were stamped."""
    costs = [process["stamp_ns"] for process in outcome.processes if "stamp_ns" in process]
    return [f"a stamp of the clock costs {median(costs):g} ns, measured and taken off"] if costs else []

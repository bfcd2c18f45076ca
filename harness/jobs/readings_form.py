"""The form of a reading: what the catalog says of its KPI, left blank with a reason or filled in with a number.

A result that is not a finite number of the KPI's unit, or that a run file could not hold, becomes *undefined* with what
is wrong with it, never a zero. Whatever one KPI's answers hold, the others keep their readings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.jobs.plan import PlannedPoint
from harness.record.plain import RunFileError, fits, plain
from kpis.registry import Catalog
from kpis.status import derive
from kpis.terms.kpi import Estimand, Status
from kpis.terms.quantity import Basis, Quantity, QuantityError, Source, weakest_source
from kpis.terms.reading import Leg, Reading, ReadingKind, Reason, Undefined

__all__ = ["blank", "defined", "guarded", "source_of"]

_KINDS = {
    Estimand.COUNT: ReadingKind.COUNT,
    Estimand.RATE: ReadingKind.RATE,
    Estimand.INVARIANT: ReadingKind.INVARIANT,
    Estimand.HISTOGRAM: ReadingKind.HISTOGRAM,
}


def _kind(point: PlannedPoint) -> ReadingKind:
    if point.kpi.timed:
        return ReadingKind.TIMED
    return ReadingKind.MODELED if point.kpi.knobs else _KINDS[point.kpi.estimand]


def blank(point: PlannedPoint, undefined: Undefined, isolation: str | None = None) -> Reading:
    """The reading of ``point`` without a number, and why there is none."""
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


def source_of(point: PlannedPoint, said: str | None) -> Source:
    """What the number of ``point`` was taken from: the weaker of its workload's source and what its probe ``said``."""
    workload = point.workload.workload.source if point.workload else Source.LIVE.value
    return weakest_source(Source(workload), Source(said) if said else Source.LIVE)


def guarded(point: PlannedPoint, make: Callable[[], Reading]) -> Reading:
    """What ``make`` makes, if a run file can hold it; otherwise a bad value that says why."""
    try:
        reading = make()
        plain(reading, point.kpi.id)
    except RunFileError as error:
        why = str(error).removeprefix("The run cannot be written: ")
        return blank(point, Undefined(Reason.BAD_VALUE, f"It cannot be written down: {why}"))
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        sentence = f"What was answered makes no reading ({type(error).__name__}: {str(error)[:200]})."
        return blank(point, Undefined(Reason.BAD_VALUE, sentence))
    return reading


def defined(point: PlannedPoint, catalog: Catalog, value: float, basis: Basis, source: Source, **more: Any) -> Reading:
    """The reading of ``point`` with ``value``, in the KPI's unit; a bad value where that is no number of its kind.

    ``more`` are fields of the reading.
    """
    if not fits(value):
        sentence = f"The value does not fit into 64 bits, as a number of {point.kpi.unit.value} must."
        return blank(point, Undefined(Reason.BAD_VALUE, sentence))
    try:
        quantity = Quantity(value, point.kpi.unit, basis, source)
    except QuantityError as error:
        return blank(point, Undefined(Reason.BAD_VALUE, str(error)))
    empty = blank(point, Undefined(Reason.ERROR, ""), more.pop("isolation", None))
    reading = replace(empty, value=quantity.value, undefined=None, basis=basis, source=source, **more)
    return replace(reading, status=derive(point.kpi, catalog.seams[point.kpi.seam], [reading]))

"""Readings that are computed from others: by a formula of the catalog, or as the slope over lengths of history.

Undefined where an input is. Basis and source are the weakest of the inputs'. Refuses to compute from bases that do not
mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from harness.jobs.growth import GrowthPoint, distribution_of, evidence_of, slope_of
from harness.jobs.plan import PlannedPoint
from harness.jobs.readings_form import blank, defined, guarded
from kpis.registry import Catalog
from kpis.terms.quantity import QuantityError, combined_basis, weakest_source
from kpis.terms.reading import Reading, Reason, Undefined

__all__ = ["derived_reading", "growth_reading"]


def derived_reading(point: PlannedPoint, inputs: Sequence[Reading | None], catalog: Catalog) -> Reading:
    """A reading that a formula computes from others; undefined where one of them is, or where they do not mix."""
    return guarded(point, lambda: _derived(point, inputs, catalog))


def _derived(point: PlannedPoint, inputs: Sequence[Reading | None], catalog: Catalog) -> Reading:
    if point.undefined is not None:
        return blank(point, point.undefined)
    given = [reading for reading in inputs if reading is not None and reading.value is not None]
    if len(given) < len(point.kpi.inputs):
        known = {reading.kpi for reading in given}
        names = ", ".join(name for name in point.kpi.inputs if name not in known)
        return blank(point, Undefined(Reason.INPUT_UNDEFINED, f"It is computed from {names}, which is undefined."))
    room, _, name = (point.kpi.formula or "").partition(":")
    formula = getattr(import_module(f"kpis.formulas.{room.replace('/', '.')}"), name)
    try:
        basis = combined_basis(*(reading.basis for reading in given if reading.basis is not None))
    except QuantityError as error:
        return blank(point, Undefined(Reason.BAD_VALUE, str(error)))
    source = weakest_source(*(reading.source for reading in given if reading.source is not None))
    evidence = [f"{reading.kpi} = {reading.value!r} {reading.unit.value}" for reading in given]
    warnings = list(dict.fromkeys(notice for reading in given for notice in reading.warnings))
    value = formula(*(reading.value for reading in given))
    return defined(point, catalog, value, basis, source, evidence=evidence, warnings=warnings)


def growth_reading(
    point: PlannedPoint, lengths: Sequence[GrowthPoint], due: Sequence[int], catalog: Catalog
) -> Reading:
    """The slope over a KPI's lengths of history; undefined unless each of ``due`` (turns, ascending) has one number."""
    return guarded(point, lambda: _growth(point, lengths, due, catalog))


def _growth(point: PlannedPoint, lengths: Sequence[GrowthPoint], due: Sequence[int], catalog: Catalog) -> Reading:
    if point.undefined is not None:
        return blank(point, point.undefined)
    given = sorted((each for each in lengths if each.reading.value is not None), key=lambda each: each.length)
    if [each.length for each in given] != list(due):
        wanted = ", ".join(map(str, due))
        there = ", ".join(str(each.length) for each in given) or "none"
        what = f"It needs {point.kpi.inputs[0]} once at each history of {wanted}, and there is a number at: {there}."
        return blank(point, Undefined(Reason.INPUT_UNDEFINED, what))
    if nothing := [str(each.length) for each in given if not (each.reading.value or 0.0) > 0]:
        what = f"Nothing below or at zero has a logarithm, and {point.kpi.inputs[0]} is so at: {', '.join(nothing)}."
        return blank(point, Undefined(Reason.INPUT_UNDEFINED, what))
    found = distribution_of(given)
    basis = combined_basis(*(each.reading.basis for each in given if each.reading.basis is not None))
    source = weakest_source(*(each.reading.source for each in given if each.reading.source is not None))
    isolation = given[0].reading.isolation
    # One notice a code: the points' own say the rest.
    warnings = list({notice.code: notice for each in reversed(given) for notice in each.reading.warnings}.values())
    more = {"isolation": isolation, "distribution": found, "evidence": evidence_of(given), "warnings": warnings}
    return defined(point, catalog, slope_of(given), basis, source, **more)

"""From a tally to a reading: counts, rates, invariants, histograms and cost models.

Refuses what is no count: less than nothing, a fraction, a key that the catalog does not know, a model without knobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.jobs.plan import PlannedPoint
from harness.jobs.readings_form import blank, defined, source_of
from harness.measure.handed import tally_fault
from kpis.registry import Catalog
from kpis.terms.kpi import Estimand
from kpis.terms.quantity import Basis, Unit
from kpis.terms.reading import Notice, Reading, Reason, Undefined

__all__ = ["counted"]

_WHOLE = (Unit.COUNT, Unit.OPS, Unit.TOK, Unit.BYTES, Unit.INSTRUCTIONS)
"""Units of what is counted one by one: none of them comes in halves or below zero."""


def counted(point: PlannedPoint, tally: Mapping[str, Any], catalog: Catalog, warnings: list[Notice]) -> Reading:
    """The reading of ``point`` from what its probe tallied; a bad value where that is no count of it."""
    kpi = point.kpi
    fault = tally_fault(tally) or _count_fault(point, tally)
    if fault is not None:
        return blank(point, Undefined(Reason.BAD_VALUE, fault))
    numerator, denominator = tally["numerator"], tally["denominator"]
    if (kpi.estimand is Estimand.RATE) != (denominator is not None):
        what = "a denominator" if denominator is None else "no denominator"
        return blank(point, Undefined(Reason.BAD_VALUE, f"A {kpi.estimand.value} needs {what}."))
    basis = Basis(tally["basis"])
    if (basis is Basis.MODEL) != bool(tally["knobs"]) or bool(kpi.knobs) != bool(tally["knobs"]):
        sentence = "A model declares its knobs in the catalog and hands them over; a count has none."
        return blank(point, Undefined(Reason.BAD_VALUE, sentence))
    strangers = set(tally["reasons"]) - set(kpi.reasons) if kpi.reasons else set()
    if strangers:
        sentence = f"The histogram has keys that the catalog does not know: {', '.join(sorted(strangers))}."
        return blank(point, Undefined(Reason.BAD_VALUE, sentence))
    return defined(
        point,
        catalog,
        numerator if denominator is None else numerator / denominator,
        basis,
        source_of(point, tally["source"]),
        numerator=numerator,
        denominator=denominator,
        excluded=tally["excluded"],
        histogram=dict(tally["reasons"]) if tally["reasons"] or kpi.estimand is not Estimand.COUNT else None,
        knobs=None if tally["knobs"] is None else dict(tally["knobs"]),
        evidence=[*tally["evidence"], *tally["clocked"]],
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

"""Metrics from sums: a count, a ratio of two sums, a lower bound, or nothing with the reason why.

One place forms every ratio of recorded runs, so that no one divides by zero, loses the sums behind a value, or shows a
lower bound as if it were the value.
"""

from __future__ import annotations

from collections.abc import Mapping

from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["at_least", "count", "is_bound", "missing", "ratio", "ratio_at_least"]

_NONE: Mapping[str, float | int] = {}


def count(
    metric_id: str,
    value: float | int,
    basis: Basis = Basis.COUNT,
    detail: Mapping[str, float | int] = _NONE,
    notes: tuple[str, ...] = (),
) -> Metric:
    """A sum, which is its own numerator."""
    return Metric(metric_id, value, basis, numerator=value, detail=detail, notes=notes)


def at_least(
    metric_id: str,
    value: float | int,
    gaps: int,
    of: str,
    *,
    every: int | None = None,
    high: int | None = None,
    basis: Basis = Basis.COUNT,
    detail: Mapping[str, float | int] = _NONE,
    notes: tuple[str, ...] = (),
) -> Metric:
    """A sum that misses ``gaps`` of something (``of``): itself where that is 0, else the lower bound of the truth.

    Where nothing was found and all ``every`` are missed, nothing is known: there is no value then, and no zero.
    """
    if gaps <= 0:
        return count(metric_id, value, basis, detail, notes)
    if not value and every is not None and gaps >= every:
        return missing(metric_id, f"{gaps:,} of {gaps:,} {of}", basis, {**detail, "gaps": gaps})
    told = (f"At least this: {gaps:,} {of}.", *notes)
    detail = {**detail, "gaps": gaps}
    return Metric(metric_id, value, basis, numerator=value, low=value, high=high, detail=detail, notes=told)


def is_bound(metric: Metric) -> bool:
    """Whether the value is an end of a range that the recording leaves open."""
    return metric.low is not None or metric.high is not None


def missing(metric_id: str, why: str, basis: Basis = Basis.COUNT, detail: Mapping[str, float | int] = _NONE) -> Metric:
    """No value, and why."""
    return Metric(metric_id, None, basis, undefined=why, detail=detail)


def ratio(
    metric_id: str,
    top: float | int,
    below: float | int,
    why: str,
    basis: Basis = Basis.FORMULA,
    detail: Mapping[str, float | int] = _NONE,
    notes: tuple[str, ...] = (),
) -> Metric:
    """``top`` over ``below``, or undefined because ``why`` where there is nothing to divide by."""
    if below == 0:
        return Metric(
            metric_id, None, basis, undefined=why, numerator=top, denominator=below, detail=detail, notes=notes
        )
    return Metric(metric_id, top / below, basis, numerator=top, denominator=below, detail=detail, notes=notes)


def ratio_at_least(
    metric_id: str,
    top: float | int,
    below: float | int,
    why: str,
    gaps: int,
    of: str,
    *,
    every: int | None = None,
    basis: Basis = Basis.FORMULA,
    detail: Mapping[str, float | int] = _NONE,
) -> Metric:
    """A ratio whose numerator misses ``gaps`` of something (``of``), as :func:`at_least`; its denominator is whole."""
    if gaps <= 0 or below == 0:
        return ratio(metric_id, top, below, why, basis, detail)
    if not top and every is not None and gaps >= every:
        return missing(metric_id, f"{gaps:,} of {gaps:,} {of}", basis, {**detail, "gaps": gaps})
    share, detail = top / below, {**detail, "gaps": gaps}
    notes = (f"At least this: {gaps:,} {of}.",)
    return Metric(metric_id, share, basis, numerator=top, denominator=below, low=share, detail=detail, notes=notes)

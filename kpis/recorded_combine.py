"""The results of many runs as one: sums, ratios from summed parts, peaks, and percentiles of pooled values.

Never a mean of ratios. Where one run has no value because it had nothing to divide by, it adds nothing; where it has
none because its recording is silent, the whole has none either, and the known part is told beside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from kpis.formulas.context.percentile import percentile
from kpis.recorded_metrics import row_of
from kpis.terms.metric import Combine, Metric, MetricRow
from kpis.terms.quantity import Basis, QuantityError, combined_basis

__all__ = ["combine"]

_PERCENTILE = re.compile(r"_p(\d{1,2})(?:_|$)")


def combine(
    metric_id: str,
    metrics: Sequence[Metric],
    pooled: Sequence[float] | None = None,
    rows: Mapping[str, MetricRow] | None = None,
) -> Metric:
    """What ``metrics``, each of one run, come to together by the rule of their row. The order does not matter.

    ``pooled`` are the raw values of all runs, which a percentile of them needs; without them it has no value.

    Raises:
        SelectionError: there is no row with this id.
        ValueError: there is no metric, or one is of another id.
    """
    row = row_of(metric_id, rows)
    if not metrics or any(each.id != metric_id for each in metrics):
        raise ValueError(f"combining {metric_id} takes results of {metric_id}, at least one")
    if len(metrics) == 1 and pooled is None:
        return metrics[0]
    try:
        basis = combined_basis(*(each.basis for each in metrics))
    except QuantityError as error:
        return Metric(metric_id, None, metrics[0].basis, undefined=f"the runs do not add up: {error}")
    return _RULES[row.combine](row, metrics, basis, pooled)


def _sum(row: MetricRow, metrics: Sequence[Metric], basis: Basis, _: Sequence[float] | None) -> Metric:
    known = [each.value for each in metrics if each.value is not None]
    total = sum(known)
    if not known or len(known) + _empty(metrics) < len(metrics):
        return _silent(row, metrics, basis, {"known": total})
    low, high = _bounds(metrics, sum)
    return Metric(row.id, total, basis, numerator=total, low=low, high=high, detail=_details(metrics))


def _peak(row: MetricRow, metrics: Sequence[Metric], basis: Basis, _: Sequence[float] | None) -> Metric:
    known = [each.value for each in metrics if each.value is not None]
    if not known or len(known) + _empty(metrics) < len(metrics):
        return _silent(row, metrics, basis, {"known": max(known)} if known else {})
    low, high = _bounds(metrics, max)
    return Metric(row.id, max(known), basis, low=low, high=high, detail=_details(metrics))


def _ratio(row: MetricRow, metrics: Sequence[Metric], basis: Basis, _: Sequence[float] | None) -> Metric:
    parts = [(each.numerator, each.denominator, each) for each in metrics]
    whole = [(top, below, each) for top, below, each in parts if top is not None and below is not None]
    top, below = sum(each[0] for each in whole), sum(each[1] for each in whole)
    if len(whole) < len(metrics):
        return _silent(row, metrics, basis, {"known_numerator": top, "known_denominator": below})
    if below == 0:
        why = next((each.undefined for each in metrics if each.undefined), row.undefined)
        return Metric(row.id, None, basis, undefined=why, numerator=top, denominator=below, detail=_details(metrics))
    low, high = _ends(whole, below)
    # A run without value and with something to divide by has bounds only, and so has the whole.
    open_ended = next((each for _, count, each in whole if each.value is None and count), None)
    return Metric(
        row.id,
        top / below if open_ended is None else None,
        basis,
        undefined=None if open_ended is None else open_ended.undefined,
        numerator=top,
        denominator=below,
        low=low,
        high=high,
        detail=_details(metrics),
    )


_Share = tuple[float | int, float | int, Metric]
"""Numerator, denominator, and the metric that they are of."""


def _ends(whole: Sequence[_Share], below: float) -> tuple[float | None, float | None]:
    """Both bounds of a ratio, each None where it is open; both where there is no bound among ``whole``."""
    bounded = [each for _, _, each in whole if each.low is not None or each.high is not None]
    if not bounded:
        return None, None
    low = sum(share if not _is_open(each) else count * (each.low or 0) for share, count, each in whole) / below
    high = sum(share if not _is_open(each) else count * (each.high or 0) for share, count, each in whole) / below
    below_open, above_open = any(each.low is None for each in bounded), any(each.high is None for each in bounded)
    if low == high and not below_open and not above_open:
        return None, None
    return None if below_open else low, None if above_open else high


def _bounds(metrics: Sequence[Metric], join: Callable[[Sequence[float]], float]) -> tuple[float | None, float | None]:
    """What ``join`` makes of the lower ends and of the upper ones, as :func:`_ends`."""
    known = [each for each in metrics if each.value is not None]
    bounded = [each for each in known if _is_open(each)]
    if not bounded:
        return None, None
    low = [each.value or 0 if each.low is None else each.low for each in known]
    high = [each.value or 0 if each.high is None else each.high for each in known]
    return (
        None if any(each.low is None for each in bounded) else join(low),
        None if any(each.high is None for each in bounded) else join(high),
    )


def _is_open(metric: Metric) -> bool:
    return metric.low is not None or metric.high is not None


def _pooled(row: MetricRow, metrics: Sequence[Metric], basis: Basis, raw: Sequence[float] | None) -> Metric:
    found = _PERCENTILE.search(row.id)
    at = 50.0 if "median" in row.id else float(found[1]) if found else None
    if at is None:
        raise ValueError(f"{row.id} does not name the percentile that it is")
    if raw is None:
        why = f"computed again from all values, which {len(metrics)} results do not hold"
        return Metric(row.id, None, basis, undefined=why)
    value = percentile(raw, at)
    return Metric(row.id, value, basis, undefined=row.undefined if value is None else None)


def _none(row: MetricRow, metrics: Sequence[Metric], basis: Basis, _: Sequence[float] | None) -> Metric:
    return Metric(row.id, None, basis, undefined=f"{row.id} of {len(metrics)} runs are not one number")


def _empty(metrics: Sequence[Metric]) -> int:
    return sum(each.value is None and each.denominator == 0 for each in metrics)


def _silent(row: MetricRow, metrics: Sequence[Metric], basis: Basis, detail: Mapping[str, float | int]) -> Metric:
    missing = [each for each in metrics if each.value is None]
    why = next((each.undefined for each in missing if each.undefined), row.undefined)
    return Metric(
        row.id,
        None,
        basis,
        undefined=f"{len(missing)} of {len(metrics)} runs have no value: {why}",
        detail={**detail, "runs": len(metrics), "without": len(missing)},
    )


def _details(metrics: Sequence[Metric]) -> dict[str, float | int]:
    summed: dict[str, float | int] = {}
    for each in metrics:
        for name, count in each.detail.items():
            summed[name] = summed.get(name, 0) + count
    return summed


_Rule = Callable[[MetricRow, Sequence[Metric], Basis, Sequence[float] | None], Metric]
_RULES: Mapping[Combine, _Rule] = {
    Combine.SUM: _sum,
    Combine.MAX: _peak,
    Combine.RATIO_OF_SUMS: _ratio,
    Combine.POOLED: _pooled,
    Combine.NONE: _none,
}

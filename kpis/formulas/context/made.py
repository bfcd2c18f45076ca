"""How a value of a formula becomes a metric: with its basis and its parts, or with the reason why there is none.

Three kinds of nothing stay apart: a ratio that has nothing to divide by keeps its zero denominator, and adds nothing to
others; what the recording leaves open has no parts at all; what is only bounded has its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kpis.formulas.context.values import Ratio
from kpis.terms.context_words import PriceBasis
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["Bases", "Metrics", "amount", "bases_of", "empty", "share", "unobserved"]

Metrics = dict[str, Metric]
"""Metrics by id."""

_TOKENS = {
    PriceBasis.METERED: Basis.COUNT,
    PriceBasis.ESTIMATED: Basis.MODEL,
    PriceBasis.PROVIDER: Basis.REPORTED,
}


@dataclass(frozen=True, slots=True)
class Bases:
    """The basis of a run's token counts, and of what is computed from them."""

    tokens: Basis
    derived: Basis


def bases_of(price: PriceBasis) -> Bases:
    """A formula over counts is a formula; over a model or a report it is still that."""
    tokens = _TOKENS[price]
    return Bases(tokens, Basis.FORMULA if tokens is Basis.COUNT else tokens)


def amount(
    metric_id: str,
    value: float,
    basis: Basis,
    detail: Mapping[str, float | int] | None = None,
    notes: Iterable[str] = (),
) -> Metric:
    """A sum, a peak or a count."""
    return Metric(metric_id, value, basis, numerator=value, detail=detail or {}, notes=tuple(notes))


def share(
    metric_id: str,
    made: Ratio,
    basis: Basis,
    detail: Mapping[str, float | int] | None = None,
    notes: Iterable[str] = (),
    bounds: tuple[float, float] | None = None,
) -> Metric:
    """A ratio with its parts; where it has no value and no bounds although it could be divided, without parts."""
    bounded = bounds is not None and made.value is None
    parts = made.value is not None or made.denominator == 0 or bounded
    return Metric(
        metric_id,
        made.value,
        basis,
        undefined=made.undefined,
        numerator=made.numerator if parts else None,
        denominator=made.denominator if parts else None,
        low=bounds[0] if bounds and bounded else None,
        high=bounds[1] if bounds and bounded else None,
        detail=detail or {},
        notes=tuple(notes),
    )


def empty(metric_id: str, why: str, basis: Basis) -> Metric:
    """No value because there is nothing that it could be of; among many runs it adds nothing."""
    return Metric(metric_id, None, basis, undefined=why, numerator=0, denominator=0)


def unobserved(ids: Iterable[str], why: str, basis: Basis) -> Metrics:
    """No value because the recording does not say."""
    return {each: Metric(each, None, basis, undefined=why) for each in ids}

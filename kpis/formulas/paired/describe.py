"""A distribution in seven numbers: count, mean, median, 10th and 90th percentile, least and largest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.context.percentile import percentile
from kpis.formulas.context.values import Mode

__all__ = ["Distribution", "describe"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """All in the unit of the values; without a value only the count is one."""

    count: int
    mean: float | None
    median: float | None
    p10: float | None
    p90: float | None
    least: float | None
    largest: float | None


def describe(values: Sequence[float], mode: Mode = Mode.STRICT) -> Distribution:
    """Of ``values`` in any order. The reference gives zeros where there is none."""
    if not values:
        nothing = 0 if mode is Mode.REFERENCE else None
        return Distribution(0, nothing, nothing, nothing, nothing, nothing, nothing)
    return Distribution(
        len(values),
        sum(values) / len(values),
        percentile(values, 50),
        percentile(values, 10),
        percentile(values, 90),
        min(values),
        max(values),
    )

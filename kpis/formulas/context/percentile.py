"""Percentiles by linear interpolation between order statistics: type 7 of Hyndman and Fan, numpy's default."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["percentile"]


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The ``percent`` percentile of ``values`` in any order: at rank p/100 * (n - 1). None where there are none.

    Raises:
        ValueError: ``percent`` is not between 0 and 100.
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
    if not values:
        return None
    ordered = sorted(values)
    rank = percent / 100 * (len(ordered) - 1)
    low, high = math.floor(rank), math.ceil(rank)
    return ordered[low] + (ordered[high] - ordered[low]) * (rank - low)

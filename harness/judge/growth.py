"""The interval of a growth slope, and whether two sides grow differently.

Each point's median has an exact interval from order statistics; the slope is a weighted sum of their logs, so that the
sum of their ends bounds it, at a confidence shared out over the points that count (Bonferroni). Paired sides are
compared through the pairs' log ratios alone. Refuses an interval where a point has too few processes for its share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.judge.bounds import median_interval
from harness.judge.signed_rank import hodges_lehmann, lower_bound, upper_bound

__all__ = ["SLOPE_MARGIN", "SlopeShift", "shift_of", "slope_interval"]

SLOPE_MARGIN = 0.15
"""A steeper slope is called so from here: over a hundredfold history it doubles the cost, ln 2 / ln 100 = .1505."""

_NEGLIGIBLE = 1e-9
"""The middle of evenly spaced points has weight zero but for rounding, and takes no share of the confidence."""

SlopeShift = tuple[float, float, float]
"""(middle, low, high) of head's slope less base's."""


def _counting(weights: Sequence[float]) -> int:
    return sum(abs(weight) > _NEGLIGIBLE for weight in weights)


def slope_interval(
    weights: Sequence[float], values: Sequence[Sequence[float]], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Bounds of the slope from the process values of each point; None where a point has too few for them."""
    share = 1 - (1 - confidence) / max(_counting(weights), 1)
    low = high = 0.0
    for weight, sample in zip(weights, values, strict=True):
        if abs(weight) <= _NEGLIGIBLE:
            continue
        interval = median_interval(sample, share)
        if interval is None:
            return None
        ends = [weight * math.log(end) for end in interval]
        low, high = low + min(ends), high + max(ends)
    return low, high


def shift_of(weights: Sequence[float], ratios: Sequence[Sequence[float]], miss: float = 0.025) -> SlopeShift:
    """How much steeper the head grows: from the log ratios head / base of each point's pairs.

    The bounds are infinite where a point has too few pairs for them.
    """
    share = miss / max(_counting(weights), 1)
    middle = low = high = 0.0
    for weight, sample in zip(weights, ratios, strict=True):
        if abs(weight) <= _NEGLIGIBLE:
            continue
        middle += weight * hodges_lehmann(sample)
        ends = [weight * lower_bound(sample, share), weight * upper_bound(sample, share)]
        low, high = low + min(ends), high + max(ends)
    return middle, low, high

"""What a number of pairs could have seen: the size of a change that a chain of stages reports four times in five.

The signed-rank test on n pairs is as sharp as a mean of 3n/pi of them (Pitman efficiency under normal noise), and its
level is the one that the exact distribution attains. A change is reported only if every stage of the chain sees it,
so the powers multiply: sizing each stage by itself would promise as seen four times in five what is seen three times.
Refuses to call a change visible where a stage is too small to reject at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from harness.judge.signed_rank import least_rejecting, lower_bound, null_tail, upper_bound

__all__ = ["POWER", "chain_power", "smallest_visible", "spread_of"]

POWER = 0.80
"""The customary power at which a change counts as visible."""

_NORMAL = NormalDist()

_EFFICIENCY = 3 / math.pi


def spread_of(log_ratios: Sequence[float], miss: float = 0.025) -> float | None:
    """The standard deviation of the normal noise in which the test would be as sharp as it is in these data.

    It is read off the width of the signed-rank interval at ``miss`` a side, which estimates the test's standard error
    without a shape (Lehmann 1963). A median absolute deviation would not see what spikes cost: at 3 % of spiked
    processes it promises 80 % power where 71 % come true. 0 for constant data, None where n has no interval.

    Raises:
        ValueError: a ratio is not finite.
    """
    n = len(log_ratios)
    count = least_rejecting(n, miss)
    if n == 0 or count is None:
        return None
    z = -_NORMAL.inv_cdf(float(null_tail(n)[count]))
    width = upper_bound(log_ratios, miss) - lower_bound(log_ratios, miss)
    return width / (2 * z) * math.sqrt(_EFFICIENCY * n)


def chain_power(excess: float, spread: float, stages: Sequence[tuple[int, float]]) -> float:
    """The probability that every stage (pairs, alpha) rejects a change that lies ``excess`` beyond the margin.

    Log scale; ``spread`` is positive. 0 where a stage can never reject.
    """
    power = 1.0
    for pairs, alpha in stages:
        count = least_rejecting(pairs, alpha)
        if count is None:
            return 0.0
        attained = _NORMAL.inv_cdf(float(null_tail(pairs)[count]))
        power *= _NORMAL.cdf(excess / spread * math.sqrt(_EFFICIENCY * pairs) + attained)
    return power


@lru_cache(maxsize=1024)
def _excess_per_spread(stages: tuple[tuple[int, float], ...], power: float) -> float:
    """The excess over the margin, in spreads, that the chain sees with ``power``; every stage can reject."""
    low, high = 0.0, 1.0
    while chain_power(high, 1.0, stages) < power:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if chain_power(middle, 1.0, stages) < power else (low, middle)
    return high


def smallest_visible(
    spread: float, stages: Sequence[tuple[int, float]], margin: float, power: float = POWER
) -> float | None:
    """The smallest change, as a fraction, that the chain reports with ``power``; None where it never can.

    ``margin`` is ln(1 + delta). With no spread at all every change beyond the margin is visible.
    """
    if any(least_rejecting(pairs, alpha) is None for pairs, alpha in stages):
        return None
    if spread <= 0:
        return math.expm1(margin)
    excess = margin + spread * _excess_per_spread(tuple(stages), power)
    return math.expm1(excess) if excess < 700 else None

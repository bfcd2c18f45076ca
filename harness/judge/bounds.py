"""Exact intervals from order statistics: what a handful of processes can say, and nothing more.

Refuses to give an interval where the sample is too small for the confidence asked: None, never a narrower one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

__all__ = ["median", "median_interval", "smallest_sample"]


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middle ones.

    Raises:
        ValueError: there is no value.
    """
    if not values:
        raise ValueError("the median of nothing is undefined")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """The narrowest symmetric order-statistic interval that covers the true median with at least ``confidence``.

    Distribution-free: the number of values below the true median is binomial(n, 1/2), so that the interval from the
    k-th smallest to the k-th largest misses with probability 2 P(B <= k-1) (David and Nagaraja, Order Statistics, 7.1).
    """
    n = len(values)
    ordered = sorted(values)
    below, k = 0, 0
    while k < n // 2:
        below += comb(n, k)
        if 1 - 2 * below / 2**n < confidence:
            break
        k += 1
    return (ordered[k - 1], ordered[n - k]) if k else None


def smallest_sample(confidence: float = 0.95) -> int:
    """The least n whose range covers the median with ``confidence``: 6 at 95 % (1 - 2/64 = .969; n = 5 gives .9375)."""
    n = 1
    while 1 - 2 / 2**n < confidence:
        n += 1
    return n

"""What else moved while the pairs were measured: two modes, a memory from pair to pair, a slow start.

Diagnostics only. They see both sides alike and never the verdict, they drop no pair and change no state: a disturbed
point gets further pairs or stays open. Each threshold is set so that clean normal noise is warned about in at
most one series of a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, median

import numpy as np

from kpis.terms.comparison import ComparisonNotice, ComparisonWarn

__all__ = ["autocorrelated", "bimodal", "diagnose", "first_slow", "quantised"]

Pair = tuple[float, float]

LEAST = 16
"""Under one screen of values no shape is told from chance."""

SEPARATION = 6.0
"""Ashman's D between the two sides of the best split. Cutting a normal in its middle gives 2.65 on average
(1.596 sigma between halves of .603 sigma), and the best cut of 16 normal values stays under 6 in 99 of 100 series."""

MINORITY = 0.15
"""A smaller group is spikes, not a mode: with 3 % of processes spiked, 16 of them hold three in 1 of 100 series."""

AUTOCORRELATION = 2.33
"""r1 times root n is standard normal without memory; 2.33 is its 99th percentile, and only repetition counts."""

FIRST_BY = 6.0
"""Robust standard deviations over the median of the rest, on both sides at once: a cold start, not one spike."""

MAD_TO_SIGMA = 1 / NormalDist().inv_cdf(0.75)
"""1.4826: the median absolute deviation of a normal is this much smaller than its standard deviation."""

FIRST_AT_LEAST = math.log(1.05)
"""A slow start under 5 % does not matter to a judge whose ``ok`` excludes 5 %."""


def _deviation(values: Sequence[float]) -> float:
    """The standard deviation of a normal with the same median absolute deviation; spikes do not move it."""
    centre = median(values)
    return MAD_TO_SIGMA * median(abs(value - centre) for value in values)


def bimodal(values: Sequence[float]) -> bool:
    """Whether logs, one a process, fall into two groups: Ashman's D of the split with the least variance inside."""
    if len(values) < LEAST:
        return False
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    ordered = ordered - ordered.mean()
    sizes = np.arange(1, n)
    sums, squares = np.cumsum(ordered)[:-1], np.cumsum(ordered**2)[:-1]
    left, right = sums / sizes, (ordered.sum() - sums) / (n - sizes)
    inner_left = np.maximum(squares - sizes * left**2, 0)
    inner_right = np.maximum((ordered**2).sum() - squares - (n - sizes) * right**2, 0)
    at = int(np.argmin(inner_left + inner_right))
    small = min(int(sizes[at]), n - int(sizes[at]))
    if small < MINORITY * n:
        return False
    pooled = math.sqrt((inner_left[at] / sizes[at] + inner_right[at] / (n - sizes[at])) / 2)
    gap = float(right[at] - left[at])
    return gap > SEPARATION * pooled and gap > FIRST_AT_LEAST / 5


def autocorrelated(log_ratios: Sequence[float]) -> bool:
    """Whether a log ratio tells of the next one: lag-1 correlation of the ranks, so that one spike does not decide."""
    n = len(log_ratios)
    if n < LEAST:
        return False
    array = np.asarray(log_ratios, dtype=np.float64)
    ordered = np.sort(array)
    ranks = (np.searchsorted(ordered, array, "left") + np.searchsorted(ordered, array, "right")) / 2
    centred = ranks - ranks.mean()
    variance = float(centred @ centred)
    return variance > 0 and float(centred[1:] @ centred[:-1]) / variance * math.sqrt(n) > AUTOCORRELATION


def first_slow(pairs: Sequence[Pair]) -> bool:
    """Whether the first pair was slow on both sides against all later ones."""
    if len(pairs) < LEAST:
        return False
    for side in (0, 1):
        first, *rest = (math.log(pair[side]) for pair in pairs)
        if first - median(rest) <= max(FIRST_BY * _deviation(rest), FIRST_AT_LEAST):
            return False
    return True


def quantised(log_ratios: Sequence[float]) -> bool:
    """Whether fewer than half of the log ratios are distinct: the clock's tick, or a constant, decides the ties."""
    return len(log_ratios) > 1 and 2 * len(set(log_ratios)) < len(log_ratios)


def diagnose(pairs: Sequence[Pair], log_ratios: Sequence[float]) -> tuple[ComparisonNotice, ...]:
    """All warnings about one series of pairs, in a fixed order. ``log_ratios`` are those of the same pairs."""
    notices: list[ComparisonNotice] = []
    distinct = len(set(log_ratios))
    if quantised(log_ratios):
        said = (
            f"Only {distinct} of {len(log_ratios)} pairs differ in their ratio: the clock is too coarse to tell more."
        )
        notices.append(ComparisonNotice(ComparisonWarn.RESOLUTION, said))
    for side, name in ((0, "base"), (1, "head")):
        if bimodal([math.log(pair[side]) for pair in pairs]):
            said = f"The processes of {name} fall into two groups: something differs between them that is not the code."
            notices.append(ComparisonNotice(ComparisonWarn.BIMODAL, said))
    if first_slow(pairs):
        said = "The first pair was slow on both sides: the machine was cold, or the files were."
        notices.append(ComparisonNotice(ComparisonWarn.FIRST_SLOW, said))
    if autocorrelated(log_ratios):
        said = "Neighbouring pairs resemble each other: the bounds hold less than they say."
        notices.append(ComparisonNotice(ComparisonWarn.AUTOCORRELATED, said))
    return tuple(notices)

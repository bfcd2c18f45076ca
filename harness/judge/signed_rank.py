"""The exact signed-rank test: what the signs of ranked differences say about their centre, with no approximation.

The p-value is conditional on the magnitudes: under the hypothesis each sign is a fair coin, so that the statistic's
distribution is counted, not approximated (Wilcoxon 1945; Lehmann, Nonparametrics, ch. 3 and 4). The normal
approximation is refused because it is wrong where Holm's levels lie: n = 16, all positive, is 1.5e-5 and not 2.2e-4.
An interval that the sample is too small to give is infinite, never narrower than it may be.

Probabilities are sums and halvings of non-negative doubles: exact up to n = 53, then to some 1e-14 of themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "hodges_lehmann",
    "least_rejecting",
    "lower_bound",
    "null_tail",
    "p_greater",
    "p_greater_rows",
    "p_less",
    "smallest_n",
    "upper_bound",
]

Floats = NDArray[np.float64]


def _sum_distribution(weights: Sequence[int]) -> Floats:
    """P(S = s), s = 0 ... sum(weights), where S adds each weight with probability 1/2."""
    chance = np.zeros(sum(weights) + 1)
    chance[0] = 1.0
    reach = 0
    for weight in weights:
        with_it = 0.5 * chance[: reach + 1]
        chance[: reach + 1] *= 0.5
        reach += weight
        chance[weight : reach + 1] += with_it
    return chance


def _tail(chance: Floats) -> Floats:
    """P(S >= s), smallest terms first so that a small tail keeps its relative precision."""
    tail: Floats = np.cumsum(chance[::-1])[::-1]
    return tail


@lru_cache(maxsize=256)
def null_tail(n: int) -> Floats:
    """P(T >= t) for t = 0 ... n(n+1)/2, without ties: T adds each of the ranks 1 ... n with probability 1/2."""
    tail = _tail(_sum_distribution(range(1, n + 1)))
    tail.setflags(write=False)
    return tail


@lru_cache(maxsize=1024)
def least_rejecting(n: int, alpha: float) -> int | None:
    """The least t with P(T >= t) <= alpha; None where even all signs alike are not rare enough (2**-n > alpha)."""
    tail = null_tail(n)
    if tail[-1] > alpha:
        return None
    return int(np.argmax(tail <= alpha))


def smallest_n(alpha: float) -> int:
    """The least sample that can reject at ``alpha``, and so has a bound: 6 at .025 (2**-6 = .0156, 2**-5 = .031)."""
    return max(1, math.ceil(-math.log2(alpha)))


def _finite(values: ArrayLike, dimensions: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise ValueError(f"The signed-rank test takes {dimensions}-dimensional input, not {array.ndim}-dimensional.")
    if not np.isfinite(array).all():
        raise ValueError("The signed-rank test takes finite numbers only.")
    return array


def _p_tied(differences: Floats) -> float:
    """P(T* >= T) over the flips of the non-zero signs, on mid-ranks doubled into whole numbers.

    A zero keeps its rank and gives half of it to each side, in the statistic and in every flip alike: it cancels.
    """
    magnitudes = np.abs(differences)
    ordered = np.sort(magnitudes)
    first = np.searchsorted(ordered, magnitudes, side="left") + 1
    last = np.searchsorted(ordered, magnitudes, side="right")
    doubled = first + last
    reached = int(doubled[differences > 0].sum())
    chance = _sum_distribution([int(weight) for weight in doubled[differences != 0]])
    return min(1.0, float(_tail(chance)[reached]))


def p_greater_rows(rows: ArrayLike, shift: float = 0.0) -> Floats:
    """For each row of an (m, n) array: the p-value of "centre <= ``shift``" against "greater", shape (m,).

    Raises:
        ValueError: another shape, or a number that is not finite.
    """
    differences = _finite(rows, 2) - shift
    count, n = differences.shape
    if n == 0:
        return np.ones(count)
    magnitudes = np.abs(differences)
    order = np.argsort(magnitudes, axis=1)
    ordered = np.take_along_axis(magnitudes, order, axis=1)
    positive = np.take_along_axis(differences > 0, order, axis=1)
    p: Floats = null_tail(n)[positive @ np.arange(1, n + 1)]
    tied = (ordered[:, 0] == 0) | (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    for row in np.flatnonzero(tied):
        p[row] = _p_tied(differences[row])
    return p


def p_greater(values: Sequence[float], shift: float = 0.0) -> float:
    """The exact p-value of "centre <= ``shift``" against "greater"; 1 where there is no value.

    Raises:
        ValueError: a value is not finite.
    """
    return float(p_greater_rows([list(values)], shift)[0])


def p_less(values: Sequence[float], shift: float = 0.0) -> float:
    """The mirror of :func:`p_greater`: "centre >= ``shift``" against "less"."""
    return p_greater([-value for value in values], -shift)


def _walsh_averages(values: Sequence[float]) -> Floats:
    """The means of all pairs, each value with itself included: n(n+1)/2 numbers, unordered."""
    halves = _finite(list(values), 1) / 2
    left, right = np.triu_indices(len(halves))
    averages: Floats = halves[left] + halves[right]
    return averages


def hodges_lehmann(values: Sequence[float]) -> float:
    """The median of the Walsh averages: the shift at which the test sees no difference (Hodges and Lehmann 1963).

    Raises:
        ValueError: there is no value, or one is not finite.
    """
    if not values:
        raise ValueError("The centre of nothing is undefined.")
    return float(np.median(_walsh_averages(values)))


def lower_bound(values: Sequence[float], alpha: float) -> float:
    """A number that lies above the true centre with probability at most ``alpha``; -inf where n is too small.

    The test counts the Walsh averages above a shift, so it rejects every shift under the c-th largest of them, where
    c is the least rejecting count (Tukey 1949). Ties make the bound lower, never higher.
    """
    count = least_rejecting(len(values), alpha)
    if count is None:
        return -math.inf
    if count == 0:
        return math.inf
    averages = _walsh_averages(values)
    at = len(averages) - count
    return float(np.partition(averages, at)[at])


def upper_bound(values: Sequence[float], alpha: float) -> float:
    """The mirror of :func:`lower_bound`: below the true centre with probability at most ``alpha``; +inf if too few."""
    return -lower_bound([-value for value in values], alpha)

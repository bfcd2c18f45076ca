"""The exact test against enumeration of every sign pattern, and against scipy's exact mode."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from harness.judge.signed_rank import (
    hodges_lehmann,
    least_rejecting,
    lower_bound,
    null_tail,
    p_greater,
    p_greater_rows,
    p_less,
    smallest_n,
    upper_bound,
)


def enumerated(values: list[float]) -> float:
    """P(T* >= T) by brute force: mid-ranks, zeros half to each side, all flips of the others."""
    n = len(values)
    magnitudes = sorted(abs(value) for value in values)
    ranks = []
    for value in values:
        at = [index + 1 for index, magnitude in enumerate(magnitudes) if magnitude == abs(value)]
        ranks.append(Fraction(sum(at), len(at)))
    zeros = sum((rank for rank, value in zip(ranks, values, strict=True) if value == 0), Fraction(0)) / 2
    moving = [rank for rank, value in zip(ranks, values, strict=True) if value != 0]
    reached = zeros + sum((rank for rank, value in zip(ranks, values, strict=True) if value > 0), Fraction(0))
    sums = [
        zeros + sum((rank for rank, sign in zip(moving, signs, strict=True) if sign), Fraction(0))
        for signs in product((0, 1), repeat=len(moving))
    ]
    assert n == len(moving) + values.count(0)
    return sum(1 for each in sums if each >= reached) / len(sums)


@pytest.mark.parametrize("n", range(1, 13))
def test_the_null_distribution_by_full_enumeration(n: int) -> None:
    counted = np.zeros(n * (n + 1) // 2 + 1)
    for signs in product((0, 1), repeat=n):
        counted[sum(rank for rank, sign in enumerate(signs, 1) if sign)] += 1
    assert np.array_equal(null_tail(n), np.cumsum(counted[::-1])[::-1] / 2**n)


@pytest.mark.parametrize("n", range(1, 13))
@pytest.mark.parametrize("alpha", [0.2, 0.025, 0.01, 0.00025])
def test_the_index_of_the_bound_by_full_enumeration(n: int, alpha: float) -> None:
    """The bound misses a centre of 0 in at most alpha of the sign patterns; the next Walsh average in more."""
    magnitudes = [math.sqrt(2) ** index for index in range(n)]
    missed = narrower = 0
    for signs in product((-1, 1), repeat=n):
        values = [sign * magnitude for sign, magnitude in zip(signs, magnitudes, strict=True)]
        bound = lower_bound(values, alpha)
        missed += bound > 0
        averages = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
        tighter = averages[0] if bound == -math.inf else averages[min(averages.index(bound) + 1, len(averages) - 1)]
        narrower += tighter > 0
    assert missed / 2**n <= alpha
    if n > 1:
        assert narrower / 2**n > alpha
    assert (least_rejecting(n, alpha) is None) is (n < smallest_n(alpha))


def test_too_few_values_have_no_bound() -> None:
    assert smallest_n(0.025) == 6
    assert lower_bound([1.0] * 5, 0.025) == -math.inf
    assert upper_bound([1.0] * 5, 0.025) == math.inf
    assert lower_bound([3, 1, 2, 6, 5, 4], 0.025) == 1
    assert lower_bound([], 0.2) == -math.inf
    assert p_greater([]) == 1.0


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_p_values_with_ties_and_zeros_by_enumeration(values: list[int]) -> None:
    assert p_greater([float(value) for value in values]) == pytest.approx(enumerated([float(v) for v in values]), abs=0)


@pytest.mark.parametrize("magnitudes", [[1, 2, 3, 4, 5, 6], [1, 1, 1, 2, 2, 3], [2, 2, 2, 2, 2, 2, 2], [1, 1, 5, 5, 9]])
@pytest.mark.parametrize("zeros", [0, 1, 3])
def test_validity_over_every_sign_pattern(magnitudes: list[int], zeros: int) -> None:
    """P(p <= a) <= a for every a, given the magnitudes: the test is exact, tied or not, in both directions."""
    for test in (p_greater, p_less):
        found = [
            test([0.0] * zeros + [float(sign * size) for sign, size in zip(signs, magnitudes, strict=True)])
            for signs in product((-1, 1), repeat=len(magnitudes))
        ]
        for level in sorted(set(found)):
            assert sum(p <= level for p in found) / len(found) <= level


@pytest.mark.parametrize("n", [5, 16, 32, 48, 64, 200])
def test_against_scipy_where_nothing_is_tied(n: int) -> None:
    for seed in range(10):
        values = np.random.default_rng(seed).normal(0.3, 1, n)
        for shift in (0.0, 0.2):
            right = wilcoxon(values - shift, alternative="greater", mode="exact").pvalue
            assert p_greater(values.tolist(), shift) == pytest.approx(right, rel=1e-9)
            mirror = wilcoxon(values - shift, alternative="less", mode="exact").pvalue
            assert p_less(values.tolist(), shift) == pytest.approx(mirror, rel=1e-9)


def test_the_tail_keeps_its_precision() -> None:
    assert p_greater([1.0 + i / 7 for i in range(64)]) == 2.0**-64
    assert p_greater([1.0] * 200) == 2.0**-200
    assert p_greater([1.0] * 198 + [0.0, 0.0]) == 2.0**-198


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=24, unique_by=abs),
    st.floats(-1, 1),
    st.sampled_from([0.2, 0.025, 0.01]),
)
def test_bound_and_p_value_are_one_test(values: list[float], shift: float, alpha: float) -> None:
    magnitudes = [abs(value - shift) for value in values]
    averages = [(a / 2 + b / 2) for i, a in enumerate(values) for b in values[i:]]
    gaps = [abs(a - b) for i, a in enumerate(magnitudes) for b in magnitudes[i + 1 :]] + magnitudes
    if min([*gaps, *(abs(average - shift) for average in averages)]) < 1e-9:
        return  # tied to the last bit: only the bound is defined without a convention
    assert (lower_bound(values, alpha) > shift) is (p_greater(values, shift) <= alpha)
    assert (upper_bound(values, alpha) < shift) is (p_less(values, shift) <= alpha)


# Half of a subnormal number is not exact; a log ratio of two times is never one.
@given(st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=1, max_size=30))
def test_the_centre_lies_within_its_bounds(values: list[float]) -> None:
    centre = hodges_lehmann(values)
    assert lower_bound(values, 0.025) <= centre <= upper_bound(values, 0.025)
    assert min(values) <= centre <= max(values)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.sampled_from([0.2, 0.025]))
def test_ties_do_not_narrow_the_bound(values: list[int], alpha: float) -> None:
    """The tied bound is the limit of the bounds of data that differ from it by ever less."""
    for seed in range(3):
        nudged = [value + 1e-6 * u for value, u in zip(values, np.random.default_rng(seed).random(12), strict=False)]
        near, tied = lower_bound(nudged, alpha), lower_bound([float(value) for value in values], alpha)
        assert near == tied or abs(near - tied) < 1e-5


def test_rows_are_judged_as_if_alone() -> None:
    rows = np.random.default_rng(3).normal(0, 1, (50, 20))
    rows[7, 3], rows[8, :4], rows[9, 5] = 0.0, 1.0, -rows[9, 6]
    assert p_greater_rows(rows, 0.1).tolist() == [p_greater(row.tolist(), 0.1) for row in rows]
    assert p_greater_rows(np.zeros((2, 0))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    for call in (p_greater, p_less, hodges_lehmann, lambda values: lower_bound(values, 0.2)):
        with pytest.raises(ValueError, match="finite"):
            call([1.0, bad, 2.0])
    with pytest.raises(ValueError, match="nothing"):
        hodges_lehmann([])
    with pytest.raises(ValueError, match="dimensional"):
        p_greater_rows([1.0, 2.0])

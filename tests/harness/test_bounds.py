"""The exact interval of a median, against enumeration."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.bounds import median, median_interval, smallest_sample


def test_the_smallest_sample_is_where_an_interval_begins() -> None:
    assert smallest_sample() == 6
    assert median_interval([1.0] * 5) is None
    assert median_interval([3, 1, 2, 6, 5, 4]) == (1, 6)


@pytest.mark.parametrize("n", range(1, 15))
def test_coverage_by_enumeration_of_every_side_of_the_median(n: int) -> None:
    """Each value lies below the true median with probability 1/2: count the sign patterns that the interval misses."""
    interval = median_interval(list(range(n)))
    if interval is None:
        assert 2 / 2**n > 0.05
        return
    low, high = int(interval[0]), int(interval[1])
    # The k-th smallest is at or under the median iff at least k values lie below it, and likewise from above.
    missed = sum(1 for signs in product((0, 1), repeat=n) if not low < sum(signs) <= high)
    assert missed / 2**n <= 0.05
    narrower = sum(1 for signs in product((0, 1), repeat=n) if not low + 1 < sum(signs) <= high - 1)
    assert narrower / 2**n > 0.05, "a narrower interval would do: this one is not the best"


@given(st.lists(st.floats(-1e9, 1e9), min_size=6, max_size=40))
def test_the_interval_holds_the_sample_median(values: list[float]) -> None:
    interval = median_interval(values)
    assert interval is not None
    assert interval[0] <= median(values) <= interval[1]


def test_the_median_of_nothing_is_undefined() -> None:
    with pytest.raises(ValueError, match="undefined"):
        median([])

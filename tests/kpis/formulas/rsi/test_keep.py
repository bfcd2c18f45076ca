"""The rule apart from whatever decided, and what rows come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.rsi.keep import gain, keep, rate, rulings, run_lengths


@pytest.mark.parametrize(
    ("before", "after", "lower", "expected"),
    [
        (1000, 800, True, True),
        (0.5, 0.5, False, False),
        (0.5, 0.62, False, True),
        (0.5, None, False, False),
        (800, 1000, True, False),
    ],
)
def test_equal_is_no_gain_and_neither_is_what_was_not_measured(before, after, lower, expected):
    assert gain(before, after, lower) is expected


@pytest.mark.parametrize(
    ("profile", "needs"),
    [("full", {0, 1, 2}), ("proof-carrying", {0, 2}), ("docs-only", {2}), ("unheard of", {0, 1, 2})],
)
def test_each_profile_needs_its_signals_and_no_other(profile, needs):
    for bits in range(8):
        signals = [bool(bits >> place & 1) for place in range(3)]
        assert keep(profile, *signals) == all(signals[place] for place in needs)


def test_the_vectors_of_the_breaker():
    assert [word for word, _ in rulings([False] * 3, 3)] == ["REVERT", "REVERT", "ESCALATE"]
    assert rulings([False, True], 2) == [("REVERT", 1), ("KEEP", 0)]
    assert rulings([False] * 4, 0) == rulings([False] * 4, 3)
    assert rulings([False] * 4, 3)[-1] == ("ESCALATE", 4)


def test_a_run_that_is_not_over_counts():
    assert run_lengths([False, True, False, False]) == [1, 2]
    assert run_lengths([True, True]) == run_lengths([]) == []


def test_the_rate_of_nothing_is_none():
    assert rate([]) is None
    assert rate([True, True, False, True]) == 0.75


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 5))
def test_the_lengths_are_all_that_was_not_kept_and_say_whether_it_tripped(keeps, k):
    lengths = run_lengths(keeps)
    assert sum(lengths) == keeps.count(False)
    tripped = any(word == "ESCALATE" for word, _ in rulings(keeps, k))
    assert tripped == (max(lengths, default=0) >= k)

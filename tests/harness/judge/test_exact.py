"""Counts: any worse value, any change, what must hold, and what does not repeat."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.exact import exact, invariant
from kpis.terms.comparison import ComparisonWarn, State
from kpis.terms.kpi import Direction

LOWER, HIGHER, NEUTRAL = Direction.LOWER, Direction.HIGHER, Direction.NEUTRAL


@pytest.mark.parametrize(
    ("base", "head", "floor", "direction", "state"),
    [
        (100, 100, 0, LOWER, State.OK),
        (100, 101, 0, LOWER, State.REGRESSED),
        (100, 99, 0, LOWER, State.IMPROVED),
        (100, 101, 0, HIGHER, State.IMPROVED),
        (100, 99, 0, HIGHER, State.REGRESSED),
        (100, 101, 0, NEUTRAL, State.REGRESSED),
        (100, 99, 0, NEUTRAL, State.REGRESSED),
        (100, 100, 0, NEUTRAL, State.OK),
        (0, 0, 0, LOWER, State.OK),
        (0, 1, 0, LOWER, State.REGRESSED),
        (0, 1, 0.001, LOWER, State.REGRESSED),
        (-5, -4, 0, HIGHER, State.IMPROVED),
        (-5, -6, 0, HIGHER, State.REGRESSED),
        (10_000_000, 10_010_000, 0.001, LOWER, State.OK),
        (10_000_000, 10_010_001, 0.001, LOWER, State.REGRESSED),
        (10_000_000, 9_980_000, 0.001, LOWER, State.IMPROVED),
        (2**60, 2**60 + 1, 0, LOWER, State.REGRESSED),
    ],
)
def test_one_count_against_another(base: int, head: int, floor: float, direction: Direction, state: State) -> None:
    found = exact([base, base], [head, head], floor, direction)
    assert found.state is state
    assert found.warnings == ()
    assert (found.ratio is None) is (base <= 0 or head <= 0)


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        (10**12, 10**12 + 1, "1000000000000 -> 1000000000001 ("),
        (1e12, 1e12 + 1, "1000000000000 -> 1000000000001 ("),
        (2**60, 2**60 + 1, f"{2**60} -> {2**60 + 1} ("),
        (0.12345678, 0.12345679, "0.12345678 -> 0.12345679 ("),
        (1e300, 1.0000000001e300, "1e+300 -> 1.0000000001e+300 ("),
        (1 / 3, 0.5, "0.3333333 -> 0.5 ("),
        (1e300, 1e300, "1e+300 -> 1e+300 ("),
    ],
)
def test_counts_that_differ_never_read_alike(base: float, head: float, said: str) -> None:
    assert exact([base, base], [head, head], 0, LOWER).evidence[0].startswith(said)


def test_counts_of_one_side_that_differ_never_read_alike() -> None:
    (notice,) = exact([10**12, 10**12 + 1], [1, 1], 0, LOWER).warnings
    assert "base counted 1000000000000 and 1000000000001 for the same code" in notice.message


def test_counts_that_do_not_repeat_are_demoted() -> None:
    """shunt 629: simulated counts bistable by 13 % on a change of documentation."""
    for base, head in (([100, 113], [113, 113]), ([100, 100], [100, 113])):
        found = exact(base, head, 0.001, LOWER)
        assert found.state is State.INCONCLUSIVE
        assert [notice.code for notice in found.warnings] == [ComparisonWarn.DEMOTED]


def test_a_count_taken_once_says_so() -> None:
    found = exact([7], [8], 0, LOWER)
    assert found.state is State.REGRESSED
    assert [notice.code for notice in found.warnings] == [ComparisonWarn.UNREPEATED]


@pytest.mark.parametrize(
    ("base", "head", "floor"), [([], [1], 0), ([1], [], 0), ([math.nan], [1], 0), ([1], [math.inf], 0), ([1], [1], -1)]
)
def test_what_is_no_count_is_refused(base: list[float], head: list[float], floor: float) -> None:
    with pytest.raises(ValueError, match=r"counted|finite|floor"):
        exact(base, head, floor, LOWER)


@pytest.mark.parametrize(
    ("base", "head", "state"),
    [
        ([1, 1], [1, 1], State.OK),
        ([1, 1], [0, 0], State.REGRESSED),
        ([0, 0], [0, 0], State.REGRESSED),
        ([0, 0], [1, 1], State.IMPROVED),
        ([1, 1], [1, 0], State.REGRESSED),
        ([0, 1], [1, 1], State.IMPROVED),
    ],
)
def test_an_invariant_must_hold_on_head(base: list[float], head: list[float], state: State) -> None:
    found = invariant(base, head)
    assert found.state is state
    assert "held on base in" in found.evidence[0]


@pytest.mark.parametrize(("base", "head"), [([], [1]), ([1], []), ([2], [1]), ([1], [0.5])])
def test_an_invariant_is_one_or_zero(base: list[float], head: list[float]) -> None:
    with pytest.raises(ValueError, match="1 or 0"):
        invariant(base, head)


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.floats(0, 0.1))
def test_swapped_sides_never_agree_on_a_culprit(base: int, head: int, floor: float) -> None:
    there, back = (exact([a, a], [b, b], floor, LOWER).state for a, b in ((base, head), (head, base)))
    assert (there, back) != (State.REGRESSED, State.REGRESSED)
    assert (there, back) != (State.IMPROVED, State.IMPROVED)

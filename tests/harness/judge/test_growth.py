"""The interval of a slope covers the truth, and a steeper head shows through its pairs."""

from __future__ import annotations

import math
from random import Random

import pytest

from harness.judge.growth import SLOPE_MARGIN, shift_of, slope_interval
from kpis.formulas.growth import slope, weights

LENGTHS = (10.0, 100.0, 1000.0)


def processes(rng: Random, power: float, n: int) -> list[list[float]]:
    return [[1e3 * length**power * math.exp(rng.gauss(0, 0.05)) for _ in range(n)] for length in LENGTHS]


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_interval_covers_the_truth(power: float) -> None:
    covered = 0
    for seed in range(200):
        interval = slope_interval(weights(LENGTHS), processes(Random(seed), power, 12))
        assert interval is not None
        covered += interval[0] <= power <= interval[1]
    assert covered >= 180  # 95 % by design; fewer than 180 of 200 come less than once in a thousand


def test_too_few_processes_give_no_interval() -> None:
    assert slope_interval(weights(LENGTHS), processes(Random(1), 1.0, 3)) is None


def test_constant_processes_pin_the_slope() -> None:
    interval = slope_interval(weights(LENGTHS), [[length] * 12 for length in LENGTHS])
    assert interval == pytest.approx((1.0, 1.0))
    assert slope(LENGTHS, LENGTHS) == pytest.approx(1.0)


def test_a_head_that_turns_quadratic_is_steeper_beyond_the_margin() -> None:
    rng = Random(3)
    # At the shortest history the head is one per cent slower; only its growth gives it away.
    ratios = [[math.log(1.01 * (length / 10) ** 0.9) + rng.gauss(0, 0.02) for _ in range(16)] for length in LENGTHS]
    middle, low, high = shift_of(weights(LENGTHS), ratios)
    assert low <= 0.9 <= high
    assert low > SLOPE_MARGIN
    assert middle == pytest.approx(0.9, abs=0.02)


def test_an_unchanged_growth_is_not_steeper() -> None:
    rng = Random(4)
    red = 0
    for _ in range(200):
        ratios = [[rng.gauss(0, 0.024) for _ in range(16)] for _ in LENGTHS]
        red += shift_of(weights(LENGTHS), ratios)[1] > SLOPE_MARGIN
    assert red == 0


def test_too_few_pairs_bound_nothing() -> None:
    _, low, high = shift_of(weights(LENGTHS), [[0.1]] * 3)
    assert (low, high) == (-math.inf, math.inf)


def test_the_margin_doubles_the_cost_over_a_hundredfold_history() -> None:
    assert round(math.log(2) / math.log(100), 2) == SLOPE_MARGIN
    assert pytest.approx(2, abs=0.01) == 100**SLOPE_MARGIN

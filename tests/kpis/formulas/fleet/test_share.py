"""The exact expectation of the uplift, and how trials are summed up."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.fleet.share import expected_uplift, rank, spread_of, tolerance
from kpis.formulas.turn.turntax import net


@pytest.mark.parametrize(
    ("turns", "agents", "expected"),
    [(1, 50, 14.94), (10, 10, 27.19), (10, 50, 167.80), (50, 10, 67.57), (50, 1, 0), (50, 50, 369.87)],
)
def test_expectations_of_a_fleet_that_reads(turns: int, agents: int, expected: float) -> None:
    assert expected_uplift(0.45, 8, turns, agents) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("siblings", "expected"),
    [
        (1, 0),
        (2, 0.25),
        (4, 1.25),
        (8, 4.34),
        (16, 11.91),
        (32, 27.73),
        (64, 59.47),
        (100, 95.17),
        (128, 122.93),
        (256, 249.87),
        (500, 491.84),
        (512, 503.74),
        (1000, 987.67),
        (1024, 1011.47),
    ],
)
def test_expectations_of_a_fan_out_behind_a_plan(siblings: int, expected: float) -> None:
    assert expected_uplift(0.55, 8, 4, siblings, primed=4) == pytest.approx(expected, abs=0.0051)


def test_the_expectation_is_the_mean_over_every_fleet_there_is() -> None:
    """Two agents, two turns, two routes, a read in half of the turns: all 256 equally likely fleets."""
    quarter = ("a", "b", None, None)
    total = 0
    for fleet in product(quarter, repeat=4):
        read = [{route for route in fleet[at : at + 2] if route} for at in (0, 2)]
        total += len(read[0]) + len(read[1]) - len(read[0] | read[1])
    assert expected_uplift(0.5, 2, 2, 2) == pytest.approx(total / 256)


@given(st.floats(0, 1), st.integers(1, 12), st.integers(0, 60), st.integers(1, 60), st.data())
def test_bounds(shared: float, pool: int, turns: int, agents: int, data: st.DataObject) -> None:
    primed = data.draw(st.integers(0, pool))
    found = expected_uplift(shared, pool, turns, agents, primed)
    unread = pool - primed
    assert -1e-9 <= found <= (agents - 1) * unread + 1e-9
    assert expected_uplift(shared, pool, turns, 1, primed) == 0
    assert expected_uplift(0, pool, turns, agents, primed) == 0
    assert expected_uplift(shared, pool, turns, agents, pool) == 0


@pytest.mark.parametrize("given_", [(1.5, 8, 1, 1), (-0.1, 8, 1, 1), (0.5, 0, 1, 1), (0.5, 8, -1, 1), (0.5, 8, 1, 0)])
def test_what_is_no_fleet(given_: tuple[float, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"probability|is none"):
        expected_uplift(*given_)
    with pytest.raises(ValueError, match="no more routes read before"):
        expected_uplift(0.5, 8, 1, 1, primed=9)


def test_of_an_even_number_the_lower_median() -> None:
    found = spread_of([4, 1, 3, 2])
    assert (found.least, found.p10, found.p50, found.p90, found.greatest) == (1, 1, 2, 4, 4)
    assert found.mean == 2.5
    assert found.deviation == pytest.approx((5 / 3) ** 0.5)
    assert spread_of([7]) == (7, 7, 7, 7, 7, 7, 0)
    assert rank(list(range(1, 101)), 0.9) == 90


def test_without_a_trial_there_is_nothing() -> None:
    for call in (lambda: rank([], 0.5), lambda: spread_of([]), lambda: tolerance(1, 0)):
        with pytest.raises(ValueError, match=r"no trials|one or more"):
            call()


def test_the_tolerance_of_a_median() -> None:
    assert tolerance(4.3, 64) == pytest.approx(4 * 1.25 * 4.3 / 8)
    assert tolerance(0, 64) == 0.5


def test_the_factor_of_a_median_is_that_of_a_normal_sample() -> None:
    draw = Random(3)
    medians = [sorted(draw.gauss(0, 1) for _ in range(65))[32] for _ in range(4000)]
    deviation = (sum(each * each for each in medians) / len(medians)) ** 0.5
    assert deviation * 65**0.5 == pytest.approx(1.25, rel=0.05)


def test_the_price_of_a_large_fleet() -> None:
    whole, gained = net(2344), net(370)
    assert (whole["tokens"], gained["tokens"]) == (3_094_080, 488_400)
    assert (round(whole["dollars"], 2), round(gained["dollars"], 2)) == (12.66, 2.00)

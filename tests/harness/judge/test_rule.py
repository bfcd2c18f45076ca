"""Each constant of the rule recomputed from its derivation, by simulation with seeds that are written down."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.judge.power import chain_power, smallest_visible, spread_of
from harness.judge.rule import (
    BOUND,
    CONFIRM_PAIRS,
    DELTA,
    EQUIVALENCE,
    EXTEND_PAIRS,
    FAMILY_ALPHA,
    LEAST_DELTA,
    SCREEN_ALPHA,
    SCREEN_PAIRS,
    Rule,
    delta_for,
)
from harness.judge.signed_rank import p_greater_rows
from tests.harness.judge.batch import points
from tests.harness.judge.streams import ratios

RULE = Rule()


def rejected(kind: str, pairs: int, spread: float, change: float, alpha: float, shift: float, seed: int) -> float:
    """The share of 20,000 stages that put the centre above ``shift``."""
    rows = ratios(np.random.default_rng(seed), kind, 20_000, pairs, spread, change)
    return float((p_greater_rows(rows, shift) <= alpha).mean())


def reported(kind: str, spread: float, change: float, family: int = 1, seed: int = 0, count: int = 20_000) -> float:
    """The share of points reported regressed when ``family`` suspects share Holm's level, this one first."""
    rng = np.random.default_rng(seed)
    found = points(lambda rows, n: ratios(rng, kind, rows, n, spread, change), count, RULE)
    return float((found.p <= FAMILY_ALPHA / family).mean())


def test_the_numbers_of_the_rule() -> None:
    assert (SCREEN_PAIRS, EXTEND_PAIRS, CONFIRM_PAIRS) == (16, 32, 64)
    assert (SCREEN_ALPHA, FAMILY_ALPHA, BOUND) == (0.20, 0.01, 0.975)
    assert pytest.approx(math.log(1.05)) == EQUIVALENCE
    assert EXTEND_PAIRS == 2 * SCREEN_PAIRS
    assert RULE.margin == pytest.approx(math.log(1.02))
    assert RULE.miss == pytest.approx(0.025)


@pytest.mark.parametrize(("floor", "delta"), [(None, 0.02), (0.0, 0.01), (0.003, 0.01), (0.006, 0.018), (0.02, 0.06)])
def test_delta_is_three_floors_and_at_least_one_percent(floor: float | None, delta: float) -> None:
    assert delta_for(floor) == pytest.approx(delta)
    assert delta_for(None) == DELTA
    assert delta_for(0) == LEAST_DELTA


@pytest.mark.parametrize("floor", [-0.01, math.nan, math.inf])
def test_a_floor_that_is_none_is_refused(floor: float) -> None:
    with pytest.raises(ValueError, match="floor") as caught:
        delta_for(floor)
    assert "calibrate" not in str(caught.value), "no such command exists"


@pytest.mark.parametrize(
    "wrong",
    [{"delta": 0.009}, {"delta": math.nan}, {"screen_pairs": 0}, {"family_alpha": 0.0}, {"bound": 1.0}],
)
def test_a_rule_that_cannot_hold_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"delta|stage|lies between"):
        Rule(**wrong)


def test_sixteen_pairs_close_an_unchanged_point() -> None:
    """At 4 % spread the bound excludes 5 % in 99 of 100 screens; eight pairs in 8 of 10."""
    closes = {
        n: float(
            (
                p_greater_rows(-ratios(np.random.default_rng(n), "iid", 20_000, n, 0.04, 0), -EQUIVALENCE) <= RULE.miss
            ).mean()
        )
        for n in (8, 16)
    }
    assert closes[16] >= 0.99
    assert 0.75 <= closes[8] <= 0.82


def test_the_screen_is_loose() -> None:
    """At +5 % and a spread of 3.1 % it misses fewer than 1 in 100 at .20, and about 5 at .05."""
    assert 1 - rejected("iid", 16, 0.031, 0.05, SCREEN_ALPHA, RULE.margin, 2) < 0.01
    assert 0.03 < 1 - rejected("iid", 16, 0.031, 0.05, 0.05, RULE.margin, 2) < 0.07


def test_the_confirmation_has_power_at_the_tail_of_holm() -> None:
    smallest = FAMILY_ALPHA / 40
    assert rejected("iid", 64, 0.04, 0.05, smallest, RULE.margin, 3) > 0.95
    assert 0.54 < rejected("iid", 32, 0.04, 0.05, smallest, RULE.margin, 3) < 0.58


@pytest.mark.parametrize(
    ("kind", "spread", "change", "power"),
    [
        ("spikes", 0.031, 0.05, 0.990),
        ("spikes", 0.040, 0.05, 0.976),
        ("iid", 0.016, 0.03, 0.92),
        ("iid", 0.024, 0.03, 0.60),
        ("iid", 0.031, 0.03, 0.35),
    ],
)
def test_power_of_the_whole_rule(kind: str, spread: float, change: float, power: float) -> None:
    """20,000 points: the Monte-Carlo error is at most .0035 (one sd), and the figure was rounded."""
    error = 3 * math.sqrt(power * (1 - power) / 20_000) + 0.5 * 10 ** -(3 if power > 0.95 else 2)
    assert reported(kind, spread, change) == pytest.approx(power, abs=error + 0.005)


@pytest.mark.parametrize(
    ("spread", "change", "floor"),
    [(0.024, 0.10, 0.999), (0.024, 0.05, 0.97), (0.016, 0.10, 0.999), (0.016, 0.05, 0.99), (0.016, 0.03, 0.90)],
)
def test_power_at_run_level_one_changed_of_forty(spread: float, change: float, floor: float) -> None:
    """The other 39 are unchanged, and none of them was a suspect in 20,000 points: the family is the one."""
    assert reported("iid", spread, change, seed=4) >= floor
    rng = np.random.default_rng(5)
    others = points(lambda rows, n: ratios(rng, "iid", rows, n, spread, 0.0), 20_000, RULE)
    assert others.suspected.mean() < 0.0005


@pytest.mark.parametrize(("spread", "most"), [(0.031, 19), (0.040, 20)])
def test_what_an_unchanged_point_costs(spread: float, most: float) -> None:
    """18 to 19 pairs with spikes; the improvement side's suspicions are in it."""
    rng = np.random.default_rng(6)
    found = points(lambda rows, n: ratios(rng, "spikes", rows, n, spread, 0.0), 20_000, RULE)
    assert 18 <= found.pairs.mean() < most
    assert found.open.mean() < 0.02


@pytest.mark.parametrize("n", [16, 64, 1000])
def test_the_spread_of_normal_data_is_their_deviation(n: int) -> None:
    rng = np.random.default_rng(n)
    found = [spread_of(rng.normal(0.1, 0.02, n).tolist()) or 0.0 for _ in range(300 if n < 1000 else 5)]
    assert float(np.mean(found)) == pytest.approx(0.02, rel=0.1)


def test_the_spread_of_what_has_none() -> None:
    assert spread_of([0.1] * 20) == 0
    assert spread_of([]) is None
    assert spread_of([0.0, 1.0, 2.0]) is None
    one_spike = [*(0.001 * i for i in range(63)), 1e9]
    assert spread_of(one_spike) == pytest.approx(spread_of(one_spike[:-1]), rel=0.1)


@pytest.mark.parametrize("kind", ["iid", "spikes"])
@pytest.mark.parametrize("spread", [0.016, 0.024, 0.031])
def test_the_smallest_visible_change_is_seen_four_times_in_five(kind: str, spread: float) -> None:
    rng = np.random.default_rng(7)
    found = [spread_of(row.tolist()) or 0.0 for row in ratios(rng, kind, 300, 64, spread, 0)]
    stages = ((SCREEN_PAIRS, SCREEN_ALPHA), (CONFIRM_PAIRS, FAMILY_ALPHA))
    visible = smallest_visible(float(np.median(found)), stages, RULE.margin)
    assert visible is not None
    assert reported(kind, spread, visible, seed=8) == pytest.approx(0.80, abs=0.05)


def test_what_no_stage_can_reject_is_never_visible() -> None:
    assert smallest_visible(0.02, ((5, 0.01),), RULE.margin) is None
    assert chain_power(1.0, 0.02, ((5, 0.01),)) == 0
    assert smallest_visible(0.0, ((16, 0.2),), RULE.margin) == pytest.approx(0.02)
    assert smallest_visible(1e4, ((16, 0.2),), RULE.margin) is None
    more = [smallest_visible(0.03, ((n, 0.2),), RULE.margin) for n in (8, 16, 32, 64)]
    assert more == sorted(more, reverse=True)

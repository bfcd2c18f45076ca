"""Screen, confirmation and Holm: the words they say, and which of them may say what."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.confirm import as_ratios, confirm, holm, holm_level, p_value, p_values
from harness.judge.rule import Rule
from harness.judge.screen import Screening, Side, screen
from kpis.terms.comparison import State

RULE = Rule()


def around(centre: float, spread: float, n: int) -> list[float]:
    """A symmetric sample without ties."""
    return [centre + spread * (2 * i - n + 1) / n for i in range(n)]


@pytest.mark.parametrize(
    ("centre", "spread", "says", "side"),
    [
        (0.0, 0.02, Screening.OK, None),
        (0.0, 0.2, Screening.OPEN, None),
        (0.05, 0.02, Screening.SUSPECT, Side.WORSE),
        (-0.05, 0.02, Screening.SUSPECT, Side.BETTER),
        (0.015, 0.005, Screening.OK, None),
        (0.03, 0.1, Screening.OPEN, None),
    ],
)
def test_what_a_screen_says(centre: float, spread: float, says: Screening, side: Side | None) -> None:
    found = screen(around(centre, spread, 16), RULE)
    assert (found.says, found.side, found.pairs) == (says, side, 16)
    assert found.low <= found.centre <= found.high


def test_a_screen_is_suspicious_only_beyond_the_margin() -> None:
    assert screen([RULE.margin] * 16, RULE).says is Screening.OK
    assert screen([RULE.margin + 1e-9] * 16, RULE).side is Side.WORSE
    assert screen([-RULE.margin] * 16, RULE).says is Screening.OK
    assert screen([-RULE.margin - 1e-9] * 16, RULE).side is Side.BETTER


@pytest.mark.parametrize(
    ("centre", "spread", "side", "state"),
    [
        (0.05, 0.02, Side.WORSE, State.REGRESSED),
        (-0.05, 0.02, Side.BETTER, State.IMPROVED),
        (0.0, 0.02, Side.WORSE, State.OK),
        (-0.05, 0.02, Side.WORSE, State.OK),
        (0.05, 0.02, Side.BETTER, State.INCONCLUSIVE),
        (0.03, 0.15, Side.WORSE, State.INCONCLUSIVE),
    ],
)
def test_what_a_confirmation_says(centre: float, spread: float, side: Side, state: State) -> None:
    found = confirm(around(centre, spread, 64), RULE, 0.01, side)
    assert found.state is state
    assert (found.pairs, found.alpha) == (64, 0.01)
    assert found.ratio == pytest.approx(math.exp(centre), rel=0.01)


def test_the_level_decides() -> None:
    fresh = around(0.03, 0.1, 64)
    p = p_value(fresh, Side.WORSE, RULE)
    assert confirm(fresh, RULE, p).state is State.REGRESSED
    assert confirm(fresh, RULE, math.nextafter(p, 0)).state is not State.REGRESSED


def test_ratios_are_head_over_base_whatever_the_direction() -> None:
    up = confirm(around(0.05, 0.02, 64), RULE, 0.01)
    down = confirm(around(0.05, 0.02, 64), RULE, 0.01, higher_is_better=True)
    assert up.ratio is not None and down.ratio is not None and up.low is not None and down.high is not None
    assert down.ratio == pytest.approx(1 / up.ratio)
    assert down.high == pytest.approx(1 / up.low)
    assert as_ratios(0.0, -math.inf, math.inf, higher_is_better=False) == (1.0, None, None)


def test_holm_by_hand() -> None:
    p = {"a": 0.001, "b": 0.004, "c": 0.0049, "d": 0.9}
    assert holm(p, 0.01) == {"a"}  # .001 <= .0025, but .004 > .01 / 3
    assert holm({**p, "b": 0.003}, 0.01) == {"a", "b", "c"}  # .0049 <= .01 / 2
    assert holm({}, 0.01) == frozenset()
    assert holm({"a": 0.01}, 0.01) == {"a"}
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm({"a": math.nan}, 0.01)


def stepwise(p: dict[int, float], alpha: float) -> set[int]:
    """Holm as the book has it: step down, stop at the first that fails."""
    accepted: set[int] = set()
    for passed, (point, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        if value > alpha / (len(p) - passed):
            break
        accepted.add(point)
    return accepted


@given(st.lists(st.sampled_from([0.0, 1e-5, 0.0025, 1 / 300, 0.005, 0.01, 0.011, 1.0]) | st.floats(0, 1), max_size=12))
def test_one_level_parts_what_holm_accepts(values: list[float]) -> None:
    p = dict(enumerate(values))
    assert holm(p, 0.01) == stepwise(p, 0.01)
    assert 0 < holm_level(p, 0.01) <= 0.01


def test_holm_controls_the_family_whatever_is_true() -> None:
    """All patterns of null and changed over four points whose p-values have an exact uniform grid."""
    grid = [(i + 1) / 20 for i in range(20)]
    for nulls in product((True, False), repeat=3):
        wrong = total = 0
        for values in product(grid, repeat=3):
            p = {i: value if null else 0.0 for i, (value, null) in enumerate(zip(values, nulls, strict=True))}
            wrong += any(nulls[point] for point in holm(p, 0.1))
            total += 1
        assert wrong / total <= 0.1


def test_a_suspect_that_the_budget_left_out_stays_in_its_family() -> None:
    rng = np.random.default_rng(0)
    fresh = {i: rng.normal(0.05, 0.02, 64).tolist() for i in range(2)} | {9: None}
    p = p_values(fresh, Side.WORSE, RULE)
    assert p[9] == 1.0
    assert holm(p, 0.01) == {0, 1}
    assert holm({0: 0.004, 1: 1.0}, 0.01) == {0}
    assert holm({0: 0.004, 1: 1.0, 2: 1.0}, 0.01) == frozenset()

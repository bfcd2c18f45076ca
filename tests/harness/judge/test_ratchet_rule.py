"""The rule of the record: its least sample recomputed, its error rate counted, and each state at its edge."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom, nct, t

from harness.judge.predicted import shift_of, t_quantile
from harness.judge.ratchet import BUDGET, judge_timed, worse_than
from harness.judge.ratchet_row import TimedRow
from harness.judge.rule import EQUIVALENCE
from kpis.terms.comparison import ComparisonWarn, State
from kpis.terms.kpi import Direction
from tests.harness.judge.sessions import FIVE, HIGHER, LOWER, NEUTRAL, centre, margin, spread


def state(now: float, *, sessions: tuple[float, ...] = FIVE, direction: Direction = LOWER, **more: float) -> State:
    return judge_timed({"k": TimedRow(sessions, (now,), direction, **more)})["k"].comparison.state


# The constants


def test_the_least_number_of_sessions_is_where_the_margin_becomes_one() -> None:
    seen = {n: math.expm1(0.03 * margin(0.01 / 40, n)) for n in (3, 4, 5)}
    assert seen[5] == pytest.approx(0.40, abs=0.01)
    assert seen[4] == pytest.approx(0.73, abs=0.01)
    assert 1 + seen[3] > 4


def test_quantiles_agree_with_another_implementation() -> None:
    for df in (1, 4, 19):
        for alpha in (0.4, 0.005, 0.00025, 1e-6):
            assert t_quantile(alpha, df) == pytest.approx(float(t.ppf(1 - alpha, df)), rel=1e-6)
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(0.01, 0)


# The shift


def test_one_value_against_several_is_the_prediction_margin() -> None:
    logs = [math.log(value) for value in FIVE]
    found = shift_of(logs, [math.log(1100)])
    assert found is not None
    assert found.df == 4
    assert found.error == pytest.approx(spread(FIVE) * math.sqrt(1 + 1 / 5))
    assert found.reach(0.005) == pytest.approx(margin(0.005, 5) * spread(FIVE))
    assert found.p_above(0.0) == pytest.approx(float(t.sf(found.size / found.error, 4)))
    assert found.p_below(0.0) == pytest.approx(1 - found.p_above(0.0))


def test_what_is_visible_is_seen_four_times_in_five() -> None:
    found = shift_of([math.log(value) for value in FIVE], [math.log(1000)])
    assert found is not None
    for alpha in (0.01, 0.00025, 1e-6):
        seen = found.visible(alpha, 0.8)
        assert float(nct.sf(t_quantile(alpha, 4), 4, seen / found.error)) == pytest.approx(0.8, abs=1e-6)
        assert seen > found.reach(alpha)


def test_too_few_values_have_no_spread_and_none_no_shift() -> None:
    assert shift_of([1.0], [2.0]) is None
    with pytest.raises(ValueError, match="each side"):
        shift_of([], [1.0])
    with pytest.raises(ValueError, match="finite"):
        shift_of([1.0, 2.0], [math.inf])
    with pytest.raises(ValueError, match="spread"):
        shift = shift_of([0.1, 0.1, 0.1], [0.2])
        assert shift is not None
        shift.p_above(0.0)


# The states


def test_it_gates_only_beyond_what_it_prints() -> None:
    first = judge_timed({"k": TimedRow(FIVE, (1000.0,), LOWER)})["k"]
    assert first.beyond is not None
    edge = centre(FIVE) * (1 + first.beyond)
    assert state(edge * 1.0001) is State.REGRESSED
    assert state(edge * 0.9999) is State.WITHIN
    assert first.beyond == pytest.approx(math.expm1(margin(0.01, 5) * spread(FIVE)))  # one row: Holm leaves all of 1 %
    better = centre(FIVE) / (1 + first.beyond)
    assert state(better * 0.9999) is State.IMPROVED
    assert state(better * 1.0001) in (State.OK, State.WITHIN)


def test_higher_is_better_turns_it_round() -> None:
    assert state(700.0, direction=HIGHER) is State.REGRESSED
    assert state(1400.0, direction=HIGHER) is State.IMPROVED
    found = judge_timed({"k": TimedRow(FIVE, (700.0,), HIGHER)})["k"].comparison
    assert found.ratio == pytest.approx(700 / centre(FIVE))


def test_where_no_change_is_right_either_way_regressed() -> None:
    assert state(700.0, direction=NEUTRAL) is State.REGRESSED
    assert state(1400.0, direction=NEUTRAL) is State.REGRESSED
    assert state(1000.0, direction=NEUTRAL) in (State.OK, State.WITHIN)


def test_ok_excludes_five_percent_and_within_does_not() -> None:
    tight = (1000.0, 1002.0, 998.0, 1001.0, 999.0)
    found = judge_timed({"k": TimedRow(tight, (1001.0,), LOWER)})["k"].comparison
    assert found.state is State.OK
    assert found.high is not None
    assert math.log(found.high) < EQUIVALENCE
    assert state(1001.0) is State.WITHIN


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_fewer_than_five_sessions_gate_nothing(count: int) -> None:
    found = judge_timed({"k": TimedRow(FIVE[:count], (9e9,), LOWER)})["k"]
    assert found.comparison.state is State.THIN
    assert found.beyond is None
    assert found.comparison.warnings[0].code is ComparisonWarn.TOO_FEW


def test_sessions_without_a_spread_decide_only_the_same_value() -> None:
    alike = (1000.0,) * 6
    assert state(1000.0, sessions=alike) is State.OK
    assert state(1000.001, sessions=alike) is State.INCONCLUSIVE
    assert state(0.1 + 0.2, sessions=(0.1 + 0.2,) * 7) is State.OK  # no rounding of a mean is taken for a spread


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="k: a time is positive"):
        judge_timed({"k": TimedRow(FIVE, (0.0,), LOWER)})


def test_one_row_in_forty_needs_more_than_one_alone() -> None:
    """A value between the margins of one and of forty rows: alone it regressed, among forty it did not."""
    now = centre(FIVE) * math.exp(7 * spread(FIVE))
    assert state(now) is State.REGRESSED
    rows = {n: TimedRow(FIVE, (now if n == 0 else 1000.0,), LOWER) for n in range(40)}
    assert judge_timed(rows)[0].comparison.state is not State.REGRESSED


def test_unchanged_runs_of_forty_rows_are_red_in_one_of_a_hundred() -> None:
    """2,000 runs in which nothing changed: more red ones than a rate of 1 % has in one of ten thousand are too many."""
    rng = np.random.default_rng(7)
    red = 0
    for _ in range(2000):
        values = np.exp(rng.normal(0, 0.03, (40, 6)))
        rows = {n: TimedRow(tuple(row[:5]), (float(row[5]),), LOWER) for n, row in enumerate(values.tolist())}
        red += any(found.comparison.state is State.REGRESSED for found in judge_timed(rows).values())
    assert 0 < red <= binom.ppf(0.9999, 2000, 0.01)


# The release, the base


def test_a_release_gates_beyond_its_budget_and_the_noise() -> None:
    tight = tuple(1000.0 + step for step in (0.0, 1.0, -1.0, 0.5, -0.5))
    for now, expected in ((1049.0, State.OK), (1060.0, State.REGRESSED), (900.0, State.OK)):
        found = judge_timed({"k": TimedRow(tight, (now,), LOWER, budget=BUDGET)})["k"].comparison
        assert found.state in ({expected} if expected is State.REGRESSED else {State.OK, State.WITHIN})


def test_more_sessions_since_a_release_see_a_smaller_creep() -> None:
    rng = np.random.default_rng(3)
    then = tuple(np.exp(rng.normal(0, 0.02, 10)).tolist())
    since = tuple((1.12 * np.exp(rng.normal(0, 0.02, 12))).tolist())
    reach = [judge_timed({"k": TimedRow(then, since[:n], LOWER, budget=BUDGET)})["k"].beyond for n in (1, 4, 12)]
    assert all(a is not None and b is not None and a > b for a, b in pairwise(reach))
    assert judge_timed({"k": TimedRow(then, since, LOWER, budget=BUDGET)})["k"].comparison.state is State.REGRESSED


def test_as_bad_as_before_is_not_worse_than_before() -> None:
    red = TimedRow(FIVE, (1500.0,), LOWER)
    assert not worse_than(red, 1480.0, 0.01)
    assert worse_than(red, 1100.0, 0.01)
    assert not worse_than(TimedRow(FIVE, (600.0,), HIGHER), 610.0, 0.01)
    edge = 1500.0 * math.exp(-t_quantile(0.01, 4) * spread(FIVE) * math.sqrt(2))
    assert worse_than(red, edge * 0.999, 0.01)
    assert not worse_than(red, edge * 1.001, 0.01)

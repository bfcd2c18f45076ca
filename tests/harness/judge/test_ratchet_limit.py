"""The limit of a record: its constants recomputed, where it lies, when it is passed and by how much it moves."""

from __future__ import annotations

import math

import pytest

from harness.judge.ratchet import judge_timed
from harness.judge.ratchet_limit import LIMIT_ALPHA, LOOSE, first_limit, past_limit, slack, supported_gain
from harness.judge.ratchet_row import LEAST_SESSIONS, TimedRow
from kpis.terms.comparison import ComparisonWarn, State
from tests.harness.judge.sessions import FIVE, HIGHER, LOWER, NEUTRAL, centre, margin, spread


def test_five_sessions_give_a_margin_of_five_spreads_and_eleven_after_holm() -> None:
    assert margin(LIMIT_ALPHA, LEAST_SESSIONS) == pytest.approx(5.04, abs=0.01)
    assert margin(0.01 / 40, LEAST_SESSIONS) == pytest.approx(11.3, abs=0.1)
    low, high = (math.expm1(0.03 * each) for each in (5.04, 11.3))
    assert (round(low, 2), round(high, 2)) == (0.16, 0.40)


def test_no_noise_makes_a_record_twice_too_loose() -> None:
    """Two limits apart at the largest spread on a busy machine, 4.4 %; and a real slowdown of 2.3 has to be refused."""
    assert math.exp(2 * 0.044 * margin(LIMIT_ALPHA, LEAST_SESSIONS)) == pytest.approx(1.56, abs=0.01)
    assert 1.56 < LOOSE < 2.3


def test_a_limit_is_what_the_first_five_sessions_support() -> None:
    expected = centre(FIVE) * math.exp(margin(LIMIT_ALPHA, 5) * spread(FIVE))
    assert first_limit(FIVE, LOWER) == pytest.approx(expected)
    assert first_limit((*FIVE, 1.0, 9e9), LOWER) == pytest.approx(expected)
    assert first_limit(FIVE, HIGHER) == pytest.approx(centre(FIVE) ** 2 / expected)
    assert first_limit(FIVE[:4], LOWER) is None
    assert first_limit((5.0,) * 5, LOWER) is None
    assert first_limit(FIVE, NEUTRAL) is None


def test_a_value_that_only_passes_its_limit_is_warned_about() -> None:
    limit = first_limit(FIVE, LOWER)
    assert limit is not None
    rows = {n: TimedRow(FIVE, (limit * 1.001 if n == 0 else 1000.0,), LOWER, limit) for n in range(40)}
    found = judge_timed(rows)
    assert found[0].comparison.state is State.WITHIN
    assert [each.code for each in found[0].comparison.warnings] == [ComparisonWarn.PAST_LIMIT]
    assert not found[1].comparison.warnings
    assert past_limit(TimedRow(FIVE, (10.0,), HIGHER, 11.0))
    assert not past_limit(TimedRow(FIVE, (12.0,), HIGHER, 11.0))
    assert not past_limit(TimedRow(FIVE, (12.0,), NEUTRAL, 11.0))


def test_a_gain_is_less_than_the_point_estimate() -> None:
    row = TimedRow(FIVE, (600.0,), LOWER)
    gain = supported_gain(row, 0.005)
    seen = math.log(centre(FIVE) / 600.0)
    assert gain == pytest.approx(seen - margin(0.005, 5) * spread(FIVE))
    assert supported_gain(TimedRow(FIVE, (950.0,), LOWER), 0.005) is None
    assert supported_gain(TimedRow(FIVE[:3], (100.0,), LOWER), 0.005) is None


def test_slack_says_how_many_times_looser_a_record_is() -> None:
    assert slack(3000.0, 1000.0, LOWER) == 3.0
    assert slack(1000.0, 3000.0, HIGHER) == 3.0

from __future__ import annotations

import random
import struct
import sys
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import theilslopes

from kpis.formulas.session import retention as forms
from kpis.formulas.session.retention import Trend, retention, sen_interval

N = 200
TURNS = range(N)


def noise(spread: float, seed: int = 7) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(0, spread) for _ in TURNS]


def trend(readings) -> Trend:
    return retention(readings).trend


def test_the_constants_are_what_they_are_said_to_be() -> None:
    assert pytest.approx(NormalDist().inv_cdf(0.995), abs=1e-12) == forms.QUANTILE
    assert struct.calcsize("P") / 2 == forms.REFERENCE
    assert sys.getsizeof(1.5) + struct.calcsize("P") == forms.FLAT


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_sens_interval_is_that_of_another_implementation_to_one_rank(seed: int, ties: bool) -> None:
    readings = [2 * turn + value for turn, value in enumerate(noise(40, seed))]
    readings = [float(round(each, -1)) for each in readings] if ties else readings
    _, _, low, high = theilslopes(readings, alpha=0.99)
    mine = sen_interval(readings)
    assert mine[0] <= low <= high <= mine[1]
    assert mine == pytest.approx((low, high), abs=0.02)


@pytest.mark.parametrize(
    ("readings", "retained"),
    [
        ([5_000] * N, 0),
        ([5_000 + 12_000 * (turn % 50) / 50 for turn in TURNS], 0),  # a list that is emptied every 50 turns
        ([20_000 * (turn % 40) / 40 for turn in TURNS], 0),
        ([5_000 + 90_000 * (turn in (63, 64)) for turn in TURNS], 0),  # held for a moment
        (noise(1_000), 0),
        ([2_000 * (turn > 90) for turn in TURNS], 0),  # over all turns no more than may be hidden
    ],
)
def test_flat(readings, retained) -> None:
    found = retention(readings)
    assert (found.trend, found.retained) == (Trend.FLAT, retained)
    assert max(abs(found.shift.low), abs(found.shift.high)) <= forms.FLAT


@pytest.mark.parametrize(
    ("readings", "retained"),
    [
        ([1_024 * turn for turn in TURNS], 1_024),
        ([8 * turn for turn in TURNS], 8),  # one reference a turn, in a runtime without noise
        ([1_024 * (turn // 10) for turn in TURNS], 102),
        ([1_024 * turn + 50_000 * (turn == 150) for turn in TURNS], 1_024),
        ([1_024 * turn + 12_000 * (turn % 50) / 50 for turn in TURNS], 1_024),
    ],
)
def test_growing(readings, retained) -> None:
    found = retention(readings)
    assert found.trend is Trend.GROWING
    assert found.retained == pytest.approx(retained, abs=2 * (max(found.shift) - min(found.shift)))


def test_the_number_is_told_as_finely_as_the_readings_tell_it() -> None:
    exact = retention([1_031 * turn for turn in TURNS])
    assert exact.retained == 1_031
    rough = retention([1_031 * turn + value for turn, value in enumerate(noise(3_000))])
    spread = max(rough.shift) - min(rough.shift)
    assert rough.trend is Trend.GROWING and spread > 1
    step = 2 ** (int(spread) - 1).bit_length() if spread == int(spread) else 2 ** int(spread).bit_length()
    assert rough.retained is not None and rough.retained % step == 0 and rough.retained != 1_031


@pytest.mark.parametrize(
    "readings",
    [
        noise(100_000),
        [1_024 * max(0, turn - 160) for turn in TURNS],  # growth that begins late
        [1_024 * max(0, turn - 190) for turn in TURNS],  # later still: eleven readings of two hundred
        [1_024 * min(100, turn) for turn in TURNS],  # growth that has ended
        [50_000 * (turn > 100) for turn in TURNS],  # one step
        [50_000 * (turn > 150) for turn in TURNS],
        [-1_024 * turn for turn in TURNS],  # something empties, behind which anything could grow
        [10_240 * (turn // 50) for turn in TURNS],
    ],
)
def test_unknown_has_no_number(readings) -> None:
    found = retention(readings)
    assert (found.trend, found.retained) == (Trend.UNKNOWN, None)


@pytest.mark.parametrize("seed", range(10))
def test_a_kilobyte_a_turn_is_found_under_noise_of_thirty(seed: int) -> None:
    assert trend([1_024 * turn + value for turn, value in enumerate(noise(30_000, seed))]) is Trend.GROWING


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("spread", [10, 1_000, 10_000, 100_000])
def test_noise_alone_never_grows(seed: int, spread: float) -> None:
    assert trend(noise(spread, seed)) is not Trend.GROWING


def test_too_few_readings_are_refused_and_the_first_of_an_odd_number_is_left_out() -> None:
    with pytest.raises(ValueError, match="39 readings show no trend; it takes 40"):
        retention([1.0] * 39)
    with pytest.raises(ValueError, match="1 readings have no slope"):
        sen_interval([1.0])
    assert retention([10_000_000, *(8 * turn for turn in range(40))]) == retention([8 * turn for turn in range(40)])


READINGS = st.lists(st.integers(0, 1 << 20), min_size=40, max_size=60)


@given(READINGS, st.integers(0, 1 << 30))
def test_what_was_held_before_is_in_no_verdict(readings, held) -> None:
    assert retention([each + held for each in readings]) == retention(readings)


@given(READINGS, st.integers(64, 4_096))
def test_what_a_leak_is_added_to_is_never_flat_where_it_was_flat(readings, leak) -> None:
    leaking = retention([each + 2 * leak * turn for turn, each in enumerate(readings)])
    if trend(readings) is Trend.FLAT:
        assert leaking.trend is not Trend.FLAT


@given(READINGS)
def test_what_grows_does_not_grow_backwards(readings) -> None:
    if trend(readings) is Trend.GROWING:
        assert trend(readings[::-1]) is Trend.UNKNOWN

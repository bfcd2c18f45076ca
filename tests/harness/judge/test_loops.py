"""Loops against the times that explain them: what sound calibrations may differ by, and what is another measurement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.loops import MOST, unexplained

LEAST_NS = 5e6


@pytest.mark.parametrize(
    ("then", "now", "times"),
    [
        ((512, 1e4), (512, 1e4), 1),
        ((512, 1e4), (2048, 1e4), 4),
        ((2048, 1e4), (512, 1e4), 4),
        ((512, 1e4), (8192, 1e4), 16),
        ((8192, 1e4), (512, 1e4), 16),
        ((512, 1e4), (8192, 625.0), 1),  # sixteen times as fast
        ((512, 1e4), (8192, 1250.0), 2),
        ((512, 1e4), (8192, 2e4), 16),  # slower, and more of them: no more than there are
        ((512, 1e4), (512, 1e7), 1),
        ((64, 1e5), (1, 1e9), 1),  # one call outlasts the least time by far: nothing is left to take off
        ((1, 1e9), (64, 1e5), 1),
    ],
)
def test_what_the_time_of_a_call_explains_does_not_count(then, now, times):
    assert unexplained(then, now) == pytest.approx(times)


def calibrated(call_ns, stalled, slow):
    """The loops of a call whose calibration saw it ``stalled`` times as long, and what it takes: ``slow`` times."""
    loops = 1
    while loops * call_ns * stalled < LEAST_NS:
        loops *= 2
    while loops * call_ns * slow < 0.8 * LEAST_NS:  # a value too short is calibrated again
        loops *= 2
    return loops, call_ns * slow


calls = st.floats(1.0, 1e10)
moods = st.floats(1.0, 2.0)
stalls = st.floats(1.0, 50.0)


@given(calls, calls, stalls, stalls, moods, moods)
def test_no_two_sound_calibrations_are_refused(one, other, stalled, other_stalled, slow, other_slow):
    then, now = calibrated(one, stalled, slow), calibrated(other, other_stalled, other_slow)
    assert unexplained(then, now) <= 5.0 < MOST
    assert unexplained(now, then) == pytest.approx(unexplained(then, now))


@given(calls, st.floats(16.0, 1e4))
def test_another_least_time_of_a_value_is_seen(call, factor):
    loops = calibrated(call, 1.0, 1.0)[0]
    many = int(loops * factor)
    assert unexplained((loops, call), (many, call)) > MOST


@pytest.mark.parametrize("bad", [(0, 1.0), (1, 0.0), (-1, 1.0), (1, -1.0)])
def test_what_is_no_timing_is_refused(bad):
    with pytest.raises(ValueError, match="positive"):
        unexplained((1, 1.0), bad)
    with pytest.raises(ValueError, match="positive"):
        unexplained(bad, (1, 1.0))

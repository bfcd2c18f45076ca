"""Whether a session keeps more memory with every turn: the slope of its readings, and what can be said of it.

The slope is Brown's and Mood's: from the median of the first half to that of the second, over the turns between them
(G. W. Brown, A. M. Mood, 2nd Berkeley Symposium, 1951). Neither a few turns that hold more for a moment nor what fills
and empties again several times moves it. That readings rise at all is shown by the interval of Sen's slope (P. K. Sen,
JASA 63, 1968), in the whole and in either half; that they stay is shown by what the halves span, with no law of noise
supposed. Closed forms over numbers: nothing is measured here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from statistics import median
from typing import NamedTuple

__all__ = ["FEWEST", "FLAT", "QUANTILE", "REFERENCE", "Retention", "Shift", "Trend", "retention", "sen_interval"]

FEWEST = 40
"""Readings below which nothing is said: each half has 20 then, and S is normal enough from about 10 on."""

QUANTILE = 2.5758293035489004
"""Of the standard normal law, two-sided at 1 %."""

REFERENCE = 4.0
"""Bytes a turn above which a session grows: half of the reference by which it holds one object more."""

FLAT = 32.0
"""Bytes a turn that what else moves may hide where a session is called flat: one float of 24, and its reference."""


class Trend(StrEnum):
    """What the readings show."""

    FLAT = "flat"
    GROWING = "growing"
    UNKNOWN = "unknown"


class Shift(NamedTuple):
    """How far the low end, the median and the high end of the second half lie above those of the first.

    In bytes a turn: over the turns from the middle of one half to that of the other. An end is what is left of a half
    without one reading in fifty on that side, so that what a turn held for a moment is none.
    """

    low: float
    middle: float
    high: float


class Retention(NamedTuple):
    """The trend, in a few words why, the shift, and the interval of Sen's slope at 99 %, both in bytes a turn."""

    trend: Trend
    why: str
    shift: Shift
    interval: tuple[float, float]

    @property
    def retained(self) -> int | None:
        """The slope in whole bytes a turn, as finely as the readings tell it; None where the trend is unknown.

        Of a flat session the smallest of its shifts, in steps of :data:`FLAT` towards zero. Of one that grows the shift
        of the median, in steps of the power of two that covers what the three disagree by: one byte without noise.
        """
        if self.trend is Trend.UNKNOWN:
            return None
        if self.trend is Trend.FLAT:
            return int(min(self.shift, key=abs) / FLAT) * int(FLAT)
        step = 1
        while step < max(self.shift) - min(self.shift):
            step *= 2
        return round(self.shift.middle / step) * step


def sen_interval(readings: Sequence[float]) -> tuple[float, float]:
    """The interval at 99 % of the slope of readings at equal distances, from the variance of Kendall's S with ties.

    Raises:
        ValueError: there are fewer than two.
    """
    n = len(readings)
    if n < 2:
        raise ValueError(f"{n} readings have no slope")
    slopes = sorted((readings[j] - readings[i]) / (j - i) for i in range(n) for j in range(i + 1, n))
    pairs = len(slopes)
    ties = sum(t * (t - 1) * (2 * t + 5) for t in Counter(readings).values())
    reach = QUANTILE * math.sqrt((n * (n - 1) * (2 * n + 5) - ties) / 18)
    below = max(math.floor((pairs - reach) / 2) - 1, 0)
    above = min(math.ceil((pairs + reach) / 2), pairs - 1)
    return slopes[below], slopes[above]


def retention(readings: Sequence[float]) -> Retention:
    """What bytes held after each of several turns, in order, say of a session. Of an odd number the first is left out.

    ``growing``: Sen's interval lies above :data:`REFERENCE`, above zero in either half too, and the low end, the
    median and the high end all rise by half of its lower bound at least. ``flat``: otherwise, where neither end moves
    by more than :data:`FLAT`; a leak lifts the low one, and a leak that begins late the high one. ``unknown``:
    everything else, such as noise, or one step.

    Raises:
        ValueError: there are fewer than :data:`FEWEST` readings.
    """
    if len(readings) < FEWEST:
        raise ValueError(f"{len(readings)} readings show no trend; it takes {FEWEST}")
    half = len(readings) // 2
    after = readings[-half:]
    before = readings[-2 * half : -half]
    shift = Shift(*((late - early) / half for early, late in zip(_levels(before), _levels(after), strict=True)))
    whole = sen_interval(readings[-2 * half :])
    rises = whole[0] > REFERENCE and all(sen_interval(each)[0] > 0 for each in (before, after))
    if rises and min(shift) >= whole[0] / 2:
        return Retention(Trend.GROWING, "it rises all along and does not fall back", shift, whole)
    if max(abs(shift.low), abs(shift.high)) <= FLAT:
        why = f"its second half spans what its first did, to {FLAT:g} bytes a turn"
        return Retention(Trend.FLAT, why, shift, whole)
    return Retention(Trend.UNKNOWN, "it moves, and not all along", shift, whole)


def _levels(readings: Sequence[float]) -> tuple[float, float, float]:
    """The low end, the median and the high end."""
    ordered = sorted(readings)
    spared = len(ordered) // 50
    return ordered[spared], median(ordered), ordered[-1 - spared]

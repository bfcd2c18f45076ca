"""Whether a session keeps more memory with every turn: the slope of its readings, and what can be said of it.

The slope is Theil's (the median over all pairs of turns), which a few turns that hold more for a moment do not move,
and its interval is Sen's, from the variance of Kendall's S with ties (P. K. Sen, JASA 63, 1968). Both suppose a line;
each half of the readings is asked by itself, so that growth which begins late, or has ended, is not taken for one or
for none. Closed forms over numbers: nothing is measured here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from statistics import median
from typing import NamedTuple

__all__ = ["FEWEST", "FLAT", "QUANTILE", "REFERENCE", "Line", "Retention", "Trend", "line_of", "retention"]

FEWEST = 40
"""Readings below which nothing is said: each half has 20 then, and the normal law of S holds from about 10 on."""

QUANTILE = 2.5758293035489004
"""Of the standard normal law, two-sided at 1 %."""

REFERENCE = 4.0
"""Bytes a turn from which on a session grows: half of the reference by which it would hold one object more."""

FLAT = 64.0
"""Bytes a turn that a flat session could hide at most: a sixteenth of a kilobyte. A wider interval says nothing."""


class Trend(StrEnum):
    """What the readings show."""

    FLAT = "flat"
    GROWING = "growing"
    UNKNOWN = "unknown"


class Line(NamedTuple):
    """A slope and its interval, all in bytes a turn."""

    slope: float
    low: float
    high: float


class Retention(NamedTuple):
    """The trend, why it is that one, and the lines through all readings, the first half, and the second."""

    trend: Trend
    why: str
    whole: Line
    first: Line
    second: Line


def line_of(readings: Sequence[float]) -> Line:
    """The Theil-Sen slope of readings at equal distances, and its interval at 99 %.

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
    below = max(math.floor((pairs - reach) / 2), 0)
    above = min(math.ceil((pairs + reach) / 2), pairs - 1)
    return Line(median(slopes), slopes[below], slopes[above])


def retention(readings: Sequence[float]) -> Retention:
    """What bytes held after each of several turns, in order, say of a session.

    ``growing``: the whole lies above :data:`REFERENCE` and either half above zero; over all turns it rises by more
    than the readings scatter about it, and half of that lies between the two halves, as it does not where a session
    fills and empties again. ``flat``: neither the whole nor a half is shown to rise or fall, the last tenth stands
    where the first stood, and no more than :data:`FLAT` could be hidden. ``unknown`` is everything else.

    Raises:
        ValueError: there are fewer than :data:`FEWEST` readings.
    """
    n = len(readings)
    if n < FEWEST:
        raise ValueError(f"{n} readings show no trend; it takes {FEWEST}")
    before, after = readings[: n // 2], readings[-(n // 2) :]
    lines = whole, first, second = line_of(readings), line_of(before), line_of(after)
    rise, level = whole.slope * n, median(after) - median(before)
    if whole.low > REFERENCE and first.low > 0 and second.low > 0:
        scatter = _scatter(readings, whole.slope)
        if rise > scatter and level >= rise / 4:
            return Retention(Trend.GROWING, "it rises in both halves, by more than it scatters", *lines)
        why = f"it rises by {rise:,.0f} bytes in all and scatters over {scatter:,.0f}"
        return Retention(Trend.UNKNOWN, why, *lines)
    moved = [name for name, each in zip(("whole", "first half", "second half"), lines, strict=True) if _moves(each)]
    if moved:
        return Retention(Trend.UNKNOWN, f"it moves, but not all along: {', '.join(moved)}", *lines)
    tenth = n // 10
    shift = median(readings[-tenth:]) - median(readings[:tenth])
    if abs(shift) > FLAT * n:
        return Retention(Trend.UNKNOWN, f"it moved by {shift:,.0f} bytes at some turn and has not come back", *lines)
    if max(whole.high, -whole.low) > FLAT:
        return Retention(Trend.UNKNOWN, f"noise could hide more than {FLAT:g} bytes a turn", *lines)
    return Retention(Trend.FLAT, f"no more than {FLAT:g} bytes a turn could be hidden", *lines)


def _moves(line: Line) -> bool:
    """Whether the line is shown to rise or to fall."""
    return line.low > REFERENCE or line.high < -REFERENCE


def _scatter(readings: Sequence[float], slope: float) -> float:
    """What the middle four fifths of the readings span once the slope is taken out of them."""
    left = sorted(reading - slope * turn for turn, reading in enumerate(readings))
    return left[len(left) * 9 // 10] - left[len(left) // 10]

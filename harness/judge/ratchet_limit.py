"""The stored limit of a timed row: where it lies, whether a run is past it, and by how much it may move down.

Refuses to take a fast day for an improvement: a limit moves down only by what is left of a change when the stray of the
sessions is taken off. Gates nothing: a value that is only beyond its limit is warned about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from harness.judge.predicted import shift_of
from harness.judge.ratchet_row import LEAST_SESSIONS, TimedRow, logs_of, shift_in
from kpis.terms.kpi import Direction

__all__ = ["LIMIT_ALPHA", "LOOSE", "first_limit", "past_limit", "slack", "supported_gain"]

LIMIT_ALPHA = 0.005
"""The level of a stored limit: with five sessions it lies 5.0 spreads above their centre."""

LOOSE = 2.0
"""A record this many times what is measured describes something else. Two limits lie between the luckiest session and
the slowest that is still unchanged: at 4.4 %, the largest spread that was seen between processes on a busy machine,
that is a factor of 1.56; and a record three times too loose has let a slowdown of 2.3 pass (an indicator extractor's
committed baseline, 2026)."""


def past_limit(row: TimedRow) -> bool:
    """Whether this run lies beyond the stored limit, on the worse side."""
    if row.limit is None or row.direction is Direction.NEUTRAL:
        return False
    return row.now[-1] < row.limit if row.direction is Direction.HIGHER else row.now[-1] > row.limit


def slack(centre: float, now: float, direction: Direction) -> float:
    """How many times looser than ``now`` a record at ``centre`` is: 2 where it allows twice the time that was taken."""
    return now / centre if direction is Direction.HIGHER else centre / now


def first_limit(sessions: Sequence[float], direction: Direction) -> float | None:
    """The limit that the first five sessions support: what an unchanged value exceeds in one case of two hundred.

    None for fewer sessions, and where they are all alike.
    """
    if len(sessions) < LEAST_SESSIONS or direction is Direction.NEUTRAL:
        return None
    logs = logs_of(sessions[:LEAST_SESSIONS], direction)
    stray = shift_of(logs, [fmean(logs)])
    if stray is None or stray.error <= 0:
        return None
    bound = fmean(logs) + stray.reach(LIMIT_ALPHA)
    return math.exp(-bound if direction is Direction.HIGHER else bound)


def supported_gain(row: TimedRow, level: float) -> float | None:
    """The least improvement that this run supports, on the log scale; None where it supports none.

    ``level`` is the alpha that Holm left to the row.
    """
    shift = shift_in(row)
    if shift is None or len(row.sessions) < LEAST_SESSIONS or shift.error <= 0:
        return None
    gain = -shift.size - shift.reach(level)
    return gain if gain > 0 else None

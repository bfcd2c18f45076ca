"""The ratchet's rule: one measured value against the sessions that a record holds of it, and against a last release.

A record is no detector. It gates a timed row only beyond what its own sessions say an unchanged value may stray,
corrected for all rows of the run, and says how much that is; with fewer than five sessions it gates nothing. Counts
need none of this (:mod:`harness.judge.ratchet_counts`). Refuses to gate by a stored limit
(:mod:`harness.judge.ratchet_limit`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from harness.judge.confirm import holm_level
from harness.judge.power import POWER
from harness.judge.predicted import Shift, t_quantile
from harness.judge.ratchet_limit import past_limit
from harness.judge.ratchet_row import LEAST_SESSIONS, TimedRow, logs_of, shift_in
from harness.judge.rule import EQUIVALENCE, FAMILY_ALPHA
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction

__all__ = ["BUDGET", "Judged", "judge_timed", "worse_than"]

Key = TypeVar("Key", bound=Hashable)

BUDGET = 0.05
"""What all changes since a release may cost together: the line that ``ok`` is about, for one of them."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A comparison, and the change for the worse (a fraction) beyond which this record gates; None: it cannot."""

    comparison: Comparison
    beyond: float | None = None


def judge_timed(rows: Mapping[Key, TimedRow], family_alpha: float = FAMILY_ALPHA) -> dict[Key, Judged]:
    """Judge the timed rows of one run together: Holm over all that have sessions enough, a family in each direction.

    ``regressed`` and ``improved`` lie beyond the record's own reach after Holm; ``ok`` excludes a worsening of 5 %, and
    ``within`` excludes what is printed. A value that is only beyond its stored limit is warned about: among forty
    unchanged rows there is one in every fifth run.

    Raises:
        ValueError: a value is not positive.
    """
    done: dict[Key, Judged] = {}
    tested: dict[Key, Shift] = {}
    for key, row in rows.items():
        if min((*row.sessions, *row.now), default=0.0) <= 0:
            raise ValueError(f"{key}: a time is positive.")
        shift = shift_in(row)
        if len(row.sessions) < LEAST_SESSIONS or shift is None:
            done[key] = Judged(_thin(row, shift))
        elif shift.error <= 0:
            done[key] = Judged(_alike(row))
        else:
            tested[key] = shift
    worse = {key: _p_worse(shift, rows[key]) for key, shift in tested.items()}
    better = {key: _p_better(shift, rows[key]) for key, shift in tested.items()}
    levels = holm_level(worse, family_alpha), holm_level(better, family_alpha)
    for key, shift in tested.items():
        done[key] = _concluded(rows[key], shift, (worse[key], better[key]), levels)
    return {key: done[key] for key in rows}


def _margin(row: TimedRow) -> float:
    return math.log1p(row.budget)


def _p_worse(shift: Shift, row: TimedRow) -> float:
    if row.direction is not Direction.NEUTRAL:
        return shift.p_above(_margin(row))
    return min(1.0, 2 * min(shift.p_above(_margin(row)), shift.p_below(-_margin(row))))  # any change is one


def _p_better(shift: Shift, row: TimedRow) -> float:
    # A release has no use for what got better, and where no change is right nothing can.
    return 1.0 if row.budget or row.direction is Direction.NEUTRAL else shift.p_below(0.0)


def _ratios(row: TimedRow, shift: Shift | None) -> tuple[float, float | None, float | None]:
    """Now over the sessions' centre whatever the direction, and its bounds, each missing in 2.5 %."""
    plain = fmean(map(math.log, row.now)) - fmean(map(math.log, row.sessions))
    if shift is None:
        return math.exp(plain), None, None
    half = shift.reach(0.025)
    low, high = (math.exp(log) if abs(log) < 700 else None for log in (plain - half, plain + half))
    return math.exp(plain), low, high


def _thin(row: TimedRow, shift: Shift | None) -> Comparison:
    ratio, low, high = _ratios(row, shift)
    count = len(row.sessions)
    said = f"{count} of {LEAST_SESSIONS} sessions: too few to gate by"
    notice = ComparisonNotice(ComparisonWarn.TOO_FEW, said)
    return Comparison(State.THIN, ratio, low, high, count, evidence=(said,), warnings=(notice,))


def _alike(row: TimedRow) -> Comparison:
    """Sessions without any spread: the clock was too coarse to show one, so only the very same value is decided."""
    ratio = _ratios(row, None)[0]
    same = {*row.sessions} == {*row.now}
    said = f"{len(row.sessions)} sessions are equal to the last digit, so that their spread is not known"
    notice = ComparisonNotice(ComparisonWarn.RESOLUTION, said)
    state = State.OK if same else State.INCONCLUSIVE
    return Comparison(state, ratio, ratio, ratio, len(row.sessions), evidence=(said,), warnings=(notice,))


def _concluded(row: TimedRow, shift: Shift, p: tuple[float, float], levels: tuple[float, float]) -> Judged:
    level = levels[0] / 2 if row.direction is Direction.NEUTRAL else levels[0]
    reach, margin = shift.reach(level), _margin(row)
    ratio, low, high = _ratios(row, shift)
    count = len(row.sessions)
    said = f"p = {p[0]:.3g} for worse than {count} sessions{_allowing(row)}, held against {levels[0]:.3g}"
    alpha = levels[0]
    warnings: tuple[ComparisonNotice, ...] = ()
    if p[0] <= levels[0]:
        state = State.REGRESSED
    elif p[1] <= levels[1]:
        state, alpha = State.IMPROVED, levels[1]
        said = f"p = {p[1]:.3g} for better than {count} sessions, held against {levels[1]:.3g}"
    else:
        at_most = abs(shift.size) if row.direction is Direction.NEUTRAL else shift.size
        state = State.OK if at_most + shift.reach(0.025) < EQUIVALENCE else State.WITHIN
    if state is not State.REGRESSED and past_limit(row):
        told = f"beyond its limit of {row.limit:.6g}, and not beyond what its sessions let be seen"
        warnings = (ComparisonNotice(ComparisonWarn.PAST_LIMIT, told),)
    visible = math.expm1(margin + shift.visible(level, POWER))
    found = Comparison(state, ratio, low, high, count, visible, alpha, (said,), warnings)
    return Judged(found, math.expm1(margin + reach))


def _allowing(row: TimedRow) -> str:
    return f" of the release and {100 * row.budget:g} %" if row.budget else ""


def worse_than(row: TimedRow, other: float, level: float) -> bool:
    """Whether this run is worse than ``other``, one median of another run, beyond the stray between two sessions.

    The spread is that of the row's sessions; ``level`` is the alpha that Holm left to the row.
    """
    shift = shift_in(row)
    if shift is None or shift.error <= 0:
        return True
    spread = shift.error / math.sqrt(1 + 1 / len(row.sessions))
    was, now = logs_of((other, row.now[-1]), row.direction)
    return now - was > t_quantile(level, shift.df) * spread * math.sqrt(2)

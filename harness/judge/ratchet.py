"""The ratchet's rule: one measured value against the sessions that a record holds of it, and against a last release.

A record is no detector. It gates a timed row only beyond what its own sessions say an unchanged value may stray,
corrected for all rows of the run, and says how much that is; with fewer than five sessions it gates nothing. Counts
need none of this: any worse one regressed. Refuses to take a fast day for an improvement: a limit moves down only by
what is left of a change when that stray is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeVar

from harness.judge.confirm import holm_level
from harness.judge.exact import exact, invariant
from harness.judge.power import POWER
from harness.judge.predicted import Shift, shift_of, t_quantile
from harness.judge.rule import DELTA, EQUIVALENCE, FAMILY_ALPHA
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction

__all__ = [
    "BUDGET",
    "LEAST_SESSIONS",
    "LIMIT_ALPHA",
    "LOOSE",
    "Judged",
    "Made",
    "TimedRow",
    "compare_counts",
    "first_limit",
    "judge_timed",
    "made_otherwise",
    "past_limit",
    "ruler_off",
    "slack",
    "supported_gain",
    "worse_than",
]

Key = TypeVar("Key", bound=Hashable)

LEAST_SESSIONS = 5
"""Where sessions spread by 3 % and forty rows share the run's level, five of them see a change of 40 %; four see 73 %,
three would pass a value that is more than four times as large."""

LIMIT_ALPHA = 0.005
"""The level of a stored limit: with five sessions it lies 5.0 spreads above their centre."""

LOOSE = 2.0
"""A record this many times what is measured describes something else. Two limits lie between the luckiest session and
the slowest that is still unchanged: at 4.4 %, the largest spread that was seen between processes on a busy machine,
that is a factor of 1.56; and a record three times too loose has let a slowdown of 2.3 pass (an indicator extractor's
committed baseline, 2026)."""

BUDGET = 0.05
"""What all changes since a release may cost together: the line that ``ok`` is about, for one of them."""


@dataclass(frozen=True, slots=True)
class TimedRow:
    """What a timed row is judged from; medians of different sessions in their unit, all positive.

    ``now`` is what is held against ``sessions``: this run, and for a release the sessions since. ``limit`` is None
    where the record has none yet; ``budget`` is the fraction that a change may cost.
    """

    sessions: tuple[float, ...]
    now: tuple[float, ...]
    direction: Direction
    limit: float | None = None
    budget: float = 0.0


@dataclass(frozen=True, slots=True)
class Made:
    """The two counts of a rate, and what the first is made of, by kind; None where that is not known."""

    numerator: float | None
    denominator: float | None
    histogram: Mapping[str, int] | None = None

    @property
    def counted(self) -> bool:
        """Whether both counts are known."""
        return self.numerator is not None and self.denominator is not None


@dataclass(frozen=True, slots=True)
class Judged:
    """A comparison, and the change for the worse (a fraction) beyond which this record gates; None: it cannot."""

    comparison: Comparison
    beyond: float | None = None


def _logs(values: Sequence[float], direction: Direction) -> list[float]:
    """Logarithms with worse positive."""
    sign = -1.0 if direction is Direction.HIGHER else 1.0
    return [sign * math.log(value) for value in values]


def _shift(row: TimedRow) -> Shift | None:
    return shift_of(_logs(row.sessions, row.direction), _logs(row.now, row.direction))


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
        shift = _shift(row)
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


def past_limit(row: TimedRow) -> bool:
    """Whether this run lies beyond the stored limit, on the worse side."""
    if row.limit is None or row.direction is Direction.NEUTRAL:
        return False
    return row.now[-1] < row.limit if row.direction is Direction.HIGHER else row.now[-1] > row.limit


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


def slack(centre: float, now: float, direction: Direction) -> float:
    """How many times looser than ``now`` a record at ``centre`` is: 2 where it allows twice the time that was taken."""
    return now / centre if direction is Direction.HIGHER else centre / now


def first_limit(sessions: Sequence[float], direction: Direction) -> float | None:
    """The limit that the first five sessions support: what an unchanged value exceeds in one case of two hundred.

    None for fewer sessions, and where they are all alike.
    """
    if len(sessions) < LEAST_SESSIONS or direction is Direction.NEUTRAL:
        return None
    logs = _logs(sessions[:LEAST_SESSIONS], direction)
    stray = shift_of(logs, [fmean(logs)])
    if stray is None or stray.error <= 0:
        return None
    bound = fmean(logs) + stray.reach(LIMIT_ALPHA)
    return math.exp(-bound if direction is Direction.HIGHER else bound)


def supported_gain(row: TimedRow, level: float) -> float | None:
    """The least improvement that this run supports, on the log scale; None where it supports none.

    ``level`` is the alpha that Holm left to the row.
    """
    shift = _shift(row)
    if shift is None or len(row.sessions) < LEAST_SESSIONS or shift.error <= 0:
        return None
    gain = -shift.size - shift.reach(level)
    return gain if gain > 0 else None


def compare_counts(
    limit: float,
    now: float,
    direction: Direction,
    *,
    holds: bool = False,
    histograms: tuple[Mapping[str, int], Mapping[str, int]] | None = None,
    made: tuple[Made, Made] | None = None,
    budget: float = 0.0,
) -> Comparison:
    """A count, rate, histogram or (``holds``) invariant against the one on record; worse beyond ``budget`` regressed.

    A run gives a count only where two workers agreed on it, so each side was counted twice. An equal rate that is
    ``made`` of other counts is told; where no change is right it regressed.

    Raises:
        ValueError: a value is not finite, or an invariant is neither 1 nor 0.
    """
    if holds:
        return invariant((limit, limit), (now, now))
    found = exact((limit, limit), (now, now), budget, direction)
    if made is not None and not budget and found.state is State.OK and (said := made_otherwise(*made)):
        state = State.REGRESSED if direction is Direction.NEUTRAL else State.OK
        return replace(found, state=state, evidence=(*found.evidence, said))
    if histograms is None or budget or found.state is not State.OK or histograms[0] == histograms[1]:
        return found
    return replace(found, state=State.REGRESSED, evidence=(*found.evidence, _shifted(*histograms)))


def _shifted(was: Mapping[str, int], is_now: Mapping[str, int]) -> str:
    keys = [key for key in sorted({*was, *is_now}) if was.get(key, 0) != is_now.get(key, 0)]
    moved = ", ".join(f"{key} {was.get(key, 0)} -> {is_now.get(key, 0)}" for key in keys)
    return f"the histogram differs: {moved}"


def made_otherwise(then: Made, now: Made) -> str:
    """In what an equal rate differs from the one on record; empty where it does not, or where one side says nothing."""
    counts = [f"{made.numerator:.10g}/{made.denominator:.10g}" for made in (then, now) if made.counted]
    said = [f"made of other counts: {' -> '.join(counts)}"] if len(counts) == 2 and counts[0] != counts[1] else []
    if then.histogram is not None and now.histogram is not None and then.histogram != now.histogram:
        said.append(_shifted(then.histogram, now.histogram))
    return "; ".join(said)


def worse_than(row: TimedRow, other: float, level: float) -> bool:
    """Whether this run is worse than ``other``, one median of another run, beyond the stray between two sessions.

    The spread is that of the row's sessions; ``level`` is the alpha that Holm left to the row.
    """
    shift = _shift(row)
    if shift is None or shift.error <= 0:
        return True
    spread = shift.error / math.sqrt(1 + 1 / len(row.sessions))
    was, now = _logs((other, row.now[-1]), row.direction)
    return now - was > t_quantile(level, shift.df) * spread * math.sqrt(2)


def ruler_off(sessions: Sequence[float], now: Sequence[float]) -> str | None:
    """Why this run's timings are another machine speed's; None where its ruler says nothing of the kind.

    ``sessions`` are ruler times of different sessions, ``now`` those of this run, both in ns. Either of the latter
    beyond the record's own reach at the level of a limit, and by more than 2 % (a change that nobody is asked about),
    is off. Below five sessions nothing can be said.
    """
    if len(sessions) < LEAST_SESSIONS or min((*sessions, *now), default=0.0) <= 0:
        return None
    logs = [math.log(value) for value in sessions]
    for when, value in zip(("start", "end"), now, strict=False):
        shift = shift_of(logs, [math.log(value)])
        if shift is None:
            continue
        margin = max(shift.reach(LIMIT_ALPHA), math.log1p(DELTA))
        if abs(shift.size) > margin:
            change = math.expm1(shift.size)
            word = "slower" if change > 0 else "faster"
            return (
                f"at the {when} of the run a fixed piece of work took {100 * change:+.1f} % against {len(sessions)} "
                f"sessions ({100 * math.expm1(margin):.1f} % would be chance): the machine was {word}, not the code"
            )
    return None

"""Counts, instructions and bytes: two numbers of which one is worse or not, with no statistics in between.

Refuses to trust what does not repeat: where two measurements of one side disagree the comparison is inconclusive and
says ``demoted``, and the KPI has to be timed instead. An invariant is compared with what must hold, not with base.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction

__all__ = ["apart", "exact", "invariant"]


def _measured(values: Sequence[float], side: str) -> None:
    if not values:
        raise ValueError(f"The {side} side was not counted.")
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"The {side} side holds a count that is not finite: {list(values)!r}.")


def _repeats(base: Sequence[float], head: Sequence[float]) -> tuple[ComparisonNotice, ...]:
    """What the repetition says: demoted, unrepeated, or nothing."""
    for side, values in (("base", base), ("head", head)):
        if max(values) != min(values):
            said = f"{side} counted {' and '.join(apart(min(values), max(values)))} for the same code"
            return (ComparisonNotice(ComparisonWarn.DEMOTED, f"{said}: not exact here, so it is to be timed."),)
    if min(len(base), len(head)) < 2:
        said = "Counted once a side: that it repeats was not seen."
        return (ComparisonNotice(ComparisonWarn.UNREPEATED, said),)
    return ()


_LONG = 1e21
"""From here on all digits of a whole number are longer than what tells it from its neighbours."""


def _digits(number: float) -> str:
    whole = abs(number) < _LONG and number == int(number)
    return str(int(number)) if whole else f"{number:.7g}"


def apart(one: float, other: float) -> tuple[str, str]:
    """Whole numbers in full, any other to seven digits, and to all where two that differ would read alike."""
    told = (_digits(one), _digits(other))
    return (repr(one), repr(other)) if one != other and told[0] == told[1] else told


def exact(base: Sequence[float], head: Sequence[float], floor: float, direction: Direction) -> Comparison:
    """Compare counts; ``base`` and ``head`` are the measurements of each side, two where it must be shown to repeat.

    ``floor`` is a fraction of base that a change must exceed: 0 for counts, .001 for instructions. Worse beyond it is
    ``regressed``, better ``improved``; with a neutral direction every change beyond it is ``regressed``. The ratio is
    None unless both counts are positive.

    Raises:
        ValueError: a side has no count, a count is not finite, or the floor is negative or not finite.
    """
    _measured(base, "base")
    _measured(head, "head")
    if not math.isfinite(floor) or floor < 0:
        raise ValueError(f"A floor is a fraction that is not negative, not {floor!r}.")
    notices = _repeats(base, head)
    count = min(len(base), len(head))
    if any(notice.code is ComparisonWarn.DEMOTED for notice in notices):
        return Comparison(State.INCONCLUSIVE, pairs=count, warnings=notices)
    was, now = base[0], head[0]
    change = now - was
    if abs(change) <= floor * abs(was):
        state = State.OK
    elif direction is Direction.NEUTRAL or (change > 0) is (direction is Direction.LOWER):
        state = State.REGRESSED
    else:
        state = State.IMPROVED
    ratio = now / was if was > 0 and now > 0 else None
    better = "no change is right" if direction is Direction.NEUTRAL else f"{direction.value} is better"
    beyond = f", beyond {100 * floor:g} %" if floor else ""
    said = f"{' -> '.join(apart(was, now))} ({better}{beyond})"
    return Comparison(state, ratio, ratio, ratio, count, floor, evidence=(said,), warnings=notices)


def invariant(base: Sequence[float], head: Sequence[float]) -> Comparison:
    """Whether head's invariant holds (1) or not (0), whatever base did; restored over a broken base is ``improved``.

    One check in which it does not hold is enough: an invariant that holds sometimes is broken.

    Raises:
        ValueError: a side was not checked, or a value is neither 1 nor 0.
    """
    if not base or not head or not all(value in (0, 1) for value in (*base, *head)):
        raise ValueError(f"An invariant is 1 or 0 on each side, not {list(base)!r} and {list(head)!r}.")
    said = (f"held on base in {sum(base):g} of {len(base)} checks, on head in {sum(head):g} of {len(head)}",)
    restored = State.IMPROVED if min(base) == 0 else State.OK
    state = State.REGRESSED if min(head) == 0 else restored
    return Comparison(state, pairs=min(len(base), len(head)), evidence=said)

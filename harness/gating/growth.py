"""The growth rows of a gate: whether cost rises more steeply with history on the head than on the base.

Read off the pairs that the points at each length of history took anyway. A slope that turns from linear to quadratic is
a regression even where the shortest history hardly moved. It is reported and never decides, while nobody knows what a
slope wanders by without a cause.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.gating.timed import TimedPoint
from harness.jobs.plan import PlannedPoint
from harness.judge.growth import SLOPE_MARGIN, shift_of
from harness.judge.rule import SCREEN_PAIRS
from kpis.formulas.growth import slope, weights
from kpis.growth import HISTORY, growth_points, growth_row
from kpis.terms.comparison import Comparison, State

__all__ = ["compare_growth", "growth_of"]


def growth_of(points: Sequence[PlannedPoint]) -> dict[str, tuple[PlannedPoint, list[PlannedPoint]]]:
    """By KPI: its growth row as a point, and the timed points that it is read from, where all of them are there."""
    found = {}
    for kpi in {point.kpi.id: point.kpi for point in points}.values():
        row = growth_row(kpi)
        if row is None:
            continue
        mine = [point for at in growth_points(kpi) for point in points if point.kpi.id == kpi.id and point.params == at]
        if len(mine) == len(growth_points(kpi)):
            found[kpi.id] = (replace(mine[0], kpi=row, params={}), mine)
    return found


def compare_growth(lengths: Sequence[PlannedPoint], timed: Mapping[str, TimedPoint]) -> Comparison:
    """The comparison of a growth row from the pairs of its points, by their keys.

    ``ratio`` is by how much the cost at ten times the history rises more on the head.
    """
    seen = [timed[point.key] for point in lengths if point.key in timed]
    pairs = min((len(each.pairs) for each in seen), default=0)
    if len(seen) < len(lengths) or pairs < SCREEN_PAIRS:
        return Comparison(State.INCONCLUSIVE, pairs=pairs, evidence=("not every length of history was timed",))
    at = [float(point.params[HISTORY]) for point in lengths]
    ratios = [[math.log(head / base) for base, head in each.pairs] for each in seen]
    middle, low, high = shift_of(weights(at), ratios)
    slopes = [slope(at, [statistics.median(pair[side] for pair in each.pairs) for each in seen]) for side in (0, 1)]
    if low > SLOPE_MARGIN:
        state = State.REGRESSED
    elif high < -SLOPE_MARGIN:
        state = State.IMPROVED
    else:
        state = State.OK if high < SLOPE_MARGIN else State.INCONCLUSIVE
    said = f"slope {slopes[0]:.2f} on the base and {slopes[1]:.2f} on the head, over {at[0]:g} to {at[-1]:g} turns"
    ratio, least, most = (10**each if math.isfinite(each) else None for each in (middle, low, high))
    return Comparison(state, ratio, least, most, pairs, evidence=(said, "a slope is reported and decides nothing"))

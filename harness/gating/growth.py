"""The growth rows of a gate: whether cost rises more steeply with history on the head than on the base.

Read off the pairs that the points at each length of history took anyway: those of the screen alone, since whether more
follow depends on what these said. A slope that turns from linear to quadratic is a regression even where the shortest
history hardly moved. It is reported and never decides, while nobody knows what a slope wanders by without a cause.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.gating.rows import label
from harness.gating.timed import TimedPoint
from harness.jobs.plan import PlannedPoint
from harness.judge.growth import SLOPE_MARGIN, shift_of
from harness.judge.rule import SCREEN_PAIRS
from kpis.formulas.growth import slope, weights
from kpis.growth import HISTORY, growth_points, growth_row
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State

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


def compare_growth(
    lengths: Sequence[PlannedPoint], timed: Mapping[str, TimedPoint], found: Mapping[str, Comparison]
) -> Comparison:
    """The comparison of a growth row from the screens of its points: ``timed`` by key, ``found`` by label.

    ``ratio`` is by how much the cost at ten times the history rises more on the head.
    """
    notice = ComparisonNotice(ComparisonWarn.REPORTED, "a slope is reported and decides nothing")
    lacking = [why for point in lengths if (why := _lacking(point, timed.get(point.key), found)) is not None]
    if lacking:
        told = f"a slope needs {SCREEN_PAIRS} pairs at every length of history: {', '.join(lacking)}"
        return Comparison(State.INCONCLUSIVE, evidence=(told, notice.message), warnings=(notice,))
    seen = [timed[point.key] for point in lengths]
    pairs = [each.pairs[:SCREEN_PAIRS] for each in seen]
    at = [float(point.params[HISTORY]) for point in lengths]
    ratios = [[math.log(head / base) for base, head in each] for each in pairs]
    middle, low, high = shift_of(weights(at), ratios)
    slopes = [slope(at, [statistics.median(pair[side] for pair in each) for each in pairs]) for side in (0, 1)]
    if low > SLOPE_MARGIN:
        state = State.REGRESSED
    elif high < -SLOPE_MARGIN:
        state = State.IMPROVED
    else:
        state = State.OK if high < SLOPE_MARGIN else State.INCONCLUSIVE
    said = [f"slope {slopes[0]:.2f} on the base and {slopes[1]:.2f} on the head, over {at[0]:g} to {at[-1]:g} turns"]
    if slowed := [point.params[HISTORY] for point, each in zip(lengths, seen, strict=True) if each.injected]:
        said.append(f"injected at history {', '.join(slowed)}: this row is a self-test")
    ratio, least, most = (10**each if math.isfinite(each) else None for each in (middle, low, high))
    evidence = (*said, notice.message)
    return Comparison(state, ratio, least, most, SCREEN_PAIRS, evidence=evidence, warnings=(notice,))


def _lacking(point: PlannedPoint, timed: TimedPoint | None, found: Mapping[str, Comparison]) -> str | None:
    """What a length of history lacks for a slope, and why; None where it has a whole screen."""
    pairs = 0 if timed is None else len(timed.pairs)
    if pairs >= SCREEN_PAIRS:
        return None
    end = found.get(label(point))
    state = "not timed" if end is None else end.state.value
    return f"{point.params[HISTORY]} is {state}" + (f" with {pairs} of them" if pairs else "")

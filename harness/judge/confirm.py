"""The only stage that says ``regressed`` or ``improved``: fresh pairs, an exact p-value, Holm over the suspects.

The pairs are independent of the data that raised the suspicion, so that Holm over the suspects controls the run
whatever the screen did (Holm 1979): the chance that any unchanged KPI is called regressed is at most the family's
level. Refuses to judge a suspect that was not measured: it stays in its family with p = 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from harness.judge.rule import Rule
from harness.judge.screen import Side
from harness.judge.signed_rank import hodges_lehmann, lower_bound, p_greater, p_less, upper_bound
from kpis.terms.comparison import Comparison, State

__all__ = ["as_ratios", "confirm", "holm", "holm_level", "p_value", "p_values"]

Point = TypeVar("Point", bound=Hashable)


def p_value(fresh: Sequence[float], side: Side, rule: Rule) -> float:
    """The exact p-value of "the change is within the margin" against "beyond it, on ``side``".

    ``fresh`` are log ratios with worse positive.

    Raises:
        ValueError: a ratio is not finite.
    """
    if side is Side.WORSE:
        return p_greater(fresh, rule.margin)
    return p_less(fresh, -rule.margin)


def p_values(fresh: Mapping[Point, Sequence[float] | None], side: Side, rule: Rule) -> dict[Point, float]:
    """The p-values of one family; a suspect that the budget left out (None) enters with p = 1."""
    return {point: 1.0 if data is None else p_value(data, side, rule) for point, data in fresh.items()}


def holm_level(p_values: Mapping[Point, float], family_alpha: float) -> float:
    """The level that decides the family: Holm accepts exactly the points whose p is at most this.

    Stepping down through m ordered p-values stops at the first above family_alpha / (m - k), after k accepted. Those
    k lie under the smaller family_alpha / (m - k + 1), all others above family_alpha / (m - k): one level parts them.

    Raises:
        ValueError: a p-value lies outside [0, 1].
    """
    ordered = sorted(p_values.values())
    if not all(0 <= p <= 1 for p in ordered):
        raise ValueError("A p-value lies between 0 and 1.")
    for accepted, p in enumerate(ordered):
        level = family_alpha / (len(ordered) - accepted)
        if p > level:
            return level
    return family_alpha


def holm(p_values: Mapping[Point, float], family_alpha: float) -> frozenset[Point]:
    """The points that Holm's step-down procedure accepts as changed."""
    level = holm_level(p_values, family_alpha)
    return frozenset(point for point, p in p_values.items() if p <= level)


def as_ratios(
    centre: float, low: float, high: float, *, higher_is_better: bool
) -> tuple[float | None, float | None, float | None]:
    """Centre and bounds of the log scale (worse positive) as head over base: ratio, low, high; unbounded is None."""
    if higher_is_better:
        centre, low, high = -centre, -high, -low
    ratio, least, most = (math.exp(log) if -700 < log < 700 else None for log in (centre, low, high))
    return ratio, least, most


def confirm(
    fresh: Sequence[float], rule: Rule, alpha_used: float, side: Side = Side.WORSE, *, higher_is_better: bool = False
) -> Comparison:
    """The state of a suspect from its fresh pairs alone.

    ``fresh`` are log ratios with worse positive; ``alpha_used`` is the family's :func:`holm_level`. Where the
    confirmation fails, the point is ``ok`` if it excludes a worsening of 5 % all the same, else ``inconclusive``.

    Raises:
        ValueError: there is no pair, or a ratio is not finite.
    """
    low, high = lower_bound(fresh, rule.miss), upper_bound(fresh, rule.miss)
    p = p_value(fresh, side, rule)
    if p <= alpha_used:
        state = State.REGRESSED if side is Side.WORSE else State.IMPROVED
    else:
        state = State.OK if high < rule.equivalence else State.INCONCLUSIVE
    ratio, least, most = as_ratios(hodges_lehmann(fresh), low, high, higher_is_better=higher_is_better)
    said = f"confirmation on {len(fresh)} fresh pairs: p = {p:.3g} for {side.value} than {rule.delta:.3g}"
    said += f", held against {alpha_used:.3g}"
    return Comparison(state, ratio, least, most, len(fresh), alpha=alpha_used, evidence=(said,))

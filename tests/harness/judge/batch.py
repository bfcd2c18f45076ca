"""The rule over millions of points at once, on the judge's own distributions: screen, extension, confirmation, Holm.

A test holds it against the judge itself, point by point. Suspicion and ``ok`` are read off p-values here, which is
the same as off bounds where nothing is tied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.judge.confirm import holm
from harness.judge.rule import Rule
from harness.judge.signed_rank import p_greater_rows

Floats = NDArray[np.float64]
Draw = Callable[[int, int], Floats]


@dataclass
class Outcome:
    """Over points: suspected worse (mask), p of the confirmation (1 where not suspected), pairs used."""

    suspected: NDArray[np.bool_]
    p: Floats
    pairs: NDArray[np.int64]
    open: NDArray[np.bool_]


def look(rows: Floats, rule: Rule) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Suspected worse, suspected better, open."""
    worse = p_greater_rows(rows, rule.margin) <= rule.screen_alpha
    better = p_greater_rows(-rows, rule.margin) <= rule.screen_alpha
    excluded = p_greater_rows(-rows, -rule.equivalence) <= rule.miss
    return worse, better, ~worse & ~better & ~excluded


def points(draw: Draw, count: int, rule: Rule) -> Outcome:
    """Take ``count`` points through all stages; ``draw(rows, n)`` makes fresh log ratios."""
    worse, better, still = look(draw(count, rule.screen_pairs), rule)
    pairs = np.full(count, rule.screen_pairs) + rule.extend_pairs * still
    again = np.flatnonzero(still)
    later = np.zeros(count, dtype=bool)
    if len(again):
        second, second_better, third = look(draw(len(again), rule.extend_pairs), rule)
        worse[again], better[again], later[again] = second, second_better, third
    p = np.ones(count)
    suspects = np.flatnonzero(worse)
    if len(suspects):
        p[suspects] = p_greater_rows(draw(len(suspects), rule.confirm_pairs), rule.margin)
    pairs += rule.confirm_pairs * (worse | better)
    return Outcome(worse, p, pairs, later)


def alarmed(outcome: Outcome, points_a_suite: int, rule: Rule) -> NDArray[np.bool_]:
    """For each suite of consecutive points, whether Holm over its suspects accepts any."""
    suites = outcome.p.reshape(-1, points_a_suite)
    suspected = outcome.suspected.reshape(-1, points_a_suite)
    hopeful = (suites <= rule.family_alpha).any(axis=1)
    red = np.zeros(len(suites), dtype=bool)
    for suite in np.flatnonzero(hopeful):
        family = {int(at): float(suites[suite, at]) for at in np.flatnonzero(suspected[suite])}
        red[suite] = bool(holm(family, rule.family_alpha))
    return red

"""What the gate does as a whole, over forty points at once: its run-level false alarm, and its power after Holm.

Simulated on the judge's own distributions by ``tests.harness.judge.batch``, which a test holds against the judge point
by point. Pure but for its seed. Pairs are normal here; the noises of :mod:`ci.gatebench.generate` are scored one KPI
at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.judge.confirm import holm
from harness.judge.rule import Rule
from tests.harness.judge.batch import Draw, Outcome, alarmed, points

__all__ = ["CHANGES", "POINTS", "SPREADS", "RunLevel", "run_level"]

POINTS = 40
SPREADS = (0.024, 0.016)
CHANGES = (0.10, 0.05, 0.03)
SUITES = 10_000
ON_MARGIN = 10_000
SEED = 1945


@dataclass(frozen=True, slots=True)
class RunLevel:
    """Counts over simulated runs.

    ``found`` maps (spread, change) to the runs in which the one changed point was called regressed; ``red`` maps a
    spread to the runs in which nothing changed and something was called regressed all the same; ``on_margin`` counts
    the same where every point is slower by exactly the margin, which the rule does not call a change.
    """

    found: dict[tuple[float, float], int]
    red: dict[float, int]
    on_margin: int
    pairs: dict[float, float]


def _noise(rng: np.random.RandomState, spread: float, change: float) -> Draw:
    def draw(rows: int, n: int) -> NDArray[np.float64]:
        ratios: NDArray[np.float64] = rng.normal(math.log1p(change), spread, (rows, n))
        return ratios

    return draw


def _named(changed: Outcome, others: Outcome, rule: Rule) -> Iterator[bool]:
    """For each run, whether Holm over its suspects accepts the changed point."""
    suspected = others.suspected.reshape(-1, POINTS - 1)
    p = others.p.reshape(-1, POINTS - 1)
    for run in range(len(changed.p)):
        family = {at: float(p[run, at]) for at in np.flatnonzero(suspected[run]).tolist()}
        if not changed.suspected[run]:
            yield False
            continue
        family[POINTS] = float(changed.p[run])
        yield POINTS in holm(family, rule.family_alpha)


def run_level(rule: Rule, suites: int = SUITES, on_margin: int = ON_MARGIN) -> RunLevel:
    """Simulate ``suites`` runs of a cell under ``rule``."""
    found: dict[tuple[float, float], int] = {}
    red: dict[float, int] = {}
    pairs: dict[float, float] = {}
    for place, spread in enumerate(SPREADS):
        rng = np.random.RandomState([SEED, place])
        quiet = points(_noise(rng, spread, 0.0), suites * POINTS, rule)
        red[spread] = int(alarmed(quiet, POINTS, rule).sum())
        pairs[spread] = float(quiet.pairs.mean())
        keep = np.arange(suites * POINTS) % POINTS != 0
        others = Outcome(quiet.suspected[keep], quiet.p[keep], quiet.pairs[keep], quiet.open[keep])
        for change in CHANGES:
            changed = points(_noise(rng, spread, change), suites, rule)
            found[spread, change] = sum(_named(changed, others, rule))
    if not on_margin:
        return RunLevel(found, red, 0, pairs)
    rng = np.random.RandomState([SEED, len(SPREADS)])
    margin = points(_noise(rng, SPREADS[0], rule.delta), on_margin * POINTS, rule)
    return RunLevel(found, red, int(alarmed(margin, POINTS, rule).sum()), pairs)

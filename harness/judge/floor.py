"""A KPI's floor: how far edits that must not cost time move it, layout and all.

Each neutral edit is one trial of many pairs; its true effect is a draw around zero with some spread tau, and its
estimate adds an error that the pairs themselves tell. The floor is the 95 % upper bound of tau by the Q-profile
(Viechtbauer 2007, Statistics in Medicine 26): the tau at which the estimates would be as close to zero as they are in
one case of twenty. A margin of three floors so leaves nearly every neutral edit inside. Refuses to bound tau from the
largest estimate, which is mostly noise, and from fewer than six edits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.stats import chi2

from harness.judge.power import spread_of
from harness.judge.signed_rank import hodges_lehmann

__all__ = ["LEAST_EDITS", "Floor", "floor_of"]

LEAST_EDITS = 6
"""With five edits the bound is above twice the error of one estimate even where nothing moved."""

_CONFIDENCE = 0.95
_EFFICIENCY = 3 / math.pi


@dataclass(frozen=True, slots=True)
class Floor:
    """``size`` as a fraction (.002: .2 %) and what it rests on; ``largest`` is the largest single estimate."""

    size: float
    edits: int
    pairs: int
    spread: float
    largest: float


def floor_of(trials: Sequence[Sequence[float]]) -> Floor | None:
    """The floor from log ratios head / base, one sequence a neutral edit; None where they are too few to bound it.

    Raises:
        ValueError: a ratio is not finite.
    """
    if len(trials) < LEAST_EDITS:
        return None
    centres = [hodges_lehmann(ratios) for ratios in trials]
    spreads = [spread_of(ratios) for ratios in trials]
    known = [spread for spread in spreads if spread is not None]
    if len(known) < len(trials):
        return None
    # The standard error of each centre: the signed-rank spread over the root of its effective number of pairs.
    errors = [
        max(spread, 1e-9) / math.sqrt(_EFFICIENCY * len(ratios)) for spread, ratios in zip(known, trials, strict=True)
    ]

    def excess(tau: float) -> float:
        weighed = (centre**2 / (tau**2 + error**2) for centre, error in zip(centres, errors, strict=True))
        return math.fsum(weighed) - float(chi2.ppf(1 - _CONFIDENCE, len(centres)))

    # What the trials together could still see: a floor below that would be a zero for want of pairs.
    seen = 1 / math.sqrt(math.fsum(error**-2 for error in errors))
    most = 2 * math.sqrt(math.fsum(centre**2 for centre in centres)) + max(errors)
    size = seen if excess(seen) <= 0 else float(brentq(excess, seen, most))
    return Floor(
        size=math.expm1(size),
        edits=len(trials),
        pairs=sum(len(ratios) for ratios in trials),
        spread=math.sqrt(math.fsum(spread**2 for spread in known) / len(known)),
        largest=math.expm1(max(map(abs, centres))),
    )

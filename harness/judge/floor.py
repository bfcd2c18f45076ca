"""A KPI's floor: how far edits that must not cost time move it, layout and all.

Each neutral edit is measured on many pairs; its true effect is a draw around zero with some spread tau, and its
estimate adds an error that the pairs themselves tell. An edit that was measured again is no further draw: its pairs are
one pool. The floor is the 95 % upper bound of tau by the Q-profile (Viechtbauer 2007, Statistics in Medicine 26): the
tau at which the estimates would be as close to zero as they are in one case of twenty. A margin of three floors so
leaves nearly every neutral edit inside. Refuses to bound tau from the largest estimate, which is mostly noise, and from
fewer than six edits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.stats import chi2

from harness.judge.power import spread_of
from harness.judge.signed_rank import hodges_lehmann

__all__ = ["LEAST_EDITS", "Floor", "floor_of"]

LEAST_EDITS = 6
"""k edits that moved nothing still leave a bound: their squares then sum to k errors, so that it is the error of one
estimate times sqrt(k / chi2_{.05,k} - 1), which is 2.15 for four edits, 1.83 for five and 1.63 for six. From six on one
edit more lowers it by less than a tenth."""

_CONFIDENCE = 0.95
_EFFICIENCY = 3 / math.pi


@dataclass(frozen=True, slots=True)
class Floor:
    """``size`` as a fraction (.002: .2 %) and what it rests on: different edits, and their pairs together.

    ``largest`` is the largest estimate of one edit.
    """

    size: float
    edits: int
    pairs: int
    spread: float
    largest: float


def floor_of(edits: Mapping[str, Sequence[float]]) -> Floor | None:
    """The floor from log ratios head / base, by the neutral edit they belong to; None where the edits are too few.

    Raises:
        ValueError: a ratio is not finite.
    """
    pools = list(edits.values())
    if len(pools) < LEAST_EDITS:
        return None
    centres = [hodges_lehmann(ratios) for ratios in pools]
    spreads = [spread_of(ratios) for ratios in pools]
    known = [spread for spread in spreads if spread is not None]
    if len(known) < len(pools):
        return None
    # The standard error of each centre: the signed-rank spread over the root of its effective number of pairs.
    errors = [
        max(spread, 1e-9) / math.sqrt(_EFFICIENCY * len(ratios)) for spread, ratios in zip(known, pools, strict=True)
    ]

    def excess(tau: float) -> float:
        weighed = (centre**2 / (tau**2 + error**2) for centre, error in zip(centres, errors, strict=True))
        return math.fsum(weighed) - float(chi2.ppf(1 - _CONFIDENCE, len(centres)))

    # What the edits together could still see: a floor below that would be a zero for want of pairs.
    seen = 1 / math.sqrt(math.fsum(error**-2 for error in errors))
    most = 2 * math.sqrt(math.fsum(centre**2 for centre in centres)) + max(errors)
    size = seen if excess(seen) <= 0 else float(brentq(excess, seen, most))
    return Floor(
        size=math.expm1(size),
        edits=len(pools),
        pairs=sum(len(ratios) for ratios in pools),
        spread=math.sqrt(math.fsum(spread**2 for spread in known) / len(known)),
        largest=math.expm1(max(map(abs, centres))),
    )

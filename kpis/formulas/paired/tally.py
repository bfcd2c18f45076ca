"""Wins, ties and losses of paired runs, with the band inside which a difference is none.

The band is a share of the baseline, whichever direction is better. Without one two runs of anything that varies never
tie, and a difference of a thousandth would be a win.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.context.values import Mode
from kpis.terms.kpi import Direction

__all__ = ["TIE_BAND", "Tally", "tally"]

TIE_BAND = 0.01


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of pairs; ``skipped`` differ from a baseline below 0, to which nothing is relative."""

    wins: int
    ties: int
    losses: int
    skipped: int
    tie_band: float


def tally(
    candidate: Sequence[float],
    basic: Sequence[float],
    tie_band: float = TIE_BAND,
    mode: Mode = Mode.STRICT,
    better: Direction = Direction.LOWER,
) -> Tally:
    """Of pairs by position; a pair ties if it differs by at most ``tie_band`` of the baseline.

    What leaves a baseline of 0 leaves every band, and what is equal ties whatever the baseline is. The reference skips
    every baseline that is not above 0, and drops what has no partner.

    Raises:
        ValueError: the two are not of one length, or no direction is ``better``.
    """
    if better is Direction.NEUTRAL:
        raise ValueError("a metric without a better direction has no wins")
    strict = mode is Mode.STRICT
    if strict and len(candidate) != len(basic):
        raise ValueError(f"{len(candidate)} runs of one arm and {len(basic)} of the other are no pairs")
    sign = 1 if better is Direction.LOWER else -1
    wins = ties = losses = skipped = 0
    for ours, theirs in zip(candidate, basic, strict=False):
        move = sign * (ours - theirs)
        if theirs > 0:
            relative = move / theirs
        elif strict and (theirs == 0 or move == 0):
            relative = math.copysign(math.inf, move) if move else 0.0
        else:
            skipped += 1
            continue
        wins += relative < -tie_band
        losses += relative > tie_band
        ties += -tie_band <= relative <= tie_band
    return Tally(wins, ties, losses, skipped, tie_band)

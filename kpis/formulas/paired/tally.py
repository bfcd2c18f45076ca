"""Wins, ties and losses of paired runs, with the band inside which a difference is none.

Lower wins. Without a band two runs of anything that varies never tie, and a difference of a thousandth would be a win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.context.values import Mode

__all__ = ["TIE_BAND", "Tally", "tally"]

TIE_BAND = 0.01


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of pairs; ``skipped`` have a baseline that is not above 0, so that nothing is relative to it."""

    wins: int
    ties: int
    losses: int
    skipped: int
    tie_band: float


def tally(
    candidate: Sequence[float], basic: Sequence[float], tie_band: float = TIE_BAND, mode: Mode = Mode.STRICT
) -> Tally:
    """Of pairs by position; a pair ties if it differs by at most ``tie_band`` of the baseline.

    The reference drops what has no partner.

    Raises:
        ValueError: the two are not of one length.
    """
    if mode is Mode.STRICT and len(candidate) != len(basic):
        raise ValueError(f"{len(candidate)} runs of one arm and {len(basic)} of the other are no pairs")
    wins = ties = losses = skipped = 0
    for ours, theirs in zip(candidate, basic, strict=False):
        if theirs <= 0:
            skipped += 1
            continue
        relative = (ours - theirs) / theirs
        wins += relative < -tie_band
        losses += relative > tie_band
        ties += -tie_band <= relative <= tie_band
    return Tally(wins, ties, losses, skipped, tie_band)

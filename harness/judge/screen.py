"""The first look at a point: nothing to suspect, something to confirm, or still open.

A screen never says that a KPI regressed or improved. It picks what is worth 64 fresh pairs, and closes what is plainly
unchanged. Log ratios here are ln(head / base) with the sign turned so that positive is worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from harness.judge.rule import Rule
from harness.judge.signed_rank import hodges_lehmann, lower_bound, upper_bound

__all__ = ["ScreenResult", "Screening", "Side", "screen"]


class Screening(Enum):
    """What a screen says of a point."""

    OK = "ok"
    SUSPECT = "suspect"
    OPEN = "open"


class Side(Enum):
    """Which way a point is suspected to have moved. Each side is a Holm family of its own."""

    WORSE = "worse"
    BETTER = "better"


@dataclass(frozen=True, slots=True)
class ScreenResult:
    """The word, the suspected side (of a suspect only), and centre and bounds on the log scale, worse positive."""

    says: Screening
    side: Side | None
    centre: float
    low: float
    high: float
    pairs: int


def screen(log_ratios: Sequence[float], rule: Rule) -> ScreenResult:
    """Judge one stage of screening pairs alone.

    Raises:
        ValueError: there is no pair, or a ratio is not finite.
    """
    centre = hodges_lehmann(log_ratios)
    low, high = lower_bound(log_ratios, rule.miss), upper_bound(log_ratios, rule.miss)
    side = None
    if lower_bound(log_ratios, rule.screen_alpha) > rule.margin:
        side = Side.WORSE
    elif upper_bound(log_ratios, rule.screen_alpha) < -rule.margin:
        side = Side.BETTER
    closed = Screening.OK if high < rule.equivalence else Screening.OPEN
    says = Screening.SUSPECT if side is not None else closed
    return ScreenResult(says, side, centre, low, high, len(log_ratios))

"""At which prices of a shared token one arm costs less than another: a region of rho in [0, 1], not a point.

Both costs are straight lines in rho, so that they cross once at most. Where the crossing lies outside [0, 1] the answer
is always or never; which side of it is the cheaper one depends on who shares more. The reference gives the crossing
alone, without the additions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["CostLine", "Region", "RegionKind", "crossing", "region"]


@dataclass(frozen=True, slots=True)
class CostLine:
    """The cost of an arm: ``miss + extra + rho * hit``, in miss-token equivalents."""

    miss: float
    hit: float
    extra: float = 0


class RegionKind(Enum):
    """Where the candidate costs less, strictly."""

    ALWAYS = "always"
    NEVER = "never"
    BELOW = "below"
    ABOVE = "above"


@dataclass(frozen=True, slots=True)
class Region:
    """``cross`` is the rho at which both cost the same, where the region has an end inside [0, 1]."""

    kind: RegionKind
    cross: float | None = None


def region(candidate: CostLine, basic: CostLine) -> Region:
    """The set of rho in [0, 1] at which ``candidate`` costs strictly less than ``basic``."""
    at_free = candidate.miss + candidate.extra - basic.miss - basic.extra
    slope = candidate.hit - basic.hit
    at_full = at_free + slope
    if at_free < 0 and at_full < 0:
        return Region(RegionKind.ALWAYS)
    if at_free >= 0 and at_full >= 0:
        return Region(RegionKind.NEVER)
    return Region(RegionKind.BELOW if at_free < 0 else RegionKind.ABOVE, -at_free / slope)


def crossing(candidate: CostLine, basic: CostLine) -> float | None:
    """Where the two lines cross without their additions, at any rho; None where they are parallel."""
    hits = basic.hit - candidate.hit
    return None if hits == 0 else (candidate.miss - basic.miss) / hits

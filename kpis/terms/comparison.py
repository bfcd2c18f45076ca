"""What came of comparing one KPI between two sides: a state, a ratio, and what could have been seen at all.

A comparison says which way a number moved and how sure that is. It refuses to say pass or fail: only the judge does,
over all claims at once. A bound that the sample is too small to give is ``None``, never zero and never infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

__all__ = ["Comparison", "ComparisonNotice", "ComparisonWarn", "State"]


class State(Enum):
    """The end states of a comparison."""

    OK = "ok"  # a change of 5 % for the worse is excluded
    UNCHANGED = "unchanged"  # everything that the slice touches is identical on both sides
    IMPROVED = "improved"
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"
    NEW = "new"
    REMOVED = "removed"
    NO_BASELINE = "no-baseline"
    VOID = "void"  # one side could not be measured: an error, never a number
    WITHIN = "within"  # inside what a record lets be seen, which may be more than the 5 % that ``ok`` excludes
    THIN = "thin"  # a record of too few sessions to say how far an unchanged value strays

    @property
    def decided(self) -> bool:
        """Whether the two sides were really compared and the question is closed."""
        return self in _DECIDED


_DECIDED = frozenset({State.OK, State.UNCHANGED, State.IMPROVED, State.REGRESSED})


class ComparisonWarn(Enum):
    """Facts that must be shown beside a comparison; none of them changes its state."""

    TOO_FEW = "too-few"
    RESOLUTION = "resolution"
    SPREAD = "spread"
    MARGIN = "margin"  # it is as wide as what ``ok`` excludes, so that it hides a change whatever the pairs do
    BIMODAL = "bimodal"
    FIRST_SLOW = "first-slow"
    AUTOCORRELATED = "autocorrelated"
    DEMOTED = "demoted"
    UNREPEATED = "unrepeated"
    OFF_CPU = "off-cpu"
    BUDGET = "budget"
    UNUSED = "unused"
    LEFT_OUT = "left-out"  # of a new row: neither side has it, so nothing is owed
    LEFTOVER = "leftover"  # processes outlived the workers of its pairs and were ended
    REPORTED = "reported"  # its state never decides
    PAST_LIMIT = "past-limit"  # of a record: beyond a stored limit, and not beyond what its sessions let be seen


@dataclass(frozen=True, slots=True)
class ComparisonNotice:
    """A warning as a value: a code for machines, a sentence for people."""

    code: ComparisonWarn
    message: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One KPI at one point, head against base.

    ``ratio``, ``low`` and ``high`` are head over base whatever the direction; ``low`` and ``high`` each
    miss in 2.5 %. ``smallest_visible`` is a fraction (.03 is 3 %): the smallest change for the worse that the stages
    used would have reported four times out of five. ``alpha`` is the level of the last test made. ``pairs`` counts
    the pairs of all stages together; for an exact leg, the measurements a side.

    Raises:
        ValueError: a number is not finite, bounds do not hold the ratio, or a counter is negative.
    """

    state: State
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: int = 0
    smallest_visible: float | None = None
    alpha: float | None = None
    evidence: tuple[str, ...] = ()
    warnings: tuple[ComparisonNotice, ...] = ()

    def __post_init__(self) -> None:
        for name in ("ratio", "low", "high", "smallest_visible", "alpha"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"The {name} of a comparison is a finite number or None, not {number!r}.")
        known = [number for number in (self.low, self.ratio, self.high) if number is not None]
        if known != sorted(known):
            raise ValueError(f"The bounds {self.low!r} and {self.high!r} do not hold the ratio {self.ratio!r}.")
        if self.pairs < 0:
            raise ValueError(f"A comparison cannot rest on {self.pairs} pairs.")

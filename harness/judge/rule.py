"""The rule that every timed comparison is held to: how many pairs, which levels, which margins.

Each constant carries its derivation and a test that recomputes it. The rule is fixed before the data, so whoever builds
one hands in a floor that was committed earlier; that it was cannot be seen here. Refuses margins, counts and
probabilities that no test could hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "BOUND",
    "CONFIRM_PAIRS",
    "DELTA",
    "EQUIVALENCE",
    "EXTEND_PAIRS",
    "FAMILY_ALPHA",
    "LEAST_DELTA",
    "SCREEN_ALPHA",
    "SCREEN_PAIRS",
    "Rule",
    "delta_for",
]

SCREEN_PAIRS = 16
"""The least n, in steps of eight, that closes an unchanged point in one look: at a pair spread of 4 % the 97.5 % bound
stays under 5 % in 99 of 100 screens (n = 8: 8 of 10), so a second look is rare."""

SCREEN_ALPHA = 0.20
"""Loose on purpose: a false suspicion costs 64 pairs, a missed one costs the regression. At 5 % of change and a spread
of 3.1 % the screen misses fewer than 1 in 100 (at .05: 5). No error is spent here: the confirmation is made on fresh
pairs."""

EXTEND_PAIRS = 32
"""Twice the screen, judged alone: the standard error shrinks by root two against the look that stayed open."""

CONFIRM_PAIRS = 64
"""Leaves power to the confirmation where Holm's level is smallest: at alpha .01/40 and a spread of 4 %, a 5 % change
is confirmed in more than 95 % of trials (n = 32: 56 %)."""

FAMILY_ALPHA = 0.01
"""The run-level false alarm: one red gate in a hundred that nobody caused, at most."""

EQUIVALENCE = math.log(1.05)
"""``ok`` is an equivalence claim: a worsening of 5 % is excluded. Log scale."""

BOUND = 0.975
"""The confidence of each printed bound, one-sided: both together hold the ratio in 95 %."""

DELTA = 0.02
"""The change that nobody is asked about while a KPI's own floor is unknown: twice the usual neutral-edit floor. What
makes it known is ``loopladder calibrate``."""

LEAST_DELTA = 0.01
"""No floor is trusted below a third of a percent: ten neutral edits moved time by up to .6 % on one machine."""


def delta_for(floor: float | None) -> float:
    """The least change that may alarm, as a fraction: three times the KPI's neutral-edit floor, at least 1 %.

    ``floor`` is a fraction (.004: .4 %) committed before the data; None, where none is known, gives 2 %.

    Raises:
        ValueError: the floor is negative or not finite.
    """
    if floor is None:
        return DELTA
    if not math.isfinite(floor) or floor < 0:
        raise ValueError(f"A floor is a fraction that is not negative, not {floor!r}.")
    return max(LEAST_DELTA, 3 * floor)


@dataclass(frozen=True, slots=True)
class Rule:
    """The numbers of one gate.

    ``delta`` is a fraction, ``equivalence`` a log ratio, the rest counts of pairs and probabilities.

    Raises:
        ValueError: a margin under 1 %, a count under one, or a probability outside (0, 1).
    """

    delta: float = DELTA
    screen_pairs: int = SCREEN_PAIRS
    screen_alpha: float = SCREEN_ALPHA
    extend_pairs: int = EXTEND_PAIRS
    confirm_pairs: int = CONFIRM_PAIRS
    family_alpha: float = FAMILY_ALPHA
    equivalence: float = EQUIVALENCE
    bound: float = BOUND

    def __post_init__(self) -> None:
        if not (math.isfinite(self.delta) and self.delta >= LEAST_DELTA):
            raise ValueError(f"The margin delta is a fraction of at least {LEAST_DELTA}, not {self.delta!r}.")
        if min(self.screen_pairs, self.extend_pairs, self.confirm_pairs) < 1:
            raise ValueError("Every stage of a rule needs at least one pair.")
        for name in ("screen_alpha", "family_alpha", "bound"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"The {name} of a rule lies between 0 and 1, not at {getattr(self, name)!r}.")

    @property
    def margin(self) -> float:
        """ln(1 + delta): what a bound must lie beyond."""
        return math.log1p(self.delta)

    @property
    def miss(self) -> float:
        """The probability that one printed bound may miss: .025."""
        return 1 - self.bound

"""How far an unchanged value strays from its sessions: the prediction interval of Student's t on log medians.

The sample is one median a session, since a whole session shares its machine's mood and its medians are one draw of it.
What comes next, one session or several, is compared with the difference of two means under a common spread; for one
that is the textbook prediction margin t(alpha, n - 1) s sqrt(1 + 1/n) (Hahn and Meeker, Statistical Intervals, 4.7).
Refuses to know a spread from fewer than two sessions, and to call sessions that are all alike free of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit
from scipy.stats import nct

__all__ = ["Shift", "shift_of", "t_quantile"]


@dataclass(frozen=True, slots=True)
class Shift:
    """The difference of two means on the log scale (later minus earlier), its standard error, degrees of freedom."""

    size: float
    error: float
    df: int

    def p_above(self, margin: float) -> float:
        """The p-value of "no more than ``margin`` above" against "further above".

        Raises:
            ValueError: the error is zero.
        """
        if self.error <= 0:
            raise ValueError("Without a spread there is no p-value.")
        return float(stdtr(self.df, -(self.size - margin) / self.error))

    def p_below(self, margin: float) -> float:
        """The p-value of "no less than ``margin``" against "further below"; the error must not be zero."""
        return Shift(-self.size, self.error, self.df).p_above(-margin)

    def reach(self, alpha: float) -> float:
        """How far above zero an unchanged value comes with probability ``alpha``: the prediction margin."""
        return t_quantile(alpha, self.df) * self.error

    def visible(self, alpha: float, power: float) -> float:
        """The true difference that exceeds :meth:`reach` with probability ``power`` (noncentral t)."""
        return _noncentral(self.df, alpha, power) * self.error


def t_quantile(alpha: float, df: int) -> float:
    """The upper ``alpha`` quantile of Student's t.

    Raises:
        ValueError: alpha lies outside (0, 1), or there is no degree of freedom.
    """
    if not 0 < alpha < 1 or df < 1:
        raise ValueError(f"There is no quantile at {alpha!r} with {df} degrees of freedom.")
    return -float(stdtrit(df, alpha))


@lru_cache(maxsize=1024)
def _noncentral(df: int, alpha: float, power: float) -> float:
    critical = t_quantile(alpha, df)
    most = 2 * critical + 10
    return float(brentq(lambda centre: float(nct.sf(critical, df, centre)) - power, 0.0, most))


def shift_of(earlier: Sequence[float], later: Sequence[float]) -> Shift | None:
    """How far ``later`` lies above ``earlier`` (logs); None where fewer than three values leave no spread to pool.

    Raises:
        ValueError: a side is empty, or a value is not finite.
    """
    if not earlier or not later:
        raise ValueError("A shift needs a value on each side.")
    if not all(map(math.isfinite, (*earlier, *later))):
        raise ValueError("A shift needs finite logarithms.")
    df = len(earlier) + len(later) - 2
    if df < 1:
        return None
    centres = fmean(earlier), fmean(later)
    if all(max(side) == min(side) for side in (earlier, later)):
        return Shift(centres[1] - centres[0], 0.0, df)  # no rounding of a mean shall pass for a spread
    squares = math.fsum((x - centre) ** 2 for side, centre in zip((earlier, later), centres, strict=True) for x in side)
    error = math.sqrt(squares / df * (1 / len(earlier) + 1 / len(later)))
    return Shift(centres[1] - centres[0], error, df)

"""Bounds of a rate from a count: exact, and one-sided at 95 %.

Refuses nothing: no trial leaves every rate possible.
"""

from __future__ import annotations

from scipy.stats import beta

__all__ = ["LEVEL", "at_least", "at_most"]

LEVEL = 0.95


def at_most(hits: int, of: int) -> float:
    """The one-sided 95 % upper bound of a rate (Clopper and Pearson 1934); 1 where there is no trial."""
    return 1.0 if hits == of else float(beta.ppf(LEVEL, hits + 1, of - hits))


def at_least(hits: int, of: int) -> float:
    """The one-sided 95 % lower bound of a rate; 0 where there is no trial."""
    return 0.0 if hits == 0 else float(beta.ppf(1 - LEVEL, hits, of - hits + 1))

"""Five sessions of one time, and the textbook's figures of them."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import t

from kpis.terms.kpi import Direction

LOWER, HIGHER, NEUTRAL = Direction.LOWER, Direction.HIGHER, Direction.NEUTRAL

FIVE = (1000.0, 1030.0, 970.0, 1015.0, 985.0)


def margin(alpha: float, n: int) -> float:
    """The prediction margin in spreads, from the textbook's formula and another implementation of t."""
    return float(t.ppf(1 - alpha, n - 1)) * math.sqrt(1 + 1 / n)


def centre(values: tuple[float, ...]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def spread(values: tuple[float, ...]) -> float:
    return float(np.std(np.log(values), ddof=1))

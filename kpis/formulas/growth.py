"""How cost grows with history: the slope of a line through medians on log scales.

A closed form over readings of several points. It fits no curve and extrapolates nothing: a cost that turns from flat
to linear between two lengths has one slope here, and the medians beside it show where it turns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["slope", "weights"]


def weights(lengths: Sequence[float]) -> list[float]:
    """What each log cost counts for in the least-squares slope on ln ``lengths``: they sum to 0.

    Raises:
        ValueError: a length is not positive, or all are the same.
    """
    logs = [math.log(length) for length in lengths]
    middle = math.fsum(logs) / len(logs)
    square = math.fsum((log - middle) ** 2 for log in logs)
    if square == 0:
        raise ValueError("one length of history has no slope")
    return [(log - middle) / square for log in logs]


def slope(lengths: Sequence[float], costs: Sequence[float]) -> float:
    """The least-squares slope of ln cost on ln length, without unit: 1 is linear, 2 quadratic.

    Raises:
        ValueError: a length or a cost is not positive, or all lengths are the same.
    """
    return math.fsum(weight * math.log(cost) for weight, cost in zip(weights(lengths), costs, strict=True))

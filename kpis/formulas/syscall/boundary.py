"""The sentinel of the syscall floor, and the two quantile conventions that its medians are quoted in.

``gate_primary`` compares two medians of one machine; it says nothing about how much faster, since the slower side pays
for an interpreter's start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["floor_index", "gate_primary", "nearest_rank"]


def gate_primary(in_process_p50_ns: float, spawned_p50_ns: float) -> int:
    """1 if deciding in process is strictly faster than starting a process to decide, else 0.

    Both are medians in ns. A median that is not above zero is no measurement, and nothing passes against it.
    """
    return int(in_process_p50_ns > 0 and spawned_p50_ns > 0 and in_process_p50_ns < spawned_p50_ns)


def floor_index(ordered: Sequence[float], percent: float) -> float:
    """The value at index ``int(percent/100 (n - 1))`` of sorted values: never above the true quantile's rank.

    Raises:
        ValueError: there is no value, or ``percent`` is not within 0..100.
    """
    _check(ordered, percent / 100)
    return ordered[int(percent / 100 * (len(ordered) - 1))]


def nearest_rank(ordered: Sequence[float], quantile: float) -> float:
    """The ``ceil(q n)``-th of n sorted values. Of 12 values the .99 quantile is the largest; by floor index it is not.

    Raises:
        ValueError: there is no value, or ``quantile`` is not within 0..1.
    """
    _check(ordered, quantile)
    return ordered[max(math.ceil(quantile * len(ordered)), 1) - 1]


def _check(ordered: Sequence[float], quantile: float) -> None:
    if not ordered:
        raise ValueError("A quantile of no values is undefined.")
    if not 0 <= quantile <= 1:
        raise ValueError(f"A quantile lies between 0 and 1 (0 and 100 percent), not at {quantile}.")

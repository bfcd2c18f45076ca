"""Whole numbers split in proportion, so that the parts add up to the whole exactly.

The largest-remainder rule of Hamilton: each part is rounded down, and what is left goes to those that lost most, the
earlier one where two lost alike.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["split"]


def split(whole: int, weights: Sequence[int]) -> list[int]:
    """``whole`` in parts proportional to ``weights`` (at least 0 each); all zeros where no weight is positive.

    Raises:
        ValueError: ``whole`` or a weight is negative.
    """
    if whole < 0 or any(weight < 0 for weight in weights):
        raise ValueError("Shares are of a whole and by weights of at least 0.")
    base = sum(weights)
    if base == 0:
        return [0] * len(weights)
    parts = [whole * weight // base for weight in weights]
    left = whole - sum(parts)
    losers = sorted(range(len(weights)), key=lambda at: -(whole * weights[at] % base))
    for at in losers[:left]:
        parts[at] += 1
    return parts

"""The percentile bootstrap of a mean of paired differences, by a generator that every language can run the same way.

Pairs are resampled whole, so that what they share stays out of the interval. Under three pairs there is no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kpis.formulas.context.percentile import percentile

__all__ = ["FEWEST", "RESAMPLES", "SEED", "Interval", "bootstrap", "mulberry32"]

RESAMPLES = 2000
SEED = 0x9E3779B9
"""The golden ratio in 32 bits; only fixed so that the same differences always give the same interval."""

FEWEST = 3
"""Pairs without which there is no interval."""

_WORD = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of ``n`` pairs and a percentile interval around it."""

    mean: float
    lower: float
    upper: float
    n: int


def mulberry32(seed: int) -> Callable[[], float]:
    """A generator of numbers in [0, 1) with 32 bits of state (T. Ettinger); ``seed`` is taken modulo 2^32."""
    state = seed & _WORD

    def draw() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & _WORD
        mixed = ((state ^ (state >> 15)) * (state | 1)) & _WORD
        mixed ^= (mixed + (((mixed ^ (mixed >> 7)) * (mixed | 61)) & _WORD)) & _WORD
        return (mixed ^ (mixed >> 14)) / (_WORD + 1)

    return draw


def bootstrap(
    deltas: Sequence[float], resamples: int = RESAMPLES, confidence: float = 0.95, seed: int = SEED
) -> Interval | None:
    """The interval of the mean of ``deltas``, in their unit; None for fewer than :data:`FEWEST` of them.

    Raises:
        ValueError: ``resamples`` is not positive, or ``confidence`` does not lie between 0 and 1.
    """
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError(f"{resamples} resamples at confidence {confidence} give no interval")
    count = len(deltas)
    if count < FEWEST:
        return None
    draw = mulberry32(seed)
    means = sorted(sum(deltas[int(draw() * count)] for _ in range(count)) / count for _ in range(resamples))
    tail = (1 - confidence) / 2
    lower, upper = percentile(means, tail * 100), percentile(means, (1 - tail) * 100)
    assert lower is not None  # there is at least one mean
    assert upper is not None
    return Interval(sum(deltas) / count, lower, upper, count)

"""Seeded Beta draws, reproducible to the bit in any language: FNV-1a seeds mulberry32, Marsaglia-Tsang shapes it.

Whoever recomputes a published interval needs the same stream, so nothing here may come from a library's generator. The
generator adds a constant to its state at every step; its stream is therefore a function of the position, and a block
of it is computed at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt

__all__ = ["DRAWS", "Procedure", "betas", "fnv1a", "uniforms"]

DRAWS = 2000
"""Draws of one interval: 50 lie beyond each bound, so that a bound's own rank error is about a seventh of them."""

_STEP = 0x6D2B79F5
_BLOCK = 4096
_WORD = 2**32
_NEARLY_ZERO = 1e-12


class Procedure(Enum):
    """Which of the two published procedures shapes the draws; they differ in what a uniform of exactly 0 becomes.

    For a shape below 1, ``RISK`` draws the gamma of the larger shape first and then its boost; 0 reads as 1e-12.
    ``ACCURACY`` draws the boost first, and draws again instead of taking a 0.
    """

    RISK = "risk"
    ACCURACY = "accuracy"


def fnv1a(text: str) -> int:
    """The 32-bit FNV-1a hash of ``text`` over its UTF-16 code units (not bytes): ``h = (h ^ unit) * 0x01000193``."""
    value = 0x811C9DC5
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    for unit in units:
        value = (value ^ unit) * 0x01000193 % _WORD
    return value


def uniforms(seed: int) -> Iterator[float]:
    """The endless stream of mulberry32 from ``seed`` (32 bits): doubles in [0, 1), multiples of 2^-32."""
    position = 1
    while True:
        steps = np.arange(position, position + _BLOCK, dtype=np.uint64) * np.uint64(_STEP)
        yield from _mixed((steps + np.uint64(seed)).astype(np.uint32)).tolist()
        position += _BLOCK


def _mixed(state: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    mixed = (state ^ (state >> np.uint32(15))) * (state | np.uint32(1))
    mixed = mixed ^ (mixed + (mixed ^ (mixed >> np.uint32(7))) * (mixed | np.uint32(61)))
    drawn: npt.NDArray[np.float64] = (mixed ^ (mixed >> np.uint32(14))).astype(np.float64) / _WORD
    return drawn


def betas(
    seed: int, shapes: Sequence[tuple[float, float]], procedure: Procedure, draws: int = DRAWS
) -> npt.NDArray[np.float64]:
    """``draws`` rows of one Beta(a, b) a shape, in the order of ``shapes``, all from one stream; values in [0, 1].

    Each is X / (X + Y) of two gammas, that of ``a`` first.
    """
    stream = uniforms(seed)
    rows = np.empty((draws, len(shapes)))
    for row in range(draws):
        for column, (a, b) in enumerate(shapes):
            first = _gamma(a, stream, procedure)
            rows[row, column] = first / (first + _gamma(b, stream, procedure))
    return rows


def _positive(stream: Iterator[float]) -> float:
    value = next(stream)
    while value == 0:
        value = next(stream)
    return value


def _gamma(shape: float, stream: Iterator[float], procedure: Procedure) -> float:
    """One Gamma(shape, 1): Marsaglia and Tsang, A simple method for generating gamma variables, 2000."""
    again = procedure is Procedure.ACCURACY
    if shape < 1:
        if again:
            boost = _positive(stream)
            return _gamma(shape + 1, stream, procedure) * math.pow(boost, 1 / shape)
        return _gamma(shape + 1, stream, procedure) * math.pow(next(stream), 1 / shape)
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        while True:
            radius = _positive(stream) if again else (next(stream) or _NEARLY_ZERO)
            normal = math.sqrt(-2 * math.log(radius)) * math.cos(2 * math.pi * next(stream))
            v = 1 + c * normal
            if v > 0:
                break
        v = v * v * v
        uniform = _positive(stream) if again else next(stream)
        square = normal * normal
        if uniform < 1 - 0.0331 * normal * normal * normal * normal:
            return d * v
        if uniform == 0 or math.log(uniform) < 0.5 * square + d * (1 - v + math.log(v)):
            return d * v

"""Streams of pairs with known truth, one generator a kind of noise. Seeds are passed in; nothing else is random.

A generator gives the log values of ``rows`` series of ``n`` processes of one side. Two sides of one kind make log
ratios that are symmetric about the true change, whatever the kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator
ROOT2 = math.sqrt(2)


def iid(rng: Rng, rows: int, n: int, spread: float) -> Floats:
    return rng.normal(0, spread / ROOT2, (rows, n))


def spikes(rng: Rng, rows: int, n: int, spread: float) -> Floats:
    """3 % of the processes take 15 to 60 % longer."""
    spiked = rng.random((rows, n)) < 0.03
    return iid(rng, rows, n, spread) + spiked * np.log(rng.uniform(1.15, 1.6, (rows, n)))


def bimodal(rng: Rng, rows: int, n: int, spread: float) -> Floats:
    """Two in five processes get a layout that is 6 % slower."""
    return iid(rng, rows, n, spread) + (rng.random((rows, n)) < 0.4) * 0.06


def heavy_tail(rng: Rng, rows: int, n: int, spread: float) -> Floats:
    return rng.standard_t(3, (rows, n)) * spread / ROOT2


def quantised(rng: Rng, rows: int, n: int, spread: float) -> Floats:
    """The clock ticks in steps of 2 % of the value."""
    return np.log(np.maximum(np.round(np.exp(iid(rng, rows, n, spread)) * 50), 1) / 50)


KINDS: dict[str, Callable[[Rng, int, int, float], Floats]] = {
    "iid": iid,
    "spikes": spikes,
    "bimodal": bimodal,
    "heavy_tail": heavy_tail,
    "quantised": quantised,
}


def ratios(rng: Rng, kind: str, rows: int, n: int, spread: float, change: float) -> Floats:
    """Log ratios of ``rows`` points, ``n`` pairs each, at a true ``change`` (a fraction)."""
    make = KINDS[kind]
    return make(rng, rows, n, spread) - make(rng, rows, n, spread) + math.log1p(change)


def ar1(rng: Rng, n: int, spread: float, memory: float = 0.6) -> Floats:
    """What both processes of a pair share: the machine's own slow wander."""
    wander = np.zeros(n)
    steps = rng.normal(0, spread, n)
    for at in range(1, n):
        wander[at] = memory * wander[at - 1] + steps[at]
    return wander


def drift(n: int, by: float = 0.5) -> Floats:
    """The machine slows down by half over the series."""
    return np.linspace(0, math.log1p(by), n)


def stream(seed: int, kind: str, n: int = 112, spread: float = 0.02, change: float = 0.0) -> list[tuple[float, float]]:
    """A series of pairs in ns around 5 ms; ``ar1`` and ``drift`` are shared by both sides, the rest is each side's."""
    rng = np.random.default_rng(seed)
    own = kind if kind in KINDS else "iid"
    shared = {"ar1": lambda: ar1(rng, n, 0.05), "drift": lambda: drift(n)}.get(kind, lambda: np.zeros(n))()
    base = KINDS[own](rng, 1, n, spread)[0] + shared
    head = KINDS[own](rng, 1, n, spread)[0] + shared + math.log1p(change)
    return list(zip((5e6 * np.exp(base)).tolist(), (5e6 * np.exp(head)).tolist(), strict=True))

"""Streams of pairs that never ran: known truth, named noise, one seed, the same bytes on every machine.

Pure. Each stream is a trial of the recorded kind's format, so that a rule cannot tell them apart by shape. Drawn from
NumPy's RandomState, whose sequences are frozen for good, and rounded to a tenth of a nanosecond, which hides the last
bits in which two processors' logarithms may differ. The noise says nothing of any real machine: that is what the
recorded streams are for.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from harness.record.trials import Kind, Trial

__all__ = ["NOISES", "RATIOS", "SPREAD", "stream"]

Floats = NDArray[np.float64]
Rng = np.random.RandomState
Noise = Callable[[Rng, int], tuple[Floats, Floats]]

RATIOS = (1.0, 1.03, 1.05, 1.10)

SPREAD = 0.024
"""The spread of the log ratios of pairs: that of alternated processes with own seeds on a loaded two-core machine."""

WITHIN = 0.011
"""The spread of single values in one process: a third to a half of that between processes."""

PROCESS = math.sqrt(SPREAD**2 / 2 - (1.2533 * WITHIN) ** 2 / 6)
"""The spread between processes that makes pairs of medians of six values spread by SPREAD: the median's own variance
is pi/2 times that of the mean, and 1.2533 is the root of pi/2."""

VALUES = 6
BASE_NS = 5e6
TICK_NS = 1e5
"""The coarse clock's step: 2 % of the value."""

KEPT = (40, 3)
"""Single values are kept of the first 40 processes a side, three of each: two runs of pyperf's defaults."""

LAST = 19
"""The place of the last of twenty processes."""


def _own(rng: Rng, n: int) -> Floats:
    return rng.normal(0.0, PROCESS, n)


def _iid(rng: Rng, n: int) -> tuple[Floats, Floats]:
    return _own(rng, n), _own(rng, n)


def _spikes(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """3 % of the processes take 15 to 60 % longer."""

    def side() -> Floats:
        spiked: Floats = _own(rng, n) + (rng.random_sample(n) < 0.03) * np.log(rng.uniform(1.15, 1.6, n))
        return spiked

    return side(), side()


def _bimodal(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Two processes in five get a layout that is 6 % slower."""

    def side() -> Floats:
        split: Floats = _own(rng, n) + (rng.random_sample(n) < 0.4) * 0.06
        return split

    return side(), side()


def _ar1(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """The machine wanders slowly, and both processes of a pair feel it alike."""
    wander = np.zeros(n)
    steps = rng.normal(0.0, 0.05, n)
    for at in range(1, n):
        wander[at] = 0.6 * wander[at - 1] + steps[at]
    return _own(rng, n) + wander, _own(rng, n) + wander


def _drift(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """The machine slows down by half over 112 pairs."""
    slope = math.log(1.5) / 112 * np.arange(n)
    return _own(rng, n) + slope, _own(rng, n) + slope


def _heavy_tail(rng: Rng, n: int) -> tuple[Floats, Floats]:
    """Student's t with three degrees of freedom, which has no fourth moment."""
    return rng.standard_t(3, n) * PROCESS, rng.standard_t(3, n) * PROCESS


def _still(rng: Rng, n: int) -> tuple[Floats, Floats]:  # noqa: ARG001 - one shape for all
    return np.zeros(n), np.zeros(n)


NOISES: dict[str, Noise] = {
    "iid": _iid,
    "spikes": _spikes,
    "bimodal": _bimodal,
    "AR(1)": _ar1,
    "drift": _drift,
    "quantised": _iid,
    "constant": _still,
    "heavy tail": _heavy_tail,
    "unequal n": _iid,
}
"""Log values of ``n`` processes a side, by the name of the noise. A quantised clock rounds what iid noise gives; of
unequal n, the last process kept of the head lacks a value."""


def stream(noise: str, truth: float, seed: int, n: int = 112) -> Trial:
    """``n`` pairs around 5 ms whose heads take exactly ``truth`` times as long.

    Raises:
        KeyError: there is no such noise.
    """
    rng = np.random.RandomState([seed, list(NOISES).index(noise), round(truth * 1000)])
    base, head = NOISES[noise](rng, n)
    within = 0.0 if noise == "constant" else WITHIN
    times = [
        BASE_NS * np.exp(side[:, None] + rng.normal(0.0, 1.0, (n, VALUES)) * within) * factor
        for side, factor in ((base, 1.0), (head, truth))
    ]
    if noise == "quantised":
        times = [np.maximum(np.round(side / TICK_NS), 1.0) * TICK_NS for side in times]
    medians = [np.round(np.median(side, axis=1), 1).tolist() for side in times]
    kept = [[tuple(row) for row in np.round(side[: KEPT[0], : KEPT[1]], 1).tolist()] for side in times]
    if noise == "unequal n":
        for at in range(LAST, len(kept[1]), LAST + 1):
            kept[1][at] = kept[1][at][:-1]
    return Trial(
        kpi=noise,
        kind=Kind.NULL if truth == 1.0 else Kind.INJECTED,
        truth=truth,
        seed=seed,
        machine="synthetic",
        load="none",
        pairs=tuple(zip(*medians, strict=True)),
        values=tuple(zip(*kept, strict=True)),
        asked=truth,
    )

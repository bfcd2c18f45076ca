"""What a result of one detector is worth: the chance that a fire is right, that silence is wrong, with intervals.

    ppv  = s p / (s p + (1 - t)(1 - p))        of a fire
    miss = (1 - s) p / ((1 - s) p + t (1 - p)) of silence

with sensitivity ``s``, specificity ``t`` and the prior ``p`` that the output is bad; 0 where nothing could be so. The
interval is that of ``s`` and ``t`` under Jeffreys' posteriors. The point is not forced into it: it may use raw counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from harness.judge.evaluation.accuracy import HALF, Counts
from harness.judge.evaluation.draws import Procedure, betas, fnv1a
from harness.judge.evaluation.figures import half_up
from harness.judge.evaluation.ranks import bounds

__all__ = ["Interval", "after_fire", "after_silence", "miss_rate", "ppv"]

PLACES = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """A probability with its central 95 % interval, all to four places."""

    point: float
    low: float
    high: float


def after_fire(sensitivity: float, specificity: float, prior: float) -> float:
    """The chance that an output is bad on which the detector fired; 0 where it never could."""
    true, false = sensitivity * prior, (1 - specificity) * (1 - prior)
    return true / (true + false) if true + false else 0.0


def after_silence(sensitivity: float, specificity: float, prior: float) -> float:
    """The chance that an output is bad on which the detector stayed quiet; 0 where it never could."""
    missed, right = (1 - sensitivity) * prior, specificity * (1 - prior)
    return missed / (missed + right) if missed + right else 0.0


@lru_cache(maxsize=256)
def _rates(seed: str, counts: Counts) -> tuple[tuple[float, float], ...]:
    """The draws of sensitivity and specificity; no prior enters them, so that they serve every one."""
    shapes = ((counts.tp + HALF, counts.fn + HALF), (counts.tn + HALF, counts.fp + HALF))
    return tuple((row[0], row[1]) for row in betas(fnv1a(seed), shapes, Procedure.ACCURACY).tolist())


@lru_cache(maxsize=1024)
def _interval(word: str, rule: str, version: str, counts: Counts, prior: float, half: float) -> Interval:
    worth: Callable[[float, float, float], float] = after_fire if word == "ppv" else after_silence
    point = worth(counts.sensitivity(half), counts.specificity(half), prior)
    drawn = sorted(worth(s, t, prior) for s, t in _rates(f"{word}:{rule}:{version}", counts))
    low, high = bounds(drawn)
    return Interval(half_up(point, PLACES), half_up(low, PLACES), half_up(high, PLACES))


def ppv(rule: str, version: str, counts: Counts, prior: float, half: float = HALF) -> Interval:
    """The chance that a fire of ``rule`` is right; ``half`` 0 takes the raw counts for the point."""
    return _interval("ppv", rule, version, counts, prior, half)


def miss_rate(rule: str, version: str, counts: Counts, prior: float, half: float = HALF) -> Interval:
    """The chance that an output is bad although ``rule`` stayed quiet; ``half`` as for :func:`ppv`."""
    return _interval("miss", rule, version, counts, prior, half)

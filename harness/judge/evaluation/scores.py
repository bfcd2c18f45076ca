"""The weighted mean of what was judged, and the counts beside it. A score never decides; see the layers.

A skipped rule enters neither sum. Where nothing was judged there is no score: 0 stands in the whole, with
``insufficient`` beside it, and null in a category.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.judge.evaluation.figures import half_up
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Finding

__all__ = ["Tally", "evaluated", "failed", "tally"]


def evaluated(findings: Sequence[Finding]) -> list[Finding]:
    """Those that gave an answer."""
    return [item for item in findings if item.claim.state is not ClaimState.UNKNOWN]


def failed(findings: Sequence[Finding]) -> list[Finding]:
    """Those that fired."""
    return [item for item in findings if item.claim.state is ClaimState.FIRED]


@dataclass(frozen=True, slots=True)
class Tally:
    """One group of findings. ``score`` to three places, ties upwards, 0 where nothing was judged.

    ``critical_failures`` and ``critical_skipped`` are names in running order; what was skipped counts for any reason.
    """

    score: float
    evaluated: int
    skipped: int
    critical_failures: tuple[str, ...]
    critical_skipped: tuple[str, ...]

    @property
    def insufficient(self) -> bool:
        """Whether nothing was judged."""
        return self.evaluated == 0

    def reached(self, threshold: float) -> bool:
        """Whether the score reaches ``threshold`` and nothing critical failed: the arithmetic of old."""
        return not self.insufficient and self.score >= threshold and not self.critical_failures


_SMALLER = 2.0**-64
"""A power of two, so that a weight times this keeps its digits. There are fewer rules than 2^64."""


def _mean(findings: Sequence[Finding], scale: float = 1.0) -> float:
    total = weight = 0.0
    for item in findings:  # in running order, without compensation: the third decimal of a tie depends on it
        total += (item.claim.score if math.isfinite(item.claim.score) else 0.0) * item.rule.weight * scale
        weight += item.rule.weight * scale
    if math.isinf(weight):  # each weight is a finite number, the sum of them is none
        return _mean(findings, _SMALLER)
    return total / weight if weight else 0.0


def tally(findings: Sequence[Finding]) -> Tally:
    """Score and counts of ``findings``."""
    answered = evaluated(findings)
    return Tally(
        half_up(_mean(answered), 3),
        len(answered),
        len(findings) - len(answered),
        tuple(item.rule.name for item in failed(findings) if item.critical),
        tuple(item.rule.name for item in findings if item.critical and item.claim.state is ClaimState.UNKNOWN),
    )

"""The probability that an output or a trajectory is bad, from what the detectors said and how often they are right.

Each failure class that some detector examines gets a chance ``q``: by the best of those that fired, else by all of
them staying quiet. The output is bad unless no class is present, ``1 - prod(1 - q)``, the classes taken as independent.
The interval is that of all sensitivities and specificities under Jeffreys' posteriors, widened to hold the point: a
rate near 1 may lie outside of nearly all that is drawn, and an interval without its own point misleads.

What a prior means is a choice. *per-output*: the output is bad with probability p, spread evenly over the K examined
classes, ``1 - (1 - p)^(1/K)`` each. *per-class*: each examined class is present with probability p. Under the former,
one more quiet detector of a new class lowers the prior of every other class, and so the risk of an unrelated fire.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from harness.judge.evaluation.accuracy import HALF, AccuracyTable, Counts
from harness.judge.evaluation.deciding import SIGNS
from harness.judge.evaluation.draws import Procedure, betas, fnv1a
from harness.judge.evaluation.figures import fixed, half_up, number
from harness.judge.evaluation.ranks import bounds
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_words import FailureClass

__all__ = ["PER_CLASS", "PER_OUTPUT", "Detector", "RiskEstimate", "class_prior", "detectors_of", "estimate"]

PER_OUTPUT = "per-output"
PER_CLASS = "per-class"
PLACES = 4

_Rates = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Detector:
    """One detector that answered: the classes that it examines, whether it fired, and how it did on its corpus."""

    name: str
    classes: tuple[FailureClass, ...]
    fired: bool
    counts: Counts


@dataclass(frozen=True, slots=True)
class RiskEstimate:
    """``p_bad`` with its central 95 % interval, and the chance of each class; None for a class nobody examined.

    ``assumptions`` are what the numbers hold under. All to four places.
    """

    p_bad: float
    low: float
    high: float
    per_class: Mapping[FailureClass, float | None]
    assumptions: tuple[str, ...]


def detectors_of(findings: Sequence[Finding], table: AccuracyTable | None) -> tuple[Detector, ...]:
    """The detections and inferences that answered and whose accuracy is known, in the order of their answers.

    Measurements, policies and custom rules never enter: they are true by definition, or nobody knows how often.
    """
    found = []
    for finding in findings:
        rule = finding.rule
        if rule.custom or rule.kind not in SIGNS or table is None:
            continue
        counts = table.of(rule.name, rule.version)
        if counts is not None and finding.claim.state is not ClaimState.UNKNOWN:
            found.append(Detector(rule.name, rule.classes, finding.claim.state is ClaimState.FIRED, counts))
    return tuple(found)


def class_prior(prior: float, mode: str, examined: int) -> float:
    """The prior of one of ``examined`` classes under ``mode``."""
    if mode == PER_CLASS or examined <= 1:
        return prior
    return 1 - math.pow(1 - prior, 1 / examined)


def estimate(detectors: Sequence[Detector], version: str, prior: float, mode: str) -> RiskEstimate | None:
    """The risk that ``detectors`` leave; None without any.

    ``version`` is that of the accuracy table. With the mode, the prior to three places and the detectors it seeds the
    draws, so that the same question always has the same interval; answers are kept.
    """
    return _estimate(tuple(detectors), version, prior, mode) if detectors else None


@lru_cache(maxsize=4096)
def _estimate(detectors: tuple[Detector, ...], version: str, prior: float, mode: str) -> RiskEstimate:
    point, chances = _bad(
        detectors,
        prior,
        mode,
        [np.array([detector.counts.sensitivity()]) for detector in detectors],
        [np.array([detector.counts.specificity()]) for detector in detectors],
    )
    p_bad = float(point[0])
    drawn = betas(fnv1a(_seed(detectors, version, prior, mode)), _shapes(detectors), Procedure.RISK)
    bad, _ = _bad(detectors, prior, mode, list(drawn.T[0::2]), list(drawn.T[1::2]))
    low, high = bounds(np.sort(bad).tolist())
    per_class = {
        name: None if chance is None else half_up(float(chance[0]), PLACES) for name, chance in chances.items()
    }
    return RiskEstimate(
        half_up(p_bad, PLACES),
        half_up(min(low, p_bad), PLACES),
        half_up(max(high, p_bad), PLACES),
        per_class,
        (
            "failure classes are independent of each other",
            "accuracy is that on the corpus of the table, by its labelling",
            "half a count a cell is added to sensitivity and specificity",
            f"prior {number(prior)}, {mode}",
        ),
    )


def _seed(detectors: Sequence[Detector], version: str, prior: float, mode: str) -> str:
    names = ",".join(f"{detector.name}{'!' if detector.fired else ''}" for detector in detectors)
    return f"risk:{version}:{mode}:{fixed(prior, 3)}:{names}"


def _shapes(detectors: Sequence[Detector]) -> list[tuple[float, float]]:
    """The posteriors in the order of the draws: each detector's sensitivity, then its specificity."""
    shapes = []
    for detector in detectors:
        counts = detector.counts
        shapes.append((counts.tp + HALF, counts.fn + HALF))
        shapes.append((counts.tn + HALF, counts.fp + HALF))
    return shapes


def _share(part: _Rates, whole: _Rates) -> _Rates:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def _bad(
    detectors: Sequence[Detector], prior: float, mode: str, sensitivities: list[_Rates], specificities: list[_Rates]
) -> tuple[_Rates, dict[FailureClass, _Rates | None]]:
    """The chance of bad and of each class, one value a draw. The order of operations is part of the definition."""
    examining: Callable[[FailureClass], list[int]] = lambda name: [  # noqa: E731
        index for index, detector in enumerate(detectors) if name in detector.classes
    ]
    by_class = {name: examining(name) for name in FailureClass}
    p = class_prior(prior, mode, sum(1 for members in by_class.values() if members))
    chances: dict[FailureClass, _Rates | None] = {}
    survive = np.ones_like(sensitivities[0])
    for name, members in by_class.items():
        if not members:
            chances[name] = None
            continue
        fired = [index for index in members if detectors[index].fired]
        if fired:
            chance = np.maximum.reduce(
                [_share(sensitivities[i] * p, sensitivities[i] * p + (1 - specificities[i]) * (1 - p)) for i in fired]
            )
        else:
            missed, right = np.ones_like(survive), np.ones_like(survive)
            for index in members:
                missed = missed * (1 - sensitivities[index])
                right = right * specificities[index]
            chance = _share(p * missed, p * missed + (1 - p) * right)
        chances[name] = chance
        survive = survive * (1 - chance)
    return 1 - survive, chances

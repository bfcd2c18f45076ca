"""Whether stated chances come true: of the cases called bad with a chance of .8, eight in ten should be bad.

The chance of a case is what its detector's answer is worth by the counts of the *other* families of cases: a table that
is asked about the cases it was made from is right by construction. The prior is the share of bad cases among those.

Sources: G. W. Brier, Verification of forecasts expressed in terms of probability (1950), for two outcomes; reliability
by equal bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.judge.evaluation.accuracy import Counts
from harness.judge.evaluation.predictive import after_fire, after_silence

__all__ = ["BINS", "FOLDS", "Bin", "Outcome", "brier", "counts_of", "held_out", "reliability"]

FOLDS = 5
BINS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a detector said of a labelled case."""

    family: str
    bad: bool
    fired: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """The ``n`` cases whose stated chance lies from ``low`` up to ``high``: the mean of it, and the share that was bad.

    The last bin holds a chance of 1 as well.
    """

    low: float
    high: float
    n: int
    stated: float
    bad: float


def counts_of(outcomes: Sequence[Outcome]) -> Counts:
    """How often each answer met each label."""
    cells = [(one.bad, one.fired) for one in outcomes]
    return Counts(
        tp=cells.count((True, True)),
        fp=cells.count((False, True)),
        fn=cells.count((True, False)),
        tn=cells.count((False, False)),
    )


def held_out(outcomes: Sequence[Outcome]) -> list[float]:
    """The chance that each case is bad, from the cases of the other folds; a family is wholly in one fold.

    Families are dealt out in turn, those of bad and of good cases apart, so that no fold lacks either while there are
    families enough. Half counts stand in where one does.
    """
    fold: dict[tuple[bool, str], int] = {}
    dealt = {True: 0, False: 0}
    for one in outcomes:
        if (one.bad, one.family) not in fold:
            fold[one.bad, one.family] = dealt[one.bad] % FOLDS
            dealt[one.bad] += 1
    others = [counts_of([one for one in outcomes if fold[one.bad, one.family] != out]) for out in range(FOLDS)]
    return [_chance(one.fired, others[fold[one.bad, one.family]]) for one in outcomes]


def _chance(fired: bool, counts: Counts) -> float:
    prior = (counts.tp + counts.fn + 0.5) / (counts.n + 1)
    return (after_fire if fired else after_silence)(counts.sensitivity(), counts.specificity(), prior)


def brier(chances: Sequence[float], bad: Sequence[bool]) -> float:
    """The mean square of chance less outcome: 0 is a prophet, .25 always says one half.

    Raises:
        ValueError: there are none, or not as many of either.
    """
    if not chances:
        raise ValueError("Without cases there is no score.")
    return sum((chance - outcome) ** 2 for chance, outcome in zip(chances, bad, strict=True)) / len(chances)


def reliability(chances: Sequence[float], bad: Sequence[bool]) -> list[Bin]:
    """The bins of equal width that hold a case, from low to high."""
    held: dict[int, list[tuple[float, bool]]] = {}
    for chance, outcome in zip(chances, bad, strict=True):
        held.setdefault(min(BINS - 1, int(chance * BINS)), []).append((chance, outcome))
    return [
        Bin(
            at / BINS,
            (at + 1) / BINS,
            len(cases),
            sum(chance for chance, _ in cases) / len(cases),
            sum(outcome for _, outcome in cases) / len(cases),
        )
        for at, cases in sorted(held.items())
    ]

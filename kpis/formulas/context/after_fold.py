"""What an agent does right after a fold: the share of folds that are followed by a read, a search or a test.

Signals, not failures: reading again after a fold may be right. They mean something between two arms only. They count
any action of the family; what reads the *same target* again is another quantity with a name of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.context.values import Ratio, ratio
from kpis.formulas.context.windows import FoldPoint, Step, window
from kpis.terms.context_words import Family

__all__ = ["SIGNALS", "AfterFold", "after_fold"]

SIGNALS = {"raf": Family.READ, "saf": Family.SEARCH, "taf": Family.TEST}
"""The three signals by name: read, search and test after fold."""


@dataclass(frozen=True, slots=True)
class AfterFold:
    """``rate`` is over ``eligible`` folds, those with an action after them; ``censored`` ones have fewer than k."""

    rate: Ratio
    eligible: int
    censored: int


def after_fold(folds: Sequence[FoldPoint], steps: Sequence[Step], family: Family, k: int) -> AfterFold:
    """The share of folds with an action of ``family`` among their first ``k``. Censored folds are kept."""
    seen = [window(steps, fold.at, k) for fold in folds]
    eligible = [steps_after for steps_after in seen if steps_after]
    followed = sum(any(step.family is family for step in steps_after) for steps_after in eligible)
    return AfterFold(
        ratio(followed, len(eligible), "no fold is followed by an action"),
        len(eligible),
        sum(len(steps_after) < k for steps_after in eligible),
    )

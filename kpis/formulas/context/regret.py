"""What recalls brought back, and how much of what a fold gave up was wanted again at once (context regret, CR@k).

CR@k is the tokens of a fold's own checkpoint that are recalled in its first k actions, summed over folds, over the
tokens that all folds reclaimed. It cannot fall as k grows, and may exceed 1: the same page recalled twice counts twice.
The window is one of actions; an older definition counts requests and is another quantity.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kpis.formulas.context.values import Mode, Ratio, ratio
from kpis.formulas.context.windows import FoldPoint, Step, window
from kpis.terms.context_words import RecallKind

__all__ = ["RecallCost", "Requested", "context_regret", "recall_cost", "regret_at", "requested_at"]

NOTHING_RECLAIMED = "no fold reclaimed anything"


@dataclass(frozen=True, slots=True)
class RecallCost:
    """All uses of folded history in a run. ``returned`` is None where the size of a return is unknown."""

    searches: int
    recalls: int
    returned: float | None
    checkpoints: int


@dataclass(frozen=True, slots=True)
class Requested:
    """Q@k: tokens recalled of the folds' own checkpoints inside their windows; ``undefined`` says why there is none."""

    tokens: float | None
    undefined: str | None = None


def recall_cost(steps: Iterable[Step]) -> RecallCost:
    """Every return counts, repeats too; the checkpoints are counted once each."""
    uses = [step for step in steps if step.recall is not None]
    known = [step.returned for step in uses if step.returned is not None]
    return RecallCost(
        searches=sum(step.recall is RecallKind.SEARCH for step in uses),
        recalls=sum(step.recall is RecallKind.RECALL for step in uses),
        returned=sum(known) if len(known) == len(uses) else None,
        checkpoints=len({ref for step in uses for ref in step.refs}),
    )


def requested_at(folds: Sequence[FoldPoint], steps: Sequence[Step], k: int) -> Requested:
    """Q@k over all ``folds``. A return that names no checkpoint is recall cost alone."""
    total: float = 0
    for fold in folds:
        for step in window(steps, fold.at, k):
            if step.recall is None or not step.refs:
                continue
            if fold.checkpoint is None:
                return Requested(None, "a fold has no checkpoint id, so no recall can be told to be of it")
            if fold.checkpoint not in step.refs:
                continue
            if step.returned is None:
                return Requested(None, "the size of a recall is not recorded")
            if len(set(step.refs)) > 1:
                return Requested(None, "a recall names several checkpoints, and its tokens are not told apart")
            total += step.returned
    return Requested(total)


def regret_at(folds: Sequence[FoldPoint], steps: Sequence[Step], k: int) -> Ratio | Requested:
    """CR@k, or a :class:`Requested` without tokens where one of its parts is unknown."""
    wanted = requested_at(folds, steps, k)
    if wanted.tokens is None:
        return wanted
    known = [fold.reclaimed for fold in folds if fold.reclaimed is not None]
    if len(known) != len(folds):
        return Requested(None, "the tokens before and after a fold are not recorded")
    return ratio(wanted.tokens, sum(known), NOTHING_RECLAIMED)


def context_regret(recalled: Sequence[float], reclaimed_total: float, mode: Mode = Mode.STRICT) -> Ratio:
    """Tokens already found to lie in windows, over all reclaimed.

    Where nothing was reclaimed the reference gives 0 if nothing was recalled and infinity otherwise.
    """
    wanted = sum(recalled)
    if reclaimed_total == 0 and mode is Mode.REFERENCE:
        return Ratio(wanted, 0, 0 if wanted == 0 else math.inf)
    return ratio(wanted, reclaimed_total, NOTHING_RECLAIMED)

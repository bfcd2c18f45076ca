"""The actions and folds of a run by position: the n-th action, and how many came before each fold."""

from __future__ import annotations

from bisect import bisect_left

from kpis.formulas.context.duplicates import Repeatable
from kpis.formulas.context.reclaimed import FoldSize, Reclaimed, reclaimed, reclaimed_by
from kpis.formulas.context.windows import FoldPoint, Step
from kpis.terms.context_run import ContextRun, Fold
from kpis.terms.context_words import FoldMode

__all__ = ["boundary_of", "fold_points", "reclaimed_in", "repeatables", "steps_of"]


def steps_of(run: ContextRun) -> list[Step]:
    """Every action in order of ``seq``, with what it asked of folded history."""
    return [
        Step(
            at,
            action.family,
            action.recall.kind if action.recall else None,
            action.recall.refs if action.recall else (),
            action.recall.returned_tokens if action.recall else None,
        )
        for at, action in enumerate(run.actions)
    ]


def fold_points(run: ContextRun) -> list[FoldPoint]:
    """Every fold that took place, at the position of the first action after it."""
    seqs = [action.seq for action in run.actions]
    return [
        FoldPoint(bisect_left(seqs, fold.seq), fold.checkpoint_id, _reclaimed(fold)) for fold in run.folds if fold.ok
    ]


def _reclaimed(fold: Fold) -> float | None:
    if fold.tokens_before is None or fold.tokens_after is None:
        return None
    return reclaimed(fold.tokens_before, fold.tokens_after)


def reclaimed_in(run: ContextRun) -> Reclaimed:
    """What all folds of the run gave back, root folds in idle time included."""
    return reclaimed_by(
        FoldSize(fold.tokens_before, fold.tokens_after, fold.mode is FoldMode.ROOT, fold.ok) for fold in run.folds
    )


def repeatables(run: ContextRun) -> list[Repeatable]:
    """Every action in order of ``seq``, as duplicate work sees it."""
    return [
        Repeatable(
            at,
            action.family,
            f"{action.family.value}:{action.args_hash}",
            action.env_before,
            action.env_after,
            action.time_sensitive,
        )
        for at, action in enumerate(run.actions)
    ]


def boundary_of(run: ContextRun) -> int:
    """The position of the first action that is judged; 0 where the run has no boundary."""
    if run.header.boundary_seq is None:
        return 0
    return bisect_left([action.seq for action in run.actions], run.header.boundary_seq)

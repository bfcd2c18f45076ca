"""What a success took: the trajectory of a run, and its score for each action.

A volume beside the outcome, never a gate: a short run that fails is not efficient, and the score stands first.
"""

from __future__ import annotations

from kpis.formulas.context.values import Ratio

__all__ = ["trajectory_efficiency"]


def trajectory_efficiency(score: float | None, actions: int) -> Ratio:
    """``score`` in [0, 1] over one more than the tool actions, so that no action at all keeps the whole score."""
    if score is None:
        return Ratio(0, 1 + actions, None, "the run has no score")
    return Ratio(score, 1 + actions, score / (1 + actions))

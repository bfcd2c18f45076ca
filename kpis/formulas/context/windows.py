"""The first k actions after a fold: the window that context regret and the after-fold signals look through.

Actions of any family fill it, recalls too. A later fold does not close it. Position is the action's own index, and the
window opens at the fold's: the first k actions at or after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.terms.context_words import Family, RecallKind

__all__ = ["WINDOWS", "FoldPoint", "Step", "window"]

WINDOWS = (1, 3, 5)
"""The lengths that are reported."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action as a window sees it. ``refs`` are the checkpoints that it named, ``returned`` the tokens it got back.

    ``recall`` is None where the action asked nothing of folded history.
    """

    index: int
    family: Family
    recall: RecallKind | None = None
    refs: tuple[str, ...] = ()
    returned: float | None = None


@dataclass(frozen=True, slots=True)
class FoldPoint:
    """One fold that took place: ``at`` is the index of the first action after it, ``reclaimed`` its R."""

    at: int
    checkpoint: str | None
    reclaimed: float | None


def window(steps: Sequence[Step], at: int, k: int) -> list[Step]:
    """The first ``k`` of ``steps`` at or after index ``at``; fewer where the run ends before.

    Raises:
        ValueError: ``k`` is not positive.
    """
    if k < 1:
        raise ValueError(f"a window holds at least one action, not {k}")
    return sorted((step for step in steps if step.index >= at), key=lambda step: step.index)[:k]

"""What folds gave back, and how many tokens of prefix they broke for each one: reclaimed tokens (R) and PMA.

A fold that made the context larger gives back nothing, and is still a fold that was tried. R is measured around the
fold on one surface, never across requests, where growth would hide it. A low invalidated suffix does not make PMA low:
they are different metrics and neither stands in for the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kpis.formulas.context.values import Ratio, ratio

__all__ = ["FoldSize", "Reclaimed", "prefix_mutation", "reclaimed", "reclaimed_by"]


@dataclass(frozen=True, slots=True)
class FoldSize:
    """The surface before and after one fold in tokens. ``ok``: it took place; ``root``: it rewrote the first part."""

    before: float | None
    after: float | None
    root: bool = False
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """All folds of a run. ``total`` and ``excluding_root`` are None where the size of a fold is unknown."""

    attempted: int
    failed: int
    grown: int
    unknown: int
    total: float | None
    excluding_root: float | None


def reclaimed(before: float, after: float) -> float:
    """Tokens that one fold gave back, at least 0."""
    return max(0, before - after)


def reclaimed_by(folds: Iterable[FoldSize]) -> Reclaimed:
    """Sum over folds. One that failed gave nothing back; one that took place without sizes makes the sums unknown."""
    attempted = failed = grown = 0
    total: float = 0
    excluding: float = 0
    unknown = unknown_leaf = 0
    for fold in folds:
        attempted += 1
        if not fold.ok:
            failed += 1
            continue
        if fold.before is None or fold.after is None:
            unknown += 1
            unknown_leaf += not fold.root
            continue
        grown += fold.after > fold.before
        back = reclaimed(fold.before, fold.after)
        total += back
        excluding += 0 if fold.root else back
    return Reclaimed(attempted, failed, grown, unknown, None if unknown else total, None if unknown_leaf else excluding)


def prefix_mutation(invalidated: float, reclaimed_total: float) -> Ratio:
    """PMA: invalidated suffix tokens for each token reclaimed; undefined where nothing was, whatever was invalidated.

    Over all pairs it also holds changes of history that no fold made; over the pairs just after a fold it does not.
    """
    return ratio(invalidated, reclaimed_total, "no fold reclaimed anything")

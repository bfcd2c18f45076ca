"""The duplicate work rates: avoidable repeats over the actions after a boundary.

All families share one denominator, so that their rates add up to the total. A family's share of *its own* actions is
another quantity, under a name of its own. Where a repeat is of unknown environment there is no point rate, only bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from kpis.formulas.context.duplicates import Repeat, Repeatable, repeats
from kpis.formulas.context.values import Mode, Ratio, ratio
from kpis.terms.context_words import Family

__all__ = ["DuplicateWork", "HistoryScope", "duplicate_work", "duplicate_work_rate"]

NO_ACTIONS = "there is no action after the boundary"


class HistoryScope(Enum):
    """Against what a repeat is judged. A read of what was read before the fold is what a fold causes: whole run."""

    WHOLE_RUN = "whole-run"
    CONTINUATION = "continuation"


@dataclass(frozen=True, slots=True)
class DuplicateWork:
    """Actions after the boundary by family, how many of them are avoidable, and of how many that is unknown."""

    actions: Mapping[Family, int]
    avoidable: Mapping[Family, int]
    unknown: Mapping[Family, int]
    history_scope: HistoryScope

    def _counts(self, family: Family | None) -> tuple[int, int]:
        if family is None:
            return sum(self.avoidable.values()), sum(self.unknown.values())
        return self.avoidable.get(family, 0), self.unknown.get(family, 0)

    @property
    def post(self) -> int:
        """All actions after the boundary: the denominator that the families share."""
        return sum(self.actions.values())

    def rate(self, family: Family | None = None) -> Ratio:
        """The rate of ``family``, of all where it is None, over all actions after the boundary."""
        return self._over(family, self.post, NO_ACTIONS)

    def bounds(self, family: Family | None = None) -> tuple[float, float] | None:
        """Between which values the rate lies; None without actions. Equal where nothing is unknown."""
        avoidable, unknown = self._counts(family)
        return (avoidable / self.post, (avoidable + unknown) / self.post) if self.post else None

    def own_rate(self, family: Family) -> Ratio:
        """The rate of ``family`` over its own actions after the boundary."""
        return self._over(family, self.actions.get(family, 0), f"there is no {family.value} after the boundary")

    def _over(self, family: Family | None, actions: int, none: str) -> Ratio:
        avoidable, unknown = self._counts(family)
        if unknown:
            return Ratio(avoidable, actions, None, f"the environment of repeated actions is not recorded ({unknown})")
        return ratio(avoidable, actions, none)


def duplicate_work(
    actions: Sequence[Repeatable], boundary: int = 0, scope: HistoryScope = HistoryScope.WHOLE_RUN
) -> DuplicateWork:
    """Count the repeats among ``actions``, in order, whose index is ``boundary`` or more."""
    judged = [each for each in actions if scope is HistoryScope.WHOLE_RUN or each.index >= boundary]
    post = [(each, what) for each, what in zip(judged, repeats(judged), strict=True) if each.index >= boundary]
    return DuplicateWork(
        Counter(each.family for each, _ in post),
        Counter(each.family for each, what in post if what is Repeat.AVOIDABLE),
        Counter(each.family for each, what in post if what is Repeat.UNKNOWN),
        scope,
    )


def duplicate_work_rate(avoidable: int, post: int, mode: Mode = Mode.STRICT) -> Ratio:
    """The rate from two counts; the reference gives 0 where there is no action."""
    if post == 0 and mode is Mode.REFERENCE:
        return Ratio(avoidable, post, 0)
    return ratio(avoidable, post, NO_ACTIONS)

"""When a gate must have ended: the budget, for whatever is timed and for what comes before its timing.

A point that could not be tried in time gets that as its answer, by value, so that it ends inconclusive and not void.
Refuses to cut off a count: counts are complete whatever the budget, and so are those that explain a point which moved.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.gating.ground import Ground, Seen
from harness.jobs.plan import PlannedPoint
from harness.measure.schedule import Side
from kpis.terms.reading import Reason

__all__ = ["LATE", "NEVER", "BoundedGround", "Deadline"]

LATE = Reason.OUT_OF_BUDGET.value
"""The reason of what was not tried in time."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """``at`` in monotonic seconds, after a budget of ``budget_s``; both None where there is no budget."""

    at: float | None = None
    budget_s: float | None = None

    @classmethod
    def of(cls, began: float, budget_s: float | None) -> Deadline:
        """The deadline of a gate that began at ``began`` (monotonic seconds)."""
        return cls(None if budget_s is None else began + budget_s, budget_s)

    def left(self, limit: float) -> float:
        """Seconds that something may take which has ``limit`` seconds of its own; not above zero once it is over."""
        return limit if self.at is None else min(limit, self.at - time.monotonic())

    def spent(self) -> float:
        """Seconds of the budget that are gone; 0 where there is none."""
        return 0.0 if self.budget_s is None else self.budget_s - self.left(self.budget_s)

    def over(self) -> bool:
        """Whether nothing more may begin."""
        return self.left(1.0) <= 0


NEVER = Deadline()


@dataclass(slots=True)
class BoundedGround(Ground):
    """A ground on which points that are to be timed are tried until the deadline."""

    deadline: Deadline = NEVER

    def discover(self, point: PlannedPoint, side: Side, *, limit: float) -> Seen:
        """Try the point once on ``side``, if it is a count or there is time for it."""
        if not point.kpi.estimand.timed:
            return Ground.discover(self, point, side, limit=limit)
        if self.deadline.over():
            return Seen({}, (LATE, "the budget ended before this point was tried"), {}, spawns=False)
        seen = Ground.discover(self, point, side, limit=self.deadline.left(limit))
        if seen.undefined is not None and seen.undefined[0] == Reason.TIMEOUT.value and self.deadline.over():
            return Seen({}, (LATE, "the budget ended while this point was tried"), {}, spawns=False)
        return seen

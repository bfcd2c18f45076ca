"""When a gate must have ended: the budget, for everything that comes before the timing as well.

A point that could not be tried in time gets that as its answer, by value, so that it ends inconclusive and not void.
Refuses to cut off the counts that explain a point which has moved: those are what the time was spent for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from harness.gating.ground import SEEDS, Ground
from harness.jobs.plan import PlannedPoint
from harness.measure.launch import Answer
from harness.measure.schedule import Side

__all__ = ["ENDED", "LATE", "NEVER", "BoundedGround", "Deadline"]

LATE = "out-of-budget"
"""The reason of what was not tried in time."""

ENDED = "the budget ended"
"""How its sentence begins."""

_TRYING = frozenset({"discover", "tally", "calibrate", "measure"})
_BEFORE = f"{ENDED} before this point was tried"
_WHILE = f"{ENDED} while this point was tried"


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

    def over(self) -> bool:
        """Whether nothing more may begin."""
        return self.left(1.0) <= 0


NEVER = Deadline()


@dataclass(slots=True)
class BoundedGround(Ground):
    """A ground on which points are tried until the deadline."""

    deadline: Deadline = NEVER

    def ask(
        self, point: PlannedPoint, side: Side, task: str, *, seed: int = SEEDS[0], limit: float, **more: Any
    ) -> Answer:
        """Put one question to a fresh worker of ``side``, if there is time for it."""
        if task not in _TRYING:
            return Ground.ask(self, point, side, task, seed=seed, limit=limit, **more)
        if self.deadline.over():
            return Answer(undefined=(LATE, _BEFORE))
        answer = Ground.ask(self, point, side, task, seed=seed, limit=self.deadline.left(limit), **more)
        if answer.undefined is not None and answer.undefined[0] == "timeout" and self.deadline.over():
            answer.undefined = (LATE, _WHILE)
        return answer

"""One timed row of the ratchet: what a record holds of it, what is held against that, and how far the two lie apart.

On the log scale with worse positive, whatever the direction. Refuses to say what a distance means: the rule and the
limit do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.judge.predicted import Shift, shift_of
from kpis.terms.kpi import Direction

__all__ = ["LEAST_SESSIONS", "TimedRow", "logs_of", "shift_in"]

LEAST_SESSIONS = 5
"""Where sessions spread by 3 % and forty rows share the run's level, five of them see a change of 40 %; four see 73 %,
three would pass a value that is more than four times as large."""


@dataclass(frozen=True, slots=True)
class TimedRow:
    """What a timed row is judged from; medians of different sessions in their unit, all positive.

    ``now`` is what is held against ``sessions``: this run, and for a release the sessions since. ``limit`` is None
    where the record has none yet; ``budget`` is the fraction that a change may cost.
    """

    sessions: tuple[float, ...]
    now: tuple[float, ...]
    direction: Direction
    limit: float | None = None
    budget: float = 0.0


def logs_of(values: Sequence[float], direction: Direction) -> list[float]:
    """Logarithms with worse positive."""
    sign = -1.0 if direction is Direction.HIGHER else 1.0
    return [sign * math.log(value) for value in values]


def shift_in(row: TimedRow) -> Shift | None:
    """How far ``now`` lies from the sessions; None where they are too few to have a spread."""
    return shift_of(logs_of(row.sessions, row.direction), logs_of(row.now, row.direction))

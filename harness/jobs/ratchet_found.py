"""One comparison of a row, as a value: what was held against what, and what came of it.

Refuses to compare: it is what the comparing modules hand on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.jobs.plan import PlannedPoint
from harness.jobs.ratchet_conditions import Held
from harness.judge.ratchet import Judged
from harness.judge.ratchet_row import TimedRow
from kpis.terms.comparison import Comparison, State
from kpis.terms.reading import Reading

__all__ = ["Found", "Waiting", "told"]


@dataclass(frozen=True, slots=True)
class Found:
    """One comparison. ``anchor`` is ``record``, or the tag of a release; what the run or the record lacks is None."""

    name: str
    anchor: str
    judged: Judged
    held: Held | None
    point: PlannedPoint | None
    reading: Reading | None

    @property
    def comparison(self) -> Comparison:
        """What came of it."""
        return self.judged.comparison

    def saying(self, *more: str, state: State | None = None) -> Found:
        """The same with further evidence, and perhaps another state."""
        said = replace(self.comparison, evidence=(*self.comparison.evidence, *more))
        return replace(self, judged=replace(self.judged, comparison=replace(said, state=state or said.state)))


@dataclass(frozen=True, slots=True)
class Waiting(Judged):
    """A comparison that waits for those of the other timed rows."""

    timed: TimedRow | None = None


def told(state: State, *evidence: str) -> Judged:
    """What is ``state`` without any number being compared, and why."""
    return Judged(Comparison(state, evidence=evidence))

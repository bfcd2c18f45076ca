"""The reading of a growth row: the slope over the points of its KPI, its interval, and the exact work that explains it.

The clock says how steep the cost is; the counts that the probe hands over (messages copied, bytes serialised) say why,
and they are exact, so that a slope of work can be believed where that of time is wide. A KPI that is itself a count has
a slope without an interval. Where a point is undefined, so is the slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.jobs.measure_point import Outcome
from harness.judge.growth import slope_interval
from kpis.formulas.growth import slope, weights
from kpis.growth import HISTORY
from kpis.terms.quantity import Basis
from kpis.terms.reading import Distribution, Reading

__all__ = ["GrowthPoint", "distribution_of", "evidence_of", "slope_of"]


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """One length of history: its reading, and what the workers said of it."""

    reading: Reading
    outcome: Outcome

    @property
    def length(self) -> int:
        """Turns of history."""
        return int(self.reading.params[HISTORY])

    @property
    def values(self) -> list[float]:
        """The value of each process, in ns."""
        return [float(process["process_ns"]) for process in self.outcome.processes]


def slope_of(points: Sequence[GrowthPoint]) -> float:
    """The slope of ln value on ln turns, to four digits.

    Raises:
        ValueError: a value is not positive.
    """
    costs = [point.reading.value or 0.0 for point in points]
    return round(slope([float(point.length) for point in points], costs), 4)


def distribution_of(points: Sequence[GrowthPoint]) -> Distribution | None:
    """The slope of the medians and its interval; ``n`` is the least number of processes of a point.

    None of counts: two processes agreed on each, and nothing scatters.

    Raises:
        ValueError: a median is not positive.
    """
    if any(point.reading.basis is not Basis.CLOCK for point in points):
        return None
    lengths = [float(point.length) for point in points]
    interval = slope_interval(weights(lengths), [point.values for point in points])
    return Distribution(
        of="log-log slope of process medians",
        n=min(len(point.values) for point in points),
        median=slope_of(points),
        ci95=None if interval is None else (round(interval[0], 4), round(interval[1], 4)),
        cpu_median=None,
        overhead_share=None,
    )


def evidence_of(points: Sequence[GrowthPoint]) -> list[str]:
    """The values, and of every kind of work its counts with their slope; a work that is not counted is not there."""
    said = [f"history {point.length}: {point.reading.value!r} {point.reading.unit.value}" for point in points]
    lengths = [float(point.length) for point in points]
    shared = [name for name in points[0].outcome.work if all(name in point.outcome.work for point in points)]
    for name in shared:
        counts = [point.outcome.work[name] for point in points]
        told = " -> ".join(f"{count:,}" for count in counts)
        steep = f", slope {slope(lengths, counts):.2f}" if min(counts) > 0 else ""
        said.append(f"{name} (exact): {told}{steep}")
    return said

"""From the times of processes to a reading: medians, and the ratio of two clocked sides, with their exact intervals.

The sample is one process's value. Refuses to pool the calls of several processes.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import multimode

from harness.jobs.measure_point import Outcome
from harness.jobs.plan import PlannedPoint
from harness.jobs.readings_form import defined, source_of
from harness.judge.bounds import median, median_interval
from kpis.registry import Catalog
from kpis.terms.quantity import Basis
from kpis.terms.reading import Distribution, Notice, Reading

__all__ = ["ratio_of_clocks", "timed"]


def ratio_of_clocks(point: PlannedPoint, outcome: Outcome, catalog: Catalog, warnings: list[Notice]) -> Reading:
    """The ratio of the median process, with that process's own two sides: medians of each would be nobody's ratio."""
    ranked = sorted(outcome.ratios, key=lambda each: each["numerator"] / each["denominator"])
    ratios = [each["numerator"] / each["denominator"] for each in ranked]
    middle = (len(ranked) - 1) // 2
    distribution = Distribution(
        of="ratios of processes",
        n=len(ratios),
        median=ratios[middle],
        ci95=median_interval(ratios),
        cpu_median=None,
        overhead_share=None,
        values=_of_most(len(next(iter(each["rounds"].values()), ())) for each in ranked),
    )
    return defined(
        point,
        catalog,
        ratios[middle],
        Basis.CLOCK,
        source_of(point, outcome.source),
        isolation=outcome.engine,
        numerator=ranked[middle]["numerator"],
        denominator=ranked[middle]["denominator"],
        distribution=distribution,
        evidence=list(ranked[middle]["evidence"]),
        warnings=warnings,
    )


def timed(
    point: PlannedPoint,
    catalog: Catalog,
    values: list[float],
    outcome: Outcome,
    warnings: list[Notice],
    *,
    cpu: float | None = None,
    share: float | None = None,
) -> Reading:
    """The median of ``values``, one a process, in ns; ``cpu`` is that of CPU time, ``share`` the harness's part."""
    centre = round(median(values), 3)
    interval = median_interval(values)
    distribution = Distribution(
        of="process values",
        n=len(values),
        median=centre,
        ci95=None if interval is None else (round(interval[0], 3), round(interval[1], 3)),
        cpu_median=None if cpu is None else round(cpu, 3),
        overhead_share=None if share is None else round(share, 6),
        loops=_of_most(process["loops"] for process in outcome.processes if "loops" in process),
        values=_of_most(len(process["values_ns"]) for process in outcome.processes),
    )
    return defined(
        point,
        catalog,
        centre,
        Basis.CLOCK,
        source_of(point, outcome.source),
        isolation=outcome.engine,
        distribution=distribution,
        evidence=[*_stamped(outcome), *_worked(outcome)],
        warnings=warnings,
    )


def _of_most(numbers: Iterable[int]) -> int | None:
    """The number that most processes have, of several such the largest; None of none."""
    return max(multimode(numbers), default=None)


def _worked(outcome: Outcome) -> list[str]:
    """What one call did, where the probe counted it."""
    counts = ", ".join(f"{name} {count:,}" for name, count in outcome.work.items())
    return [f"one call, counted exactly: {counts}"] if counts else []


def _stamped(outcome: Outcome) -> list[str]:
    """What the clock took off each stamped call, where calls were stamped."""
    costs = [process["stamp_ns"] for process in outcome.processes if "stamp_ns" in process]
    return [f"a stamp of the clock costs {median(costs):g} ns, measured and taken off"] if costs else []

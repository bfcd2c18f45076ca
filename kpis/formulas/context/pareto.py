"""Which policies are not beaten on cost, peak context and success at once.

No ranking and no weights. Correctness comes first and as a filter: a point that fails a gate does not enter, and one
with a gate that has no value does not either, for it has shown nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["GATES", "Front", "Point", "pareto"]

GATES = (
    "authorityLossRate",
    "stateStalenessRate",
    "criticalConstraintViolations",
    "exactRecallMismatch",
    "crossSessionLeak",
)
"""What must be 0 before anything is compared."""


@dataclass(frozen=True, slots=True)
class Point:
    """One policy: cost and peak context are better low, success in [0, 1] high. ``gates`` are by name."""

    id: str
    cost: float
    peak: float
    success: float
    gates: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Front:
    """Ids in the order given. ``excluded`` and ``open`` name the gates that failed, and those without value."""

    frontier: tuple[str, ...]
    dominated: tuple[str, ...]
    excluded: Mapping[str, tuple[str, ...]]
    open: Mapping[str, tuple[str, ...]]


def pareto(points: Sequence[Point], gates: Sequence[str] = GATES) -> Front:
    """The points that no other one beats: as good on every axis, and better on one. ``gates`` name what filters."""
    failed = {point.id: tuple(name for name in gates if point.gates.get(name) not in (None, 0)) for point in points}
    silent = {point.id: tuple(name for name in gates if point.gates.get(name) is None) for point in points}
    eligible = [point for point in points if not failed[point.id] and not silent[point.id]]
    beaten = {point.id for point in eligible if any(_beats(other, point) for other in eligible)}
    return Front(
        tuple(point.id for point in eligible if point.id not in beaten),
        tuple(point.id for point in eligible if point.id in beaten),
        {name: those for name, those in failed.items() if those},
        {name: those for name, those in silent.items() if those and not failed[name]},
    )


def _beats(one: Point, other: Point) -> bool:
    no_worse = one.cost <= other.cost and one.peak <= other.peak and one.success >= other.success
    return no_worse and (one.cost < other.cost or one.peak < other.peak or one.success > other.success)

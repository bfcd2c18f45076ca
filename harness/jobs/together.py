"""Points that one opening may serve: counts, or ratios, of one probe at one parameter point, runtime and workload.

A probe with ``open_all`` does their common work once in a process and hands all of them over (see
:class:`harness.measure.clock.Probe`). Whether it has one only the worker knows; here is said who could gain, and what
of a worker's answer belongs to whom. Ratios of times share their rounds; timed points are never among them: each has
processes of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.jobs.plan import PlannedPoint

__all__ = ["TASKS", "beside", "handed_over"]

TASKS = ("discover", "tally", "ratio")
"""The questions that a count or a ratio is asked, each of a process of its own."""


def beside(points: Iterable[PlannedPoint]) -> dict[str, list[PlannedPoint]]:
    """By the key of a point, the others that its opening may serve as well."""
    groups: dict[tuple[object, ...], list[PlannedPoint]] = {}
    for point in points:
        if point.undefined is None and not point.kpi.timed:
            at = tuple(sorted(point.params.items()))
            workload = point.workload.workload.name if point.workload else None
            groups.setdefault((point.probe, point.kpi.seam, point.runtime, workload, at), []).append(point)
    return {point.key: [other for other in group if other is not point] for group in groups.values() for point in group}


def handed_over(
    answer: dict[str, Any], others: Sequence[PlannedPoint]
) -> Iterator[tuple[PlannedPoint, dict[str, Any]]]:
    """Take what ``answer`` holds for ``others`` out of it: each with an answer as if it had been asked alone.

    The seconds were spent once and stay with the one that was asked.
    """
    found = answer.pop("beside", None)
    if not isinstance(found, Mapping):
        return
    of_all: dict[str, Any] = {name: answer[name] for name in ("touched", "spawns", "notices") if name in answer}
    for other in others:
        own = found.get(other.kpi.id)
        if isinstance(own, Mapping):
            yield other, {**of_all, **own, "printed": 0, "seconds": 0.0}

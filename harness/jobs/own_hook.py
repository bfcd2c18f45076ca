"""``run --hook``: the user's own hook command in the place of ours, wherever the plan starts one.

The command becomes a parameter of the point, so that the reading says which hook it is of and is never taken for the
reference hook's; a row that is computed from it carries it too. Nothing is started here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.jobs.plan import Plan, PlannedPoint

__all__ = ["PARAM", "SEAM", "with_hook"]

PARAM = "hook"
SEAM = "syscall/hook"


def with_hook(plan: Plan, command: str) -> Plan | None:
    """``plan`` with ``command`` at every point of the hook's seam; None where it has no such point."""
    # A user's own row on this seam has a probe of its own, which knows no such parameter.
    spawned = {point.kpi.id for point in plan.points if point.kpi.seam == SEAM and point.kpi.origin == "catalog"}

    def told(point: PlannedPoint) -> PlannedPoint:
        if point.kpi.id in spawned or not spawned.isdisjoint(point.kpi.inputs):
            return replace(point, params={**point.params, PARAM: command})
        return point

    if not spawned:
        return None
    return replace(plan, points=tuple(map(told, plan.points)), derived=tuple(map(told, plan.derived)))

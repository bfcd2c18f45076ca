"""A dry run as text: what would be measured, in which order, and how long it would take if every call is short."""

from __future__ import annotations

from harness.jobs.plan import Plan
from harness.report.inert import inert
from harness.report.progress import duration

__all__ = ["plan_text"]


def plan_text(plan: Plan) -> str:
    """One line a point, the derived rows, and the estimate."""
    effort = plan.effort
    lines = []
    for point in plan.points:
        if point.undefined is not None:
            how = f"undefined: {point.undefined.reason.value}"
        elif point.kpi.timed:
            how = f"{effort.processes} processes x {effort.values} values, limit {effort.limit_s:.0f} s"
        else:
            how = "counted twice"
        lines.append(f"  {inert(point.label)}: {how}")
    lines += [f"  {inert(point.label)}: computed from the rows above" for point in plan.derived]
    total = len(plan.points) + len(plan.derived)
    head = f"Would measure {total} points in about {duration(plan.estimate_s())} ({effort.mode.value}):"
    return "\n".join([head, *lines, "Measure them: the same command without --dry-run"])

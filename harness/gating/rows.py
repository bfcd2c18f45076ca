"""From what was seen and timed to rows, claims and the verdict. Computes nothing but the judge's own functions.

A point that fails on the base only is ``new`` (the base has not got what it needs); on the head, or on both, it is
void. A row of an exact KPI is counted twice a side, and what does not repeat is demoted in plain sight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.gating.timed import TimedPoint, off_cpu, waiting_ns
from harness.jobs.plan import PlannedPoint
from harness.judge.exact import exact, invariant
from harness.record.gate import GateRow, OffCpu
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Estimand
from kpis.terms.reading import Leg

__all__ = ["absent", "compare_counts", "label", "removed_row", "row_of", "timed_row", "unmeasured"]


def label(point: PlannedPoint) -> str:
    """How a person and ``--inject`` name a point: ``kpi`` or ``kpi[k=v,...]``."""
    params = ",".join(f"{key}={value}" for key, value in point.params.items())
    return f"{point.kpi.id}[{params}]" if params else point.kpi.id


def row_of(
    point: PlannedPoint,
    found: Comparison,
    *,
    leg: Leg = Leg.MAIN,
    waiting: OffCpu | None = None,
    functions: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
) -> GateRow:
    """The row of one comparison."""
    return GateRow(
        kpi=point.kpi.id,
        params=dict(point.params),
        runtime=point.runtime[0],
        workload=point.workload.workload.name if point.workload else None,
        leg=leg,
        state=found.state,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        pairs=found.pairs,
        smallest_visible=found.smallest_visible,
        alpha=found.alpha,
        off_cpu=waiting,
        functions=list(functions),
        paths=list(paths),
        evidence=list(found.evidence),
        warnings=list(found.warnings),
    )


def unmeasured(base: tuple[str, str] | None, head: tuple[str, str] | None) -> Comparison | None:
    """What a point is that one side cannot measure: new where only the base cannot, void otherwise."""
    if head is None and base is None:
        return None
    if head is None and base is not None:
        return Comparison(State.NEW, evidence=(f"on the base: {base[1]}",))
    sides = [("base", base), ("head", head)]
    said = tuple(f"on the {side}: {why[1]}" for side, why in sides if why is not None)
    return Comparison(State.VOID, evidence=said)


def absent(kpi_id: str) -> Comparison:
    """A KPI that the base has and the head has neither under its name nor under an alias; or a test of the base's."""
    return Comparison(State.REMOVED, evidence=(f"{kpi_id} is declared on the base and not on the head",))


def removed_row(kpi_id: str, found: Comparison) -> GateRow:
    """The row of what is :func:`absent`: of its points and runtime nothing is known any more."""
    return GateRow(
        kpi=kpi_id,
        params={},
        runtime="",
        workload=None,
        leg=Leg.MAIN,
        state=found.state,
        ratio=None,
        low=None,
        high=None,
        pairs=0,
        smallest_visible=None,
        alpha=None,
        off_cpu=None,
        functions=[],
        paths=[],
        evidence=list(found.evidence),
        warnings=[],
    )


def compare_counts(point: PlannedPoint, base: list[Mapping[str, Any]], head: list[Mapping[str, Any]]) -> Comparison:
    """Compare two tallies a side. A histogram is compared key by key; an invariant against what must hold."""
    kpi = point.kpi
    if kpi.estimand is Estimand.INVARIANT:
        return invariant(_values(base), _values(head))
    found = exact(_values(base), _values(head), 0.0, kpi.direction)
    if kpi.estimand is Estimand.HISTOGRAM and found.state is State.OK and base[0]["reasons"] != head[0]["reasons"]:
        return replace(found, state=State.REGRESSED, evidence=(*found.evidence, _apart(base[0], head[0])))
    return found


def _values(tallies: list[Mapping[str, Any]]) -> list[float]:
    return [
        tally["numerator"] if tally["denominator"] is None else tally["numerator"] / tally["denominator"]
        for tally in tallies
    ]


def _apart(base: Mapping[str, Any], head: Mapping[str, Any]) -> str:
    was, now = base["reasons"], head["reasons"]
    keys = [key for key in sorted({*was, *now}) if was.get(key, 0) != now.get(key, 0)]
    return "the histogram differs: " + ", ".join(f"{key} {was.get(key, 0)} -> {now.get(key, 0)}" for key in keys)


def timed_row(timed: TimedPoint, found: Comparison, **more: Any) -> GateRow:
    """The row of a timed point, with its waiting, and the injection said where there was one."""
    waiting = None
    if timed.pairs:
        base, head = waiting_ns(timed)
        there = found.state in (State.REGRESSED, State.IMPROVED) and off_cpu(timed, timed.judge.rule)
        waiting = OffCpu(base_ns=round(base, 3), head_ns=round(head, 3), there=there)
        if there:
            said = "the change is off the CPU: it waits, sleeps, does I/O or stands at a lock"
            notice = ComparisonNotice(ComparisonWarn.OFF_CPU, said)
            found = replace(found, warnings=(*found.warnings, notice))
    if timed.load is not None and timed.load.inject != 1.0:
        said = f"injected: the head ran {timed.load.truth:g} times the calls of the base; this row is a self-test"
        found = replace(found, evidence=(*found.evidence, said))
    return row_of(timed.point, found, waiting=waiting, **more)

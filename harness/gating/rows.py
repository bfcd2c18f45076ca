"""From what was seen and timed to rows, claims and the verdict. Computes nothing but the judge's own functions.

A point that fails on the base only is ``new`` (the base has not got what it needs); on the head, or on both, it is
void. What is left out on purpose (a skipped test, a seam that the runtime does not offer) is no failure: on both sides
nothing is owed for it, and on the head alone it has gone. A row of an exact KPI is counted twice a side, and what does
not repeat is demoted in plain sight.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.gating.deadline import ENDED, LATE
from harness.gating.points import GatePoints
from harness.gating.timed import TimedPoint, off_cpu, waiting_ns
from harness.jobs.plan import PlannedPoint
from harness.judge.exact import exact, invariant
from harness.judge.warming import first_value
from harness.record.gate import GateRow, OffCpu
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Estimand
from kpis.terms.reading import Leg

__all__ = [
    "LEFT_OUT",
    "absent",
    "compare_counts",
    "label",
    "removed_row",
    "restate",
    "row_of",
    "timed_row",
    "unmeasured",
]

LEFT_OUT = "left out on both sides: "
"""How the evidence of a ``new`` point begins for which nothing is owed because neither side has it."""

_NOT_OFFERED = "not-offered"
"""The reason of what is left out on purpose: a seam that is not offered, a test that is skipped."""


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
    """What a point is that a side cannot measure, from the (reason, detail) of each side; None where both can.

    ``inconclusive`` where the budget ended first, ``new`` where the base alone cannot or where both leave it out,
    ``removed`` where the head alone leaves it out, else void.
    """
    said = [(side, *why) for side, why in (("base", base), ("head", head)) if why is not None]
    late = next((detail for _, reason, detail in said if reason == LATE), None)
    if late is not None:
        return _out_of_budget(late)
    if head is None:
        return None if base is None else Comparison(State.NEW, evidence=(f"on the base: {base[1]}",))
    if head[0] == _NOT_OFFERED and base is None:
        return Comparison(State.REMOVED, evidence=(f"measured on the base and no longer on the head: {head[1]}",))
    details = dict.fromkeys(detail for _, _, detail in said)
    if all(reason == _NOT_OFFERED for _, reason, _ in said) and base is not None:
        return Comparison(State.NEW, evidence=(LEFT_OUT + " ".join(details),))
    if len(said) == 2 and len(details) == 1:
        return Comparison(State.VOID, evidence=(f"on both sides: {head[1]}",))
    return Comparison(State.VOID, evidence=tuple(f"on the {side}: {detail}" for side, _, detail in said))


def _out_of_budget(said: str) -> Comparison:
    notice = ComparisonNotice(ComparisonWarn.BUDGET, said)
    return Comparison(State.INCONCLUSIVE, evidence=(said,), warnings=(notice,))


def restate(
    points: GatePoints, rows: Sequence[GateRow], found: dict[str, Comparison], named: Collection[str]
) -> list[GateRow]:
    """Say the end of some points once all are known, in ``found`` and in the rows that come back.

    An invariant over what both sides leave out is left out, too; one that the budget cut off is inconclusive, not
    void; and what was asked for by its name (``named``: KPI ids) and left out is void, for it gave no number.
    """
    said: dict[str, Comparison] = {}
    for point in points.derived:
        name = label(point)
        inputs = [label(each) for each in points.inputs if each.kpi.id in point.kpi.inputs]
        gone = next((each for each in inputs if each in found and _left_out(found[each])), None)
        now = found.get(name)
        if now is None or now.state is not State.VOID:
            continue
        if gone is not None:
            said[name] = Comparison(State.NEW, evidence=(f"{LEFT_OUT}it is computed from {gone}.",))
        elif late := [text for text in now.evidence if ENDED in text]:
            said[name] = _out_of_budget(late[0][late[0].index(ENDED) :])
    for point in points.all:
        now = said.get(label(point)) or found.get(label(point))
        if point.kpi.id in named and now is not None and _left_out(now):
            said[label(point)] = replace(now, state=State.VOID)
    found |= said
    by_name = {(point.kpi.id, tuple(point.params.items())): said.get(label(point)) for point in points.all}
    return [_restated(row, by_name.get((row.kpi, tuple(row.params.items())))) for row in rows]


def _left_out(found: Comparison) -> bool:
    return found.state is State.NEW and found.evidence[:1] != () and found.evidence[0].startswith(LEFT_OUT)


def _restated(row: GateRow, found: Comparison | None) -> GateRow:
    if found is None or row.leg is not Leg.MAIN:
        return row
    return replace(row, state=found.state, evidence=list(found.evidence), warnings=list(found.warnings))


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
    for side, logs in zip(("base", "head"), zip(*timed.first, strict=True), strict=False):
        if (cold := first_value(side, logs)) is not None:
            found = replace(found, warnings=(*found.warnings, cold))
    if timed.load is not None and timed.load.inject != 1.0:
        said = f"injected: the head ran {timed.load.truth:g} times the calls of the base; this row is a self-test"
        found = replace(found, evidence=(*found.evidence, said))
    return row_of(timed.point, found, waiting=waiting, **more)

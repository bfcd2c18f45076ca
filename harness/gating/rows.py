"""From what was seen and timed to rows, claims and the verdict. Computes nothing but the judge's own functions.

A point that fails on the base only is ``new`` (the base has not got what it needs); on the head, or on both, it is
void. What is left out on purpose (a skipped test, a seam that the runtime does not offer) is no failure: on both sides
nothing is owed for it, and on the head alone it has gone. A row of an exact KPI is counted twice a side, and what does
not repeat is demoted in plain sight. States travel as codes; a sentence is for people and is never read back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.gating.deadline import LATE
from harness.gating.points import GatePoints
from harness.gating.timed import TimedPoint, off_cpu, waiting_ns
from harness.jobs.plan import PlannedPoint, named
from harness.judge.exact import exact, invariant
from harness.judge.warming import first_value
from harness.record.gate import GateRow, OffCpu
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Estimand
from kpis.terms.reading import Leg, Reason

__all__ = [
    "compare_counts",
    "label",
    "left_out",
    "out_of_budget",
    "restate",
    "row_of",
    "timed_row",
    "unmeasured",
]

_NOT_OFFERED = Reason.NOT_OFFERED.value
"""The reason of what is left out on purpose: a seam that is not offered, a test that is skipped."""


def label(point: PlannedPoint) -> str:
    """How a person and ``--inject`` name a point: ``kpi`` or ``kpi[k=v,...]``."""
    return named(point.kpi.id, point.params)


def left_out(found: Comparison | GateRow) -> str | None:
    """Why nothing is owed for a point that neither side has; None for every other one."""
    said = (notice.message for notice in found.warnings if notice.code is ComparisonWarn.LEFT_OUT)
    return next(said, None) if found.state is State.NEW else None


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
        return out_of_budget(late)
    if head is None:
        return None if base is None else Comparison(State.NEW, evidence=(f"on the base: {base[1]}",))
    if head[0] == _NOT_OFFERED and base is None:
        return Comparison(State.REMOVED, evidence=(f"measured on the base and no longer on the head: {head[1]}",))
    details = dict.fromkeys(detail for _, _, detail in said)
    if all(reason == _NOT_OFFERED for _, reason, _ in said) and base is not None:
        why = " ".join(details)
        notice = ComparisonNotice(ComparisonWarn.LEFT_OUT, why)
        return Comparison(State.NEW, evidence=(f"left out on both sides: {why}",), warnings=(notice,))
    if len(said) == 2 and len(details) == 1:
        return Comparison(State.VOID, evidence=(f"on both sides: {head[1]}",))
    return Comparison(State.VOID, evidence=tuple(f"on the {side}: {detail}" for side, _, detail in said))


def out_of_budget(said: str) -> Comparison:
    """A point that the budget cut off before anything was compared."""
    notice = ComparisonNotice(ComparisonWarn.BUDGET, said)
    return Comparison(State.INCONCLUSIVE, evidence=(said,), warnings=(notice,))


def restate(
    points: GatePoints,
    rows: Sequence[GateRow],
    found: dict[str, Comparison],
    asked: Collection[str],
    hidden: Callable[[str], str | None] = lambda _kpi: None,
) -> list[GateRow]:
    """Say the end of some points once all are known, in ``found`` and in the rows that come back.

    What was asked for by its name (``asked``: ids of KPIs) and is left out on both sides is void: it gave no number.
    ``hidden`` says why a left out one is no longer measured although the base measured it; then it is removed.
    """
    said: dict[str, Comparison] = {}
    for point in points.all:
        now = found.get(label(point))
        if now is None or left_out(now) is None:
            continue
        if (why := hidden(point.kpi.id)) is not None:
            said[label(point)] = Comparison(State.REMOVED, evidence=(why,))
        elif point.kpi.id in asked:
            said[label(point)] = replace(now, state=State.VOID)
    found |= said
    return [_restated(row, said.get(named(row.kpi, row.params))) for row in rows]


def _restated(row: GateRow, found: Comparison | None) -> GateRow:
    if found is None or row.leg is not Leg.MAIN:
        return row
    return replace(row, state=found.state, evidence=list(found.evidence), warnings=list(found.warnings))


def compare_counts(point: PlannedPoint, base: list[Mapping[str, Any]], head: list[Mapping[str, Any]]) -> Comparison:
    """Compare two tallies a side. A histogram is compared key by key; an invariant against what must hold.

    A histogram must repeat key by key on its own side, too: an equal sum over other keys is no repetition.
    """
    kpi = point.kpi
    if kpi.estimand is Estimand.INVARIANT:
        return invariant(_values(base), _values(head))
    found = exact(_values(base), _values(head), 0.0, kpi.direction)
    if kpi.estimand is not Estimand.HISTOGRAM or found.state is State.INCONCLUSIVE:
        return found
    for side, (first, again) in (("base", base), ("head", head)):
        if (apart := _apart(first, again)) is not None:
            said = f"{side} counted {apart} for the same code: not exact here, so it decides nothing."
            notice = ComparisonNotice(ComparisonWarn.DEMOTED, said)
            return Comparison(State.INCONCLUSIVE, pairs=found.pairs, evidence=(said,), warnings=(notice,))
    if found.state is State.OK and (apart := _apart(base[0], head[0])) is not None:
        return replace(found, state=State.REGRESSED, evidence=(*found.evidence, f"the histogram differs: {apart}"))
    return found


def _values(tallies: list[Mapping[str, Any]]) -> list[float]:
    return [
        tally["numerator"] if tally["denominator"] is None else tally["numerator"] / tally["denominator"]
        for tally in tallies
    ]


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """The keys that two histograms count differently, with both counts; None where there are none."""
    was, now = one["reasons"], other["reasons"]
    keys = [key for key in sorted({*was, *now}) if was.get(key, 0) != now.get(key, 0)]
    return ", ".join(f"{key} {was.get(key, 0)} -> {now.get(key, 0)}" for key in keys) or None


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
    return replace(row_of(timed.point, found, waiting=waiting, **more), delta=timed.judge.rule.delta)

"""Recorded runs against their record: every metric with a better direction is exact, worse by one is a failure.

Sums and peaks compare only where as many runs are compared as are on record; ratios of sums compare always. What is a
bound only cannot be held against anything and is unknown; so is a share of fewer judged attempts than on record, and
everything where something could not be read. A correctness gate is held against its target, whatever is on record:
violated fails. One that is open is unknown, unless it was so when the record was accepted: what nobody has ever checked
is said and not owed. Unknown never passes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.jobs.replay_gated import GatedMetric, gated_metrics
from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.exact import exact
from harness.record.replay import Replayed
from harness.record.replay_baseline import BOUND, Recorded, ReplayBaseline, encode
from kpis.formulas.context.gates import GateState
from kpis.formulas.recorded.stated import is_bound
from kpis.recorded_metrics import load
from kpis.terms.claim import Claim, Evidence, Verdict
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Gate
from kpis.terms.metric import Metric

__all__ = ["GateRow", "Gated", "gate"]

_UNSURE = (State.OK, State.UNCHANGED, State.IMPROVED)
"""What cannot be said where something was not read: it may hide what is worse."""


@dataclass(frozen=True, slots=True)
class GateRow:
    """One metric: what is on record, what it is now, and how the two compare."""

    metric_id: str
    recorded: Recorded | None
    measured: Metric | None
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Gated:
    """All rows, the claims that they are, and the verdict."""

    rows: tuple[GateRow, ...]
    claims: tuple[Claim, ...]
    verdict: Verdict


def gate(result: Replayed, baseline: ReplayBaseline | None) -> Gated:
    """Hold ``result`` against ``baseline``; without one every row is without a baseline."""
    found, known, lost = gated_metrics(result), load(), len(result.errors)
    recorded: Mapping[str, Recorded] = {} if baseline is None else baseline.metrics
    rows = []
    for name in [*found, *(name for name in recorded if name not in found)]:
        comparison = _compared(found.get(name), recorded.get(name), baseline)
        if lost and comparison.state in _UNSURE:
            said = f"{lost:,} {'fault' if lost == 1 else 'faults'} of what was read: not all of it is known"
            comparison = replace(comparison, state=State.INCONCLUSIVE, evidence=(said, *comparison.evidence))
        metric = found[name].metric if name in found else None
        rows.append(GateRow(name, recorded.get(name), metric, comparison))
    comparisons = {row.metric_id: row.comparison for row in rows}
    artifact = None if baseline is None else hashlib.sha256(encode(baseline)).hexdigest()
    claims = tuple(
        claim_of(
            row.metric_id,
            row.comparison,
            Gate.EXACT,
            known[row.metric_id].direction if row.metric_id in known else Direction.NEUTRAL,
            evidence=() if row.recorded is None else (Evidence(artifact, f"/metric/{row.metric_id}", None),),
        )
        for row in rows
    )
    return Gated(tuple(rows), claims, compose(claims, coverage_of(comparisons)))


def _compared(found: GatedMetric | None, recorded: Recorded | None, baseline: ReplayBaseline | None) -> Comparison:
    if found is None:
        return Comparison(State.REMOVED, evidence=("on record, and no metric of this name is computed now",))
    if found.gate is GateState.VIOLATED:
        return Comparison(State.REGRESSED, evidence=(f"violated{_runs(found)}: {found.target}",))
    if baseline is None:
        return Comparison(State.NO_BASELINE, evidence=("nothing is on record",))
    if found.gate is not None:
        if found.gate is GateState.OPEN:
            said = f"open{_runs(found)}: {_why(found.metric)}"
            if recorded is not None and recorded.value is None:
                return Comparison(State.UNCHANGED, evidence=(f"{said}; it was so on record",))
            return Comparison(State.VOID, evidence=(said,))
        return Comparison(State.OK, evidence=(f"satisfied: {found.target}",))
    if recorded is None:
        return Comparison(State.NEW, evidence=("not on record yet",))
    if not found.comparable(baseline):
        many = f"{baseline.contexts:,} context runs" if found.of_contexts else f"{baseline.runs:,}"
        return Comparison(State.NO_BASELINE, evidence=(f"another number of runs than the {many} on record",))
    return _held(found, recorded)


def _held(found: GatedMetric, recorded: Recorded) -> Comparison:
    """What may be compared: known, a bound or undefined, now and on record."""
    metric, bound = found.metric, is_bound(found.metric)
    if metric.value is None:
        if recorded.value is None and recorded.undefined != BOUND:
            return Comparison(State.UNCHANGED, evidence=(f"undefined now and on record: {metric.undefined}",))
        return Comparison(State.VOID, evidence=(f"undefined now: {metric.undefined}",))
    if recorded.value is None:
        if bound and recorded.undefined == BOUND:
            return Comparison(State.UNCHANGED, evidence=("a bound now and on record: not compared",))
        return Comparison(State.NEW, evidence=(f"was undefined: {recorded.undefined}",))
    if bound:
        return Comparison(State.INCONCLUSIVE, evidence=("a bound only: the recordings do not say all of it",))
    if recorded.of is not None and (found.of or 0) < recorded.of:
        said = f"of {found.of or 0:,} judged or scored attempts, and {recorded.of:,} were on record"
        return Comparison(State.VOID, evidence=(said,))
    return exact([recorded.value, recorded.value], [metric.value, metric.value], 0.0, found.row.direction)


def _why(metric: Metric) -> str:
    return metric.undefined or "it was not checked in every run"


def _runs(found: GatedMetric) -> str:
    """In how many runs the gate stands so, where there are several."""
    return f" in {found.so:,} of {found.runs:,} runs" if found.runs > 1 else ""

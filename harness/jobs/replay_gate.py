"""Recorded runs against their record: every metric with a better direction is exact, worse by one is a failure.

Sums and peaks compare only where as many runs are compared as are on record; ratios of sums compare always. What is a
lower bound only cannot be held against anything and is unknown; unknown never passes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.exact import exact
from harness.record.replay import Replayed
from harness.record.replay_baseline import Recorded, ReplayBaseline
from kpis.formulas.recorded.evaluate import metrics
from kpis.recorded_metrics import load
from kpis.terms.claim import Claim, Verdict
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Gate
from kpis.terms.metric import Combine, Metric, MetricKind, MetricRow

__all__ = ["GateRow", "Gated", "accepted", "gate"]

_PER_RUN = (Combine.SUM, Combine.MAX, Combine.POOLED, Combine.NONE)


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


def _gates(row: MetricRow) -> bool:
    return row.direction is not Direction.NEUTRAL and row.kind in (MetricKind.GATE, MetricKind.KPI)


def gate(result: Replayed, baseline: ReplayBaseline | None) -> Gated:
    """Hold ``result`` against ``baseline``; without one every row is without a baseline."""
    found, known = metrics(result.parts), load()
    recorded: Mapping[str, Recorded] = {} if baseline is None else baseline.metrics
    wanted = [name for name in found if name in known and _gates(known[name])]
    wanted += [name for name in recorded if name not in wanted]
    same = baseline is not None and baseline.runs == len(result.runs)
    rows = []
    for name in wanted:
        metric, row = found.get(name), known.get(name)
        comparison = _compared(recorded.get(name), metric, row, baseline, same=same)
        rows.append(GateRow(name, recorded.get(name), metric, comparison))
    comparisons = {row.metric_id: row.comparison for row in rows}
    claims = tuple(
        claim_of(
            row.metric_id,
            row.comparison,
            Gate.EXACT,
            known[row.metric_id].direction if row.metric_id in known else Direction.NEUTRAL,
        )
        for row in rows
    )
    return Gated(tuple(rows), claims, compose(claims, coverage_of(comparisons)))


def _compared(
    recorded: Recorded | None,
    metric: Metric | None,
    row: MetricRow | None,
    baseline: ReplayBaseline | None,
    *,
    same: bool,
) -> Comparison:
    if metric is None or row is None:
        return Comparison(State.REMOVED, evidence=("on record, and no metric of this name is computed now",))
    if baseline is None:
        return Comparison(State.NO_BASELINE, evidence=("nothing is on record",))
    if recorded is None:
        return Comparison(State.NEW, evidence=("not on record yet",))
    if row.combine in _PER_RUN and not same:
        return Comparison(State.NO_BASELINE, evidence=(f"another number of runs than the {baseline.runs:,} on record",))
    if metric.value is None:
        if recorded.value is None:
            return Comparison(State.UNCHANGED, evidence=(f"undefined now and on record: {metric.undefined}",))
        return Comparison(State.VOID, evidence=(f"undefined now: {metric.undefined}",))
    if metric.low is not None:
        return Comparison(State.INCONCLUSIVE, evidence=("a bound only: the recordings do not say all of it",))
    if recorded.value is None:
        return Comparison(State.NEW, evidence=(f"was undefined: {recorded.undefined}",))
    return exact([recorded.value, recorded.value], [metric.value, metric.value], 0.0, row.direction)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The new record, and the metrics that would move for the worse and were not named."""

    baseline: ReplayBaseline
    refused: tuple[str, ...]


def accepted(
    result: Replayed, before: ReplayBaseline | None, named: Collection[str] = (), why: str | None = None
) -> Accepted:
    """``result`` put on record. What is worse than before moves only where it is ``named``, with the reason ``why``.

    A bound is not put on record. A record of another number of runs is begun anew.
    """
    known = load()
    old: Mapping[str, Recorded] = before.metrics if before is not None and before.runs == len(result.runs) else {}
    rows: dict[str, Recorded] = {}
    refused = []
    for name, metric in metrics(result.parts).items():
        row = known.get(name)
        if row is None or not _gates(row) or (metric.value is not None and metric.low is not None):
            continue
        was, now = old.get(name), Recorded(metric.value, metric.undefined)
        if was is not None and _worse(was, now, row.direction):
            if name not in named:
                refused.append(name)
                now = was
            else:
                now = Recorded(now.value, now.undefined, why)
        elif was is not None and (was.value, was.undefined) == (now.value, now.undefined):
            now = was
        rows[name] = now
    return Accepted(ReplayBaseline(len(result.runs), rows), tuple(refused))


def _worse(was: Recorded, now: Recorded, direction: Direction) -> bool:
    if was.value is None or now.value is None:
        return was.value is not None
    return now.value > was.value if direction is Direction.LOWER else now.value < was.value

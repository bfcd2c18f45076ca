"""What a record of recorded runs holds: the metrics that have a better direction, and the gates of correctness.

Of a transcript these are metrics of its sums. Runs that were recorded for their context have their own, combined by the
rule of each row; a gate of theirs stands as the worst run does. Refuses to call comparable what is a sum over another
number of runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.record.replay import Replayed
from harness.record.replay_baseline import ReplayBaseline
from kpis.formulas.context.gates import GateState
from kpis.formulas.recorded.evaluate import metrics
from kpis.recorded_metrics import load
from kpis.terms.kpi import Direction
from kpis.terms.metric import Combine, Metric, MetricKind, MetricRow

__all__ = ["GatedMetric", "gated_metrics", "is_gated"]


@dataclass(frozen=True, slots=True)
class GatedMetric:
    """One metric of ``runs`` runs that is held against a record.

    ``of`` is how many judged or scored attempts it rests on, of a metric that rests on some of them only. ``gate`` is
    how a correctness gate stands, and ``so`` in how many runs it stands so.
    """

    row: MetricRow
    metric: Metric
    runs: int
    of_contexts: bool = False
    of: int | None = None
    gate: GateState | None = None
    so: int = 0

    @property
    def target(self) -> str:
        """The target of a gate, beside its value if that is known."""
        value = self.metric.value if self.metric.value is not None else self.metric.low
        beside = "" if value is None else f"{value:g}, and "
        return f"{beside}the target is {self.row.target:g}"

    def comparable(self, baseline: ReplayBaseline) -> bool:
        """Whether it may be held against ``baseline``: a ratio of sums always, all else over as many runs only."""
        then = baseline.contexts if self.of_contexts else baseline.runs
        return self.row.combine is Combine.RATIO_OF_SUMS or then == self.runs


def gated_metrics(result: Replayed) -> dict[str, GatedMetric]:
    """What of ``result`` is gated, by id in the order of a page."""
    known = load()
    found = {
        name: GatedMetric(known[name], metric, len(result.runs), of=_rests_on(metric))
        for name, metric in metrics(result.parts).items()
        if name in known and is_gated(known[name])
    }
    return found | _contexts(result)


def is_gated(row: MetricRow) -> bool:
    """Whether metrics of ``row`` stand on a record: they have a better direction, and are no mere signal or volume."""
    return row.direction is not Direction.NEUTRAL and row.kind in (MetricKind.GATE, MetricKind.KPI)


def _rests_on(metric: Metric) -> int | None:
    """Attempts that were judged, or that have a score; runs may lose either without any other number moving."""
    if metric.id == "success_ratio":
        return int(metric.denominator or 0)
    return int(metric.detail.get("scored", 0)) if metric.id == "score_per_action" else None


def _contexts(result: Replayed) -> dict[str, GatedMetric]:
    results = result.contexts
    if not results:
        return {}
    from harness.record.replay_context import combined, gates_of, state_of  # few recordings need what is behind it

    known, gates = load(), gates_of(results)
    found = {}
    for name, metric in combined(results).items():
        row = known[name]
        if not is_gated(row):
            continue
        state = state_of(gates[name]) if name in gates else None
        so = 0 if state is None else gates[name][state]
        of = int(metric.denominator or 0) if name == "success" else None
        found[name] = GatedMetric(row, metric, len(results), True, of, state, so)
    return found

"""Two arms of recorded runs side by side: sums of each, and what pairs of runs of one case differ by.

Runs pair by case and replicate; what has no partner is counted and takes no part. Differences come with a seeded
bootstrap interval, wins and losses with a tie band, successes as a table of who passed where. Refuses to make one
number of several metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.record.replay import Replayed, RunResult
from kpis.formulas.context.gates import GateState
from kpis.formulas.context.percentile import percentile
from kpis.formulas.paired.bootstrap import Interval, bootstrap
from kpis.formulas.paired.disagreement import Disagreement, PassedRun, disagreement
from kpis.formulas.paired.noninferiority import non_inferior
from kpis.formulas.paired.tally import Tally, tally
from kpis.formulas.recorded.evaluate import metrics
from kpis.recorded_metrics import row_of
from kpis.terms.kpi import Direction
from kpis.terms.metric import Metric, MetricRow

__all__ = ["Compared", "MetricPair", "compare", "metric_pair"]

CaseKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class MetricPair:
    """One metric of both arms. ``deltas`` are candidate less reference of the pairs in which both have a value."""

    row: MetricRow
    reference: Metric
    candidate: Metric
    deltas: tuple[float, ...]
    median: float | None
    interval: Interval | None
    tally: Tally | None
    pairs: int


@dataclass(frozen=True, slots=True)
class Compared:
    """Both arms. ``successes`` is None where no pair was judged in both."""

    runs: tuple[int, int]
    pairs: int
    unpaired: int
    metrics: tuple[MetricPair, ...]
    successes: Disagreement | None
    non_inferior: GateState


def compare(reference: Replayed, candidate: Replayed) -> Compared:
    """Hold ``candidate`` against ``reference``."""
    theirs, ours = _keyed(reference.runs), _keyed(candidate.runs)
    keys = sorted(theirs.keys() & ours.keys())
    before = {key: metrics(theirs[key].parts) for key in keys}
    after = {key: metrics(ours[key].parts) for key in keys}
    whole, other = metrics(reference.parts), metrics(candidate.parts)
    table = disagreement(_passed(ours), _passed(theirs))
    return Compared(
        runs=(len(reference.runs), len(candidate.runs)),
        pairs=len(keys),
        unpaired=len(reference.runs) + len(candidate.runs) - 2 * len(keys),
        metrics=tuple(
            metric_pair(whole[name], other[name], [(before[key][name], after[key][name]) for key in keys])
            for name in whole
            if name in other
        ),
        successes=table if table.pairs else None,
        non_inferior=non_inferior(table),
    )


def metric_pair(reference: Metric, candidate: Metric, pairs: Sequence[tuple[Metric, Metric]]) -> MetricPair:
    """One metric of both arms as wholes, and what ``pairs`` of its runs (reference, candidate) differ by."""
    row = row_of(reference.id)
    known = [(one.value, two.value) for one, two in pairs if one.value is not None and two.value is not None]
    deltas = tuple(float(two - one) for one, two in known)
    if row.direction is Direction.NEUTRAL or not known:
        wins = None
    elif row.direction is Direction.LOWER:
        wins = tally([two for _, two in known], [one for one, _ in known])
    else:  # a tally counts lower as a win, so the arms change places
        wins = tally([one for one, _ in known], [two for _, two in known])
    return MetricPair(row, reference, candidate, deltas, percentile(deltas, 50), bootstrap(deltas), wins, len(known))


def _keyed(runs: Sequence[RunResult]) -> dict[CaseKey, RunResult]:
    """Runs by case and replicate. Runs of a case without a replicate are numbered in their order."""
    found: dict[CaseKey, RunResult] = {}
    numbered: Counter[str] = Counter()
    for run in runs:
        named = next(((facts.case_id, facts.replicate) for facts in run.facts if facts.case_id is not None), None)
        if named is None or named[0] is None:
            continue
        case, replicate = named
        at = numbered[case] if replicate is None else replicate
        numbered[case] += 1
        found.setdefault((case, at), run)
    return found


def _passed(runs: Mapping[CaseKey, RunResult]) -> list[PassedRun]:
    judged = [(key, run.parts.efficiency) for key, run in runs.items()]
    return [PassedRun(key[0], key[1], parts.succeeded == 1) for key, parts in judged if parts.judged]

"""Two arms of recorded runs side by side: sums of each, and what pairs of runs of one case differ by.

Attempts pair by case and replicate; what has no partner is counted and takes no part. Runs pair where they hold the
same attempts: nearly always one, and of a file with several the metrics are of all together. Differences come with a
seeded bootstrap interval, wins and losses with a tie band, successes as a table of who passed where. Refuses to make
one number of several metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.jobs.replay_pairs import Arm, CaseKey
from kpis.formulas.context.gates import GateState
from kpis.formulas.context.percentile import percentile
from kpis.formulas.paired.bootstrap import Interval, bootstrap
from kpis.formulas.paired.disagreement import Disagreement, PassedRun, disagreement
from kpis.formulas.paired.noninferiority import non_inferior, undecided
from kpis.formulas.paired.tally import Tally, tally
from kpis.formulas.recorded.evaluate import metrics
from kpis.recorded_metrics import row_of
from kpis.terms.kpi import Direction
from kpis.terms.metric import Metric, MetricRow

__all__ = ["Compared", "MetricPair", "PassedWhere", "compare", "metric_pair", "passed_where"]


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
class PassedWhere:
    """Who passed where, over the pairs that are judged in both arms.

    ``unjudged`` counts pairs that are not, ``undecided`` those of them that keep the gate ``non_inferior`` open.
    ``alone`` are judged attempts that have no partner at all.
    """

    table: Disagreement
    unjudged: int
    undecided: int
    alone: int
    non_inferior: GateState


@dataclass(frozen=True, slots=True)
class Compared:
    """Both arms, the reference first. ``pairs`` are of attempts; ``within`` of them lie in ``run_pairs`` pairs of runs.

    ``repeated`` attempts share case and replicate with another of their arm.
    """

    runs: tuple[int, int]
    pairs: int
    unpaired: int
    repeated: int
    run_pairs: int
    within: int
    metrics: tuple[MetricPair, ...]
    passed: PassedWhere


def compare(reference: Arm, candidate: Arm) -> Compared:
    """Hold ``candidate`` against ``reference``."""
    shared = reference.verdicts.keys() & candidate.verdicts.keys()
    runs = sorted(reference.runs.keys() & candidate.runs.keys(), key=sorted)
    before = [metrics(reference.runs[each].parts) for each in runs]
    after = [metrics(candidate.runs[each].parts) for each in runs]
    whole, other = metrics(reference.result.parts), metrics(candidate.result.parts)
    return Compared(
        runs=(len(reference.result.runs), len(candidate.result.runs)),
        pairs=len(shared),
        unpaired=reference.attempts + candidate.attempts - 2 * len(shared),
        repeated=reference.repeated + candidate.repeated,
        run_pairs=len(runs),
        within=sum(map(len, runs)),
        metrics=tuple(
            metric_pair(
                whole[name], other[name], [(one[name], two[name]) for one, two in zip(before, after, strict=True)]
            )
            for name in whole
            if name in other
        ),
        passed=passed_where(
            [(key, passed) for key, passed in reference.verdicts.items()],
            [(key, passed) for key, passed in candidate.verdicts.items()],
        ),
    )


def passed_where(
    reference: Sequence[tuple[CaseKey, bool | None]], candidate: Sequence[tuple[CaseKey, bool | None]]
) -> PassedWhere:
    """Both arms by what identifies a pair, each key once in an arm; None where nobody judged."""
    theirs, ours = dict(reference), dict(candidate)
    pairs = [(theirs[key], ours[key]) for key in theirs if key in ours]
    table = disagreement(_judged(candidate), _judged(reference))
    open_pairs = undecided(pairs)
    alone = [
        passed for arm, other in ((theirs, ours), (ours, theirs)) for key, passed in arm.items() if key not in other
    ]
    return PassedWhere(
        table,
        len(pairs) - table.pairs,
        open_pairs,
        sum(passed is not None for passed in alone),
        non_inferior(table, undecided_pairs=open_pairs),
    )


def _judged(arm: Sequence[tuple[CaseKey, bool | None]]) -> list[PassedRun]:
    return [PassedRun(*key, passed) for key, passed in arm if passed is not None]


def metric_pair(reference: Metric, candidate: Metric, pairs: Sequence[tuple[Metric, Metric]]) -> MetricPair:
    """One metric of both arms as wholes, and what ``pairs`` of its runs (reference, candidate) differ by."""
    row = row_of(reference.id)
    known = [(one.value, two.value) for one, two in pairs if one.value is not None and two.value is not None]
    deltas = tuple(float(two - one) for one, two in known)
    wins = None
    if known and row.direction is not Direction.NEUTRAL:
        wins = tally([two for _, two in known], [one for one, _ in known], better=row.direction)
    return MetricPair(row, reference, candidate, deltas, percentile(deltas, 50), bootstrap(deltas), wins, len(known))

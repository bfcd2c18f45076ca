"""Puts recorded runs on record: what is better moves by itself, what is worse by its name and with a reason only.

What is known and turns into a bound, or into nothing, is worse. Over another number of runs only ratios of sums can be
worse, since sums and peaks then are of something else. Refuses nothing by itself: who calls must not accept what could
not be read whole.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from harness.jobs.replay_gated import GatedMetric, gated_metrics
from harness.record.replay import Replayed
from harness.record.replay_baseline import BOUND, Recorded, ReplayBaseline
from kpis.formulas.recorded.stated import is_bound
from kpis.terms.kpi import Direction

__all__ = ["Accepted", "accepted"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The new record, and the metrics that would move for the worse and were not named."""

    baseline: ReplayBaseline
    refused: tuple[str, ...]


def accepted(
    result: Replayed, before: ReplayBaseline | None, named: Collection[str] = (), why: str | None = None
) -> Accepted:
    """``result`` put on record. What is worse than before moves only where it is ``named``, with the reason ``why``.

    A bound stands on record as one, without a value. What cannot be compared with a record of another number of runs
    is begun anew.
    """
    rows: dict[str, Recorded] = {}
    refused = []
    for name, found in gated_metrics(result).items():
        was = before.metrics.get(name) if before is not None and found.comparable(before) else None
        now = _recorded(found)
        if was is not None and before is not None and _worse(was, now, found, before):
            if name not in named:
                refused.append(name)
                now = was
            else:
                now = replace(now, why=why)
        elif was is not None and replace(was, why=None) == now:
            now = was
        rows[name] = now
    return Accepted(ReplayBaseline(len(result.runs), rows, len(result.contexts)), tuple(refused))


def _recorded(found: GatedMetric) -> Recorded:
    metric = found.metric
    if metric.value is not None and is_bound(metric):
        return Recorded(None, BOUND)
    return Recorded(metric.value, metric.undefined, of=found.of if metric.value is not None else None)


def _worse(was: Recorded, now: Recorded, found: GatedMetric, before: ReplayBaseline) -> bool:
    """Whether it moves for the worse: by its direction, by being lost, or by resting on less of as many runs."""
    if now.value is None:
        return was.value is not None or (was.undefined == BOUND and now.undefined != BOUND)
    if was.value is None:
        return False
    if was.of is not None and (now.of or 0) < was.of and found.runs == before.runs:
        return True
    return now.value > was.value if found.row.direction is Direction.LOWER else now.value < was.value

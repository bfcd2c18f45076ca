"""Two arms of runs that were recorded for their context: gates counted apart, and what pairs of runs differ by.

Runs pair by case and replicate, and those that share them with another of their arm pair with nothing. A pair whose
models, tokenizers, windows or concurrency differ is no pair: what its tokens differ by says nothing of the arms. How
often there was an answer is a gate of its own. Refuses to take a difference of a correctness gate, which is a filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.jobs.replay_compare import MetricPair, PassedWhere, metric_pair, passed_where
from harness.jobs.replay_pairs import CaseKey
from harness.record.replay_context import CONDITIONS, ContextResult, combined, gates_of
from kpis.formulas.context.gates import GateState
from kpis.formulas.context.values import Ratio
from kpis.formulas.paired.noninferiority import availability_gate
from kpis.terms.metric import Metric

__all__ = ["ComparedContexts", "compare_contexts"]


@dataclass(frozen=True, slots=True)
class ComparedContexts:
    """Both arms, the reference first. ``unlike`` pairs differ in ``conditions`` and take no part in differences.

    ``gates`` are by id the runs of each arm in each state. ``passed`` is of the pairs that take part.
    """

    runs: tuple[int, int]
    pairs: int
    unpaired: int
    unlike: int
    conditions: tuple[str, ...]
    gates: Mapping[str, tuple[Mapping[GateState, int], Mapping[GateState, int]]]
    metrics: tuple[MetricPair, ...]
    passed: PassedWhere
    available: GateState


def compare_contexts(reference: Sequence[ContextResult], candidate: Sequence[ContextResult]) -> ComparedContexts:
    """Hold ``candidate`` against ``reference``, each of at least one run."""
    theirs, ours = _keyed(reference), _keyed(candidate)
    both = sorted(theirs.keys() & ours.keys())
    apart = {key: _apart(theirs[key], ours[key]) for key in both}
    keys = [key for key in both if not apart[key]]
    gates = gates_of(reference), gates_of(candidate)
    whole, other = combined(reference), combined(candidate)
    return ComparedContexts(
        runs=(len(reference), len(candidate)),
        pairs=len(keys),
        unpaired=len(reference) + len(candidate) - 2 * len(both),
        unlike=len(both) - len(keys),
        conditions=tuple(name for name in CONDITIONS if any(name in each for each in apart.values())),
        gates={name: (gates[0][name], gates[1][name]) for name in gates[0]},
        metrics=tuple(
            metric_pair(
                whole[name], other[name], [(theirs[key].metrics[name], ours[key].metrics[name]) for key in keys]
            )
            for name in whole
            if name in other and name not in gates[0]
        ),
        passed=passed_where(_passed(theirs, keys), _passed(ours, keys)),
        available=availability_gate(_available(other), _available(whole)),
    )


def _keyed(results: Iterable[ContextResult]) -> dict[CaseKey, ContextResult]:
    """Runs by case and replicate, where only one has them."""
    keyed = [((result.run.header.case_id, result.run.header.replicate), result) for result in results]
    seen = Counter(key for key, _ in keyed)
    return {key: result for key, result in keyed if seen[key] == 1}


def _apart(one: ContextResult, other: ContextResult) -> list[str]:
    return [name for name in CONDITIONS if getattr(one.run.header, name) != getattr(other.run.header, name)]


def _passed(runs: Mapping[CaseKey, ContextResult], keys: Iterable[CaseKey]) -> list[tuple[CaseKey, bool | None]]:
    told = [(key, runs[key].metrics["success"].value) for key in keys]
    return [(key, None if value is None else value == 1) for key, value in told]


def _available(found: Mapping[str, Metric]) -> Ratio:
    metric = found["availability"]
    return Ratio(metric.numerator or 0, metric.denominator or 0, metric.value, metric.undefined)

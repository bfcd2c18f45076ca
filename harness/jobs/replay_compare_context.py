"""Two arms of runs that were recorded for their context: gates counted apart, and what pairs of runs differ by.

Runs pair by case and replicate. A pair whose models, tokenizers, windows or concurrency differ is no pair: what its
tokens differ by says nothing of the arms. Refuses to take a difference of a correctness gate, which is a filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.jobs.replay_compare import MetricPair, metric_pair
from harness.record.replay_context import CONDITIONS, ContextResult, combined, gates_of
from kpis.formulas.context.gates import GateState
from kpis.formulas.paired.disagreement import Disagreement, PassedRun, disagreement

__all__ = ["ComparedContexts", "compare_contexts"]

_Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class ComparedContexts:
    """Both arms, the reference first. ``unlike`` pairs differ in ``conditions`` and take no part in differences.

    ``gates`` are by id the runs of each arm in each state. ``successes`` is None where no pair was judged in both.
    """

    runs: tuple[int, int]
    pairs: int
    unpaired: int
    unlike: int
    conditions: tuple[str, ...]
    gates: Mapping[str, tuple[Mapping[GateState, int], Mapping[GateState, int]]]
    metrics: tuple[MetricPair, ...]
    successes: Disagreement | None


def compare_contexts(reference: Sequence[ContextResult], candidate: Sequence[ContextResult]) -> ComparedContexts:
    """Hold ``candidate`` against ``reference``, each of at least one run."""
    theirs, ours = _keyed(reference), _keyed(candidate)
    both = sorted(theirs.keys() & ours.keys())
    apart = {key: _apart(theirs[key], ours[key]) for key in both}
    keys = [key for key in both if not apart[key]]
    gates = gates_of(reference), gates_of(candidate)
    whole, other = combined(reference), combined(candidate)
    table = disagreement(_passed(ours, keys), _passed(theirs, keys))
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
        successes=table if table.pairs else None,
    )


def _keyed(results: Iterable[ContextResult]) -> dict[_Key, ContextResult]:
    """Runs by case and replicate, of several alike the first."""
    found: dict[_Key, ContextResult] = {}
    for result in results:
        found.setdefault((result.run.header.case_id, result.run.header.replicate), result)
    return found


def _apart(one: ContextResult, other: ContextResult) -> list[str]:
    return [name for name in CONDITIONS if getattr(one.run.header, name) != getattr(other.run.header, name)]


def _passed(runs: Mapping[_Key, ContextResult], keys: Iterable[_Key]) -> list[PassedRun]:
    judged = [(key, runs[key].metrics["success"].value) for key in keys]
    return [PassedRun(*key, value == 1) for key, value in judged if value is not None]

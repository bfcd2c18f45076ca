"""What runs that were recorded for their context came to: each, and all of them together.

A correctness gate of many runs stands as its worst run does and is counted, never averaged. A run that several files
show counts once. Refuses to combine by any rule but that of a metric's row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kpis.formulas.context.gates import GateState, gate_state, together
from kpis.recorded_combine import combine
from kpis.recorded_metrics import load
from kpis.terms.context_run import ContextRun
from kpis.terms.metric import Combine, Metric, MetricClass, MetricKind

__all__ = ["CONDITIONS", "ContextResult", "combined", "distinct", "gates_of", "mixed", "state_of"]

CONDITIONS = ("model", "provider", "tokenizer", "window_tokens", "concurrency")
"""Fields of a header that two runs share whose tokens are held against one another."""

_POLICY = ("arm", "semantic_mode")


@dataclass(slots=True)
class ContextResult:
    """One run: ``run`` without its events, its metrics by id, and its prompts where all are known, to be pooled."""

    run: ContextRun
    metrics: dict[str, Metric]
    prompts: tuple[int, ...] | None


def distinct(results: Iterable[ContextResult]) -> list[ContextResult]:
    """``results`` without those that an equal one of the same header stands before."""
    kept: dict[object, list[ContextResult]] = {}
    for result in results:
        same = kept.setdefault(result.run.header, [])
        if all(other.metrics != result.metrics for other in same):
            same.append(result)
    return [result for same in kept.values() for result in same]


def combined(results: Sequence[ContextResult]) -> dict[str, Metric]:
    """The metrics of all ``results`` together by id; none where there is no run."""
    if not results:
        return {}
    known = [result.prompts for result in results if result.prompts is not None]
    prompts = [prompt for each in known for prompt in each] if len(known) == len(results) else None
    rows = load()
    return {
        name: combine(
            name,
            [result.metrics[name] for result in results],
            prompts if rows[name].combine is Combine.POOLED and len(results) > 1 else None,
        )
        for name in results[0].metrics
    }


def gates_of(results: Iterable[ContextResult]) -> dict[str, Counter[GateState]]:
    """For each correctness gate in how many runs it is satisfied, open and violated."""
    rows = load()
    found: dict[str, Counter[GateState]] = {
        row.id: Counter()
        for row in rows.values()
        if row.kind is MetricKind.GATE and row.metric_class is MetricClass.CORRECTNESS
    }
    for result in results:
        for name, states in found.items():
            states[gate_state(rows[name], result.metrics.get(name))] += 1
    return found


def mixed(results: Iterable[ContextResult]) -> tuple[str, ...]:
    """In what the runs differ that a sum over them hides: names of header fields."""
    headers = [result.run.header for result in results]
    return tuple(name for name in (*_POLICY, *CONDITIONS) if len({getattr(header, name) for header in headers}) > 1)


def state_of(states: Mapping[GateState, int]) -> GateState:
    """How a gate stands over all runs: as its worst run does."""
    return together(state for state, n in states.items() if n)

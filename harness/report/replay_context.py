"""What the context metrics of recorded runs are, in words: the gates first, the violated ones before all others.

A gate is shown by how many runs violate it and never as a mean. On the one screen stands only what has a value; the
rest is counted, and named with its reasons where a user asks for everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.record.replay_context import ContextResult, combined, gates_of, mixed, state_of
from harness.report.replay_lines import big
from harness.report.units import shown
from kpis.formulas.context.gates import GateState
from kpis.recorded_metrics import load
from kpis.terms.metric import Metric, MetricClass
from kpis.terms.quantity import Unit

__all__ = ["context_pieces", "context_rows", "told_states"]

_NAMED = ("authority_loss_rate", "state_stale_rate", "provenance_coverage")
_SHOWN = (
    ("shared_prefix_tokens", "SPT"),
    ("invalidated_suffix_tokens", "IST"),
    ("reclaimed_tokens", "R"),
    ("pma_all_pairs", "PMA of all pairs"),
    ("pma_fold_pairs_only", "PMA of fold pairs only"),
    ("context_regret_3", "CR@3"),
    ("dwr_total", "DWR"),
)


def context_pieces(results: Sequence[ContextResult]) -> Iterator[str]:
    """The pieces of one line about ``results``, of which there is at least one."""
    yield from _gates(results)
    if mixed(results):
        yield f"(sums over runs of different {', '.join(mixed(results))})"
    found = combined(results)
    for name, word in _SHOWN:
        if (said := _value(found[name])) is not None:
            yield f"{word} {said}"
    silent = sum(metric.value is None for metric in found.values())
    yield f"{silent:,} of {len(found):,} context metrics undefined; --verbose gives every reason"


def _gates(results: Sequence[ContextResult]) -> Iterator[str]:
    found = gates_of(results)
    states = {name: state_of(counts) for name, counts in found.items()}
    rows = load()
    violated = [name for name, state in states.items() if state is GateState.VIOLATED]
    for name in (*violated, *(name for name in _NAMED if name not in violated)):
        state = states[name]
        some = f" in {found[name][state]:,} of {len(results):,} runs" if len(results) > 1 else ""
        word = state.value.upper() if state is GateState.VIOLATED else state.value
        yield f"{rows[name].symbol or name} {word}{some}"
    others = [state for name, state in states.items() if name not in (*violated, *_NAMED)]
    counts = [f"{others.count(state):,} {state.value}" for state in GateState if state in others]
    if counts:
        yield f"other gates: {', '.join(counts)}"


def _value(metric: Metric) -> str | None:
    if metric.value is not None:
        return big(metric.value) if load()[metric.id].unit is Unit.TOK else shown(metric.value, Unit.RATIO)
    if metric.low is not None and metric.high is not None:
        return f"between {shown(metric.low, Unit.RATIO)} and {shown(metric.high, Unit.RATIO)}"
    return None


def context_rows(results: Sequence[ContextResult]) -> Iterator[tuple[str, str]]:
    """(id, value or reason) of every metric, by class, correctness first; its gates with the runs in each state."""
    rows, gates = load(), gates_of(results)
    found = combined(results)
    for kind in MetricClass:
        for name in sorted(each for each in found if rows[each].metric_class is kind):
            metric = found[name]
            said = f"undefined: {metric.undefined}" if metric.value is None else shown(metric.value, rows[name].unit)
            if metric.value is None and metric.low is not None and metric.high is not None:
                said = f"{_value(metric)}: {metric.undefined}"
            if name in gates:
                one = len(results) == 1 or metric.value is None
                said = f"{told_states(gates[name])}; {said}" if one else told_states(gates[name])
            yield f"{kind.value} {name}", said


def told_states(counts: Mapping[GateState, int]) -> str:
    """In how many runs a gate stands how, the worst first."""
    order = (GateState.VIOLATED, GateState.OPEN, GateState.SATISFIED)
    if sum(counts.values()) == 1:
        return next(state.value for state in order if counts[state])
    return ", ".join(f"{counts[state]:,} {state.value}" for state in order if counts[state])

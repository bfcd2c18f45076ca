"""Two arms of runs recorded for their context, on a console: gates first, then a line a metric that differs."""

from __future__ import annotations

from functools import partial

from rich.console import Console

from harness.jobs.replay_compare_context import ComparedContexts
from harness.report.lines import put_text
from harness.report.replay_compare import (
    HEADINGS,
    difference,
    is_undefined,
    not_shown,
    render_passed,
    several,
    value_of,
)
from harness.report.replay_context import told_states
from kpis.formulas.context.gates import GateState
from kpis.formulas.paired.noninferiority import AVAILABILITY_MARGIN
from kpis.terms.metric import Metric

__all__ = ["render_contexts"]


def render_contexts(compared: ComparedContexts, console: Console, *, verbose: bool) -> None:
    """Print it; metrics that are the same or undefined in both arms only where ``verbose``."""
    put = partial(put_text, console)
    one, two = compared.runs
    put("")
    put(f"context runs: {one:,} and {two:,}, {several(compared.pairs, 'pair')} by case and replicate", "bold")
    if compared.unpaired:
        put(f"{compared.unpaired:,} without a partner, with no part in the differences.")
    if compared.unlike:
        named = ", ".join(compared.conditions)
        put(f"{several(compared.unlike, 'pair')} unlike in {named}, with no part in the differences.")
    _gates(compared, console, verbose=verbose)
    put(f"{'context metric':<40}{HEADINGS}")
    same = undefined = 0
    for pair in compared.metrics:
        if is_undefined(pair) and not verbose:
            undefined += 1
        elif pair.reference.value == pair.candidate.value and not any(pair.deltas) and not verbose:
            same += 1
        else:
            values = f"{_cell(pair.reference):>12}{_cell(pair.candidate):>12}"
            put(f"{pair.row.id[:39]:<40}{values}  {difference(pair)}", indent=4)
    if same or undefined:
        put(not_shown(same, undefined))
    render_passed(compared.passed, put, "all hard checks passed by")
    put(f"at most {AVAILABILITY_MARGIN} less often answered than the first: {compared.available.value}")


def _cell(metric: Metric) -> str:
    if metric.value is None and metric.low is not None and metric.high is not None:
        return f"{metric.low:.3g}..{metric.high:.3g}"
    return value_of(metric)


def _gates(compared: ComparedContexts, console: Console, *, verbose: bool) -> None:
    """Each gate that a run violates or that stands in the arms differently; the others where ``verbose``."""
    rest = 0
    order = sorted(compared.gates, key=lambda name: -max(arm[GateState.VIOLATED] for arm in compared.gates[name]))
    for name in order:
        first, second = compared.gates[name]
        violated = first[GateState.VIOLATED] or second[GateState.VIOLATED]
        if not (violated or verbose):
            rest += 1
            continue
        told = f"gate {name}: first {told_states(first)}; second {told_states(second)}"
        put_text(console, told, "bold red" if violated else "", indent=4)
    if rest:
        put_text(console, f"{rest:,} gates are violated in neither; --verbose shows them")

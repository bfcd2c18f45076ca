"""``replay --explain NUMBER``: what a number means, the rule behind it, and the lines that it was counted from."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.cli.exits import Exit

if TYPE_CHECKING:
    from harness.jobs.replay import Asked
    from harness.record.replay import Replayed
    from kpis.terms.metric import MetricRow

__all__ = ["explain"]

_SHOWN = 20


def explain(arguments: argparse.Namespace, asked: Asked) -> Exit:
    """Print the row of the metric, its value over all runs, and the lines behind it, the first of them or all."""
    from harness.cli.replay import exit_code, tell_unmatched
    from harness.jobs.replay import replay, runs_of
    from harness.jobs.replay_judged import judged
    from harness.report.page import console_on
    from harness.report.replay_explain import render_explained
    from harness.report.replay_place import place
    from kpis.formulas.recorded.evaluate import metrics
    from kpis.formulas.recorded.evidence import evidence
    from kpis.recorded_metrics import row_named

    row = row_named(arguments.explain)
    number = row.id
    result = replay(arguments.path, asked, forced=arguments.format, processes=1)
    code = exit_code(result)
    if code is Exit.UNUSABLE:
        return code
    tell_unmatched(asked, [result])
    found = metrics(result.parts).get(number)
    if found is None:
        return _explain_context(arguments, row, result)
    lines = (
        (place(file, line, run.source_format) if file is not None else f"run {run.run_id}", sentence)
        for run in runs_of(arguments.path, arguments.format)
        for file, line, sentence in evidence(judged(run, asked.oracles), number, asked.table)
    )
    render_explained(row, found, lines, console_on(sys.stdout), most=None if arguments.verbose else _SHOWN)
    return code


def _explain_context(arguments: argparse.Namespace, row: MetricRow, result: Replayed) -> Exit:
    """The same for a metric that only a run recorded for its context has."""
    from harness.cli.replay import exit_code
    from harness.jobs.replay import runs_of
    from harness.jobs.replay_context import not_of_transcripts
    from harness.jobs.replay_pass_k import pass_k_metric
    from harness.record.replay_context import combined, gates_of
    from harness.report.page import console_on
    from harness.report.replay_context import told_states
    from harness.report.replay_explain import render_explained
    from harness.report.replay_place import place
    from kpis.formulas.context.evidence import evidence

    contexts = result.contexts
    found = pass_k_metric(row.id, result) or combined(contexts).get(row.id) or not_of_transcripts(row)
    states = gates_of(contexts).get(row.id)
    if states:
        found = replace(found, notes=(*found.notes, f"runs by state of the gate: {told_states(states)}"))
    lines = (
        (place(file, line, run.source_format) if file is not None else f"run {run.run_id}", sentence)
        for run in runs_of(arguments.path, arguments.format)
        for context in run.contexts
        for file, line, sentence in evidence(context, row.id)
    )
    render_explained(row, found, lines, console_on(sys.stdout), most=None if arguments.verbose else _SHOWN)
    return exit_code(result)

"""Computes the context metrics of recorded runs that say what every prompt held; of any other run there are none.

What an ordinary transcript cannot say has no value and a reason: its prompts are not shown whole, so that prefixes
could only be guessed at, and it knows no checkpoints, anchors or state.
"""

from __future__ import annotations

from harness.record.replay_context import ContextResult
from kpis.formulas.context.chains import main_requests
from kpis.formulas.context.evaluate import evaluate
from kpis.terms.context_run import ContextRun
from kpis.terms.metric import Metric, MetricRow
from kpis.terms.quantity import Basis
from kpis.terms.recorded import RecordedRun

__all__ = ["context_results", "not_of_transcripts"]

_PREFIX = ("shared_prefix_", "invalidated_suffix_", "pma_", "cost_rho_")


def context_results(run: RecordedRun) -> tuple[ContextResult, ...]:
    """The metrics of every context run that ``run`` holds."""
    return tuple(_result(each) for each in run.contexts)


def _result(run: ContextRun) -> ContextResult:
    prompts = [request.prompt for request in main_requests(run)]
    known = tuple(prompt for prompt in prompts if prompt is not None)
    bare = ContextRun(run.header, end=run.end, issues=run.issues)
    return ContextResult(bare, evaluate(run), known if len(known) == len(prompts) else None)


def not_of_transcripts(row: MetricRow) -> Metric:
    """The metric of ``row`` over recordings none of which says what every prompt held: undefined, and why."""
    why = f"no recording is a context run, which alone says {', '.join(row.needs) or 'it'}"
    if row.id.startswith(_PREFIX):
        why += "; a transcript shows neither system text nor tools, and a prefix over what it shows would be a guess"
    return Metric(row.id, None, Basis.FORMULA, undefined=why)

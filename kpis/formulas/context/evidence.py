"""What stands behind a context metric: the run with its own value, then the lines of its folds, prompts or checks.

Refuses to name what an action was about: a line says where it stands, and that is enough to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from kpis.formulas.context.chains import pairs_of
from kpis.formulas.context.duplicates import Repeat, repeats
from kpis.formulas.context.evaluate import evaluate
from kpis.formulas.context.locality import prefix, shared_nodes
from kpis.formulas.context.steps import boundary_of, repeatables
from kpis.terms.context_run import ContextRun
from kpis.terms.metric import Metric

__all__ = ["Line", "evidence"]

Line = tuple[str | None, int | None, str]
"""File, line, and what stands there."""


def evidence(run: ContextRun, metric_id: str) -> Iterator[Line]:
    """The lines behind the metric ``metric_id`` of ``run``; none where there is no metric of that id."""
    metric = evaluate(run).get(metric_id)
    if metric is None:
        return
    yield _line(run, None, _whole(run, metric))
    for beginning, source in _SOURCES.items():
        if metric_id.startswith(beginning):
            yield from source(run)


def _line(run: ContextRun, seq: int | None, said: str) -> Line:
    file = next((file for file, _ in run.places.values()), None)
    return (file, None, said) if seq is None else (*run.places.get(seq, (file, None)), said)


def _whole(run: ContextRun, metric: Metric) -> str:
    header = run.header
    who = f"run {header.run_id}, case {header.case_id}, arm {header.arm}, replicate {header.replicate}: "
    if metric.value is None:
        bounds = "" if metric.low is None else f"between {metric.low:.6g} and {metric.high:.6g}, "
        return f"{who}{bounds}undefined, since {metric.undefined}"
    made = ""
    if metric.numerator is not None and metric.denominator is not None:
        made = f" ({metric.numerator:.12g} over {metric.denominator:.12g})"
    return f"{who}{metric.value:.6g}{made}"


def _pairs(run: ContextRun) -> Iterator[Line]:
    for pair in pairs_of(run):
        if pair.earlier.nodes is None or pair.later.nodes is None:
            yield _line(run, pair.later.seq, "the nodes of this prompt or of the one before it are not recorded")
            continue
        before, after = ([node.id for node in nodes] for nodes in (pair.earlier.nodes, pair.later.nodes))
        prices = pair.earlier.node_tokens
        if prices is None:
            shared = shared_nodes(before, after)
            yield _line(run, pair.later.seq, f"shares {shared:,} of {len(before):,} nodes, which have no price each")
            continue
        made = prefix(before, prices, after)
        told = f"shares {made.spn:,} of {len(before):,} nodes, {made.spt:,} tokens; {made.ist:,} tokens are invalidated"
        yield _line(run, pair.later.seq, told + (", after a fold" if pair.folds else ""))


def _folds(run: ContextRun) -> Iterator[Line]:
    for fold in run.folds:
        sizes = ["not recorded" if size is None else f"{size:,}" for size in (fold.tokens_before, fold.tokens_after)]
        failed = "" if fold.ok else ", and failed"
        yield _line(run, fold.seq, f"a fold ({fold.mode.value}): {sizes[0]} tokens before, {sizes[1]} after{failed}")


def _repeats(run: ContextRun) -> Iterator[Line]:
    first = boundary_of(run)
    words = {
        Repeat.AVOIDABLE: "repeated with nothing changed",
        Repeat.UNKNOWN: "repeated, its environment not recorded",
    }
    for at, (action, what) in enumerate(zip(run.actions, repeats(repeatables(run)), strict=True)):
        if at >= first and what in words:
            yield _line(run, action.seq, f"{action.family.value} {words[what]}")


def _checks(run: ContextRun) -> Iterator[Line]:
    for verdict in run.verdicts:
        if verdict.applicable and not verdict.passed:
            how = "could not be run" if verdict.passed is None else "failed"
            kind = "critical" if verdict.critical else "hard" if verdict.hard else "soft"
            yield _line(run, verdict.seq, f"a {kind} check {how}")


def _recalls(run: ContextRun) -> Iterator[Line]:
    for action in run.actions:
        if action.recall is not None:
            size = action.recall.returned_tokens
            told = "a size that is not recorded" if size is None else f"{size:,} tokens"
            refs = len(action.recall.refs)
            named = f"a {action.recall.kind.value} that names {refs:,} checkpoint{'s' * (refs != 1)}"
            yield _line(run, action.seq, f"{named} returns {told}")


_SOURCES: dict[str, Callable[[ContextRun], Iterator[Line]]] = {
    **dict.fromkeys(("shared_prefix_", "invalidated_suffix_", "cost_rho_"), _pairs),
    **dict.fromkeys(("folds", "reclaimed_tokens", "raf_", "saf_", "taf_"), _folds),
    "pma_": lambda run: chain(_folds(run), _pairs(run)),
    "context_regret_": lambda run: chain(_folds(run), _recalls(run)),
    **dict.fromkeys(("recall", "search_calls", "cross_session_recalls"), _recalls),
    "dwr_": _repeats,
    **dict.fromkeys(("success", "critical_violation", "hard_constraint_", "wrong_destructive_", "lost_"), _checks),
}
"""By the beginning of an id."""

"""The behaviour of one run: success, trajectory, recalls, duplicate work, what follows folds, recall triggers."""

from __future__ import annotations

from kpis.formulas.context.after_fold import SIGNALS, after_fold
from kpis.formulas.context.duplicate_rates import duplicate_work
from kpis.formulas.context.efficiency import trajectory_efficiency
from kpis.formulas.context.made import Metrics, amount, bases_of, share, unobserved
from kpis.formulas.context.oracles import OracleKind
from kpis.formulas.context.recall_chain import RecallRun, gratuitous_recalls, success_given_trigger, trigger_rate
from kpis.formulas.context.regret import recall_cost
from kpis.formulas.context.steadiness import availability
from kpis.formulas.context.steps import boundary_of, fold_points, repeatables, steps_of
from kpis.formulas.context.values import Ratio
from kpis.formulas.context.windows import WINDOWS
from kpis.terms.context_run import ContextRun
from kpis.terms.context_words import Family, RecallKind, RunOutcome
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["behaviour_metrics", "succeeded"]

_RATED = (Family.READ, Family.SEARCH, Family.TEST, Family.RECALL, Family.DELEGATE, Family.OTHER)
_OWN = (Family.READ, Family.SEARCH, Family.TEST, Family.RECALL)
_WHOLE = "every action counts, since the run has no boundary"


def behaviour_metrics(run: ContextRun) -> Metrics:
    """Every metric of the class by id, and the tokens that recalls returned."""
    return {**_outcome(run), **_recalls(run), **_duplicates(run), **_signals(run), **_triggers(run)}


def succeeded(run: ContextRun) -> Ratio:
    """1 of 1 where all hard checks that apply passed, 0 of 1 where one failed; undefined where neither is known."""
    if run.end is not None and run.end.outcome is RunOutcome.TRANSPORT_FAILED:
        return Ratio(0, 1, None, "the transport failed, which is no wrong answer")
    hard = [verdict.passed for verdict in run.verdicts if verdict.hard and verdict.applicable]
    if False in hard:
        return Ratio(0, 1, 0.0)
    if not hard:
        return Ratio(0, 1, None, "no hard check applies")
    if None in hard:
        return Ratio(0, 1, None, "a hard check could not be run")
    return Ratio(1, 1, 1.0)


def _outcome(run: ContextRun) -> Metrics:
    end = run.end
    made: Metrics = {
        "success": share("success", succeeded(run), Basis.FORMULA),
        "tool_actions": amount("tool_actions", len(run.actions), Basis.COUNT),
        **unobserved(("model_turns", "wall_clock_ms", "score"), "the recording does not say", Basis.REPORTED),
    }
    if end is not None and end.turns is not None:
        made["model_turns"] = amount("model_turns", end.turns, Basis.REPORTED)
    if end is not None and end.wall_s is not None:
        made["wall_clock_ms"] = amount("wall_clock_ms", end.wall_s * 1000, Basis.REPORTED)
    score = None if end is None else end.score
    if score is not None:
        made["score"] = share("score", Ratio(score, 1, score), Basis.REPORTED)
    made["trajectory_efficiency"] = share(
        "trajectory_efficiency", trajectory_efficiency(score, len(run.actions)), Basis.REPORTED
    )
    answered = sum(request.ok for request in run.requests)
    made["availability"] = share("availability", availability(answered, len(run.requests) - answered), Basis.FORMULA)
    return made


def _recalls(run: ContextRun) -> Metrics:
    cost, tokens = recall_cost(steps_of(run)), bases_of(run.header.tokenizer.basis).tokens
    made: Metrics = {
        each: amount(each, value, Basis.COUNT)
        for each, value in (
            ("search_calls", cost.searches),
            ("recall_calls", cost.recalls),
            ("recalled_checkpoints", cost.checkpoints),
        )
    }
    if cost.returned is None:
        return {**made, **unobserved(("recall_returned_tokens",), "the size of a return is not recorded", tokens)}
    return {**made, "recall_returned_tokens": amount("recall_returned_tokens", cost.returned, tokens)}


def _duplicates(run: ContextRun) -> Metrics:
    work = duplicate_work(repeatables(run), boundary_of(run))
    notes = (f"history: {work.history_scope.value}",) + ((_WHOLE,) if run.header.boundary_seq is None else ())
    made: Metrics = {}
    for family in (None, *_RATED):
        each = "dwr_total" if family is None else f"dwr_{family.value}"
        unknown = work.unknown.get(family, 0) if family else sum(work.unknown.values())
        detail = {"unknown_environment": unknown}
        made[each] = share(each, work.rate(family), Basis.FORMULA, detail, notes, work.bounds(family))
    for family in _OWN:
        each = f"dwr_own_{family.value}"
        made[each] = share(each, work.own_rate(family), Basis.FORMULA, notes=notes)
    return made


def _signals(run: ContextRun) -> Metrics:
    steps, folds = steps_of(run), fold_points(run)
    made: Metrics = {}
    for name, family in SIGNALS.items():
        for k in WINDOWS:
            seen, each = after_fold(folds, steps, family, k), f"{name}_{k}"
            made[each] = share(each, seen.rate, Basis.FORMULA, {"censored": seen.censored})
    return made


def _triggers(run: ContextRun) -> Metrics:
    ids = ("recall_trigger_rate", "recall_success_given_trigger", "gratuitous_recalls")
    required = run.header.requires_recall
    if required is None:
        return unobserved(ids, "the recording does not say whether recall was needed", Basis.FORMULA)
    recalled = any(action.recall and action.recall.kind is RecallKind.RECALL for action in run.actions)
    appropriate, outcome = _appropriate(run) if recalled else False, succeeded(run)
    seen = [RecallRun(required, recalled, bool(appropriate), outcome.value == 1)]
    trigger = share(ids[0], trigger_rate(seen), Basis.FORMULA)
    success = share(ids[1], success_given_trigger(seen), Basis.FORMULA)
    if required and appropriate is None:
        trigger = Metric(ids[0], None, Basis.FORMULA, undefined="no check says whether the recall was appropriate")
    if required and recalled and outcome.value is None:
        success = Metric(ids[1], None, Basis.FORMULA, undefined=f"its success is unknown: {outcome.undefined}")
    return {
        ids[0]: trigger,
        ids[1]: success,
        ids[2]: amount(ids[2], gratuitous_recalls(seen), Basis.COUNT),
    }


def _appropriate(run: ContextRun) -> bool | None:
    """Whether recalls brought back what was needed: as the checks of what they contain say, all of them."""
    found = [
        verdict.passed
        for verdict in run.verdicts
        if verdict.applicable and verdict.oracle.type == OracleKind.RECALL_CONTAINS.value
    ]
    if False in found:
        return False
    return True if found and None not in found else None

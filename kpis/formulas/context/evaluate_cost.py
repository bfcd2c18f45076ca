"""What one run costs in miss-token equivalents, and what its folds asked of a model for it."""

from __future__ import annotations

from collections.abc import Iterator

from kpis.formulas.context.auxiliary import AuxiliaryCall, AuxiliaryKind, AuxiliaryUse, auxiliary, contradiction
from kpis.formulas.context.chains import RunLocality
from kpis.formulas.context.cost_curve import RHOS, Additions, cost_at
from kpis.formulas.context.made import Metrics, amount, unobserved
from kpis.formulas.context.regret import recall_cost
from kpis.formulas.context.steps import steps_of
from kpis.formulas.context.values import RecordError
from kpis.terms.context_run import ContextRequest, ContextRun
from kpis.terms.context_words import Purpose
from kpis.terms.quantity import Basis

__all__ = ["NO_NODES", "NO_PRICES", "NO_PROMPT", "NO_REQUEST", "cost_metrics"]

NO_NODES = "the nodes of a request are not recorded"
NO_PRICES = "a node has no price"
NO_PROMPT = "the prompt of a request is not recorded"
NO_REQUEST = "there is no answered main request"


def cost_metrics(run: ContextRun, seen: RunLocality, requests: list[ContextRequest]) -> Metrics:
    """Auxiliary use and the cost curve of ``requests``, whose prefixes are ``seen``."""
    return {**_auxiliary(run), **_cost(run, seen, requests)}


def _calls(run: ContextRun) -> Iterator[AuxiliaryCall]:
    asked_by_folds = {each for fold in run.folds for each in fold.aux_request_ids}
    for request in run.requests:
        if request.purpose in (Purpose.COMPACTION, Purpose.RATIONALE) or request.request_id in asked_by_folds:
            usage = request.usage
            fresh = usage.input_uncached if usage else None
            # A provider without cache fields counts all input as uncached.
            cached = (usage.cache_read or 0) + (usage.cache_write or 0) if usage else 0
            yield AuxiliaryCall(
                AuxiliaryKind.RATIONALE if request.purpose is Purpose.RATIONALE else AuxiliaryKind.SUMMARY,
                None if fresh is None else fresh + cached,
                usage.output if usage else None,
            )


def _auxiliary_use(run: ContextRun) -> tuple[AuxiliaryUse, str | None]:
    """What the folds of the run asked of a model, and what contradicts it."""
    use = auxiliary(_calls(run))
    return use, contradiction(use, run.header.semantic_mode)


def _auxiliary(run: ContextRun) -> Metrics:
    ids = ("auxiliary_calls", "auxiliary_input_tokens", "auxiliary_output_tokens")
    use, wrong = _auxiliary_use(run)
    if wrong is not None:
        return unobserved(ids, wrong, Basis.REPORTED)
    summaries = auxiliary(_calls(run), AuxiliaryKind.SUMMARY)
    kinds = {"summary": summaries.calls, "rationale": use.calls - summaries.calls}
    made: Metrics = {ids[0]: amount(ids[0], use.calls, Basis.COUNT, kinds)}
    for each, tokens in zip(ids[1:], (use.input_tokens, use.output_tokens), strict=True):
        made |= unobserved((each,), "a call on behalf of a fold reported no usage", Basis.REPORTED)
        if tokens is not None:
            made[each] = amount(each, tokens, Basis.REPORTED)
    return made


def _cost_ids() -> dict[str, float]:
    """The ids of the cost curve, each with its rho."""
    return {f"cost_rho_{str(rho).replace('.', '_')}": rho for rho in RHOS}


def _cost(run: ContextRun, seen: RunLocality, requests: list[ContextRequest]) -> Metrics:
    use, wrong = _auxiliary_use(run)
    recalled = recall_cost(steps_of(run)).returned
    prompts = [request.prompt for request in requests if request.prompt is not None]
    why = wrong
    if seen.spt is None:
        why = why or (NO_NODES if seen.spn is None else NO_PRICES)
    if len(prompts) < len(requests):
        why = why or NO_PROMPT
    if use.input_tokens is None or use.output_tokens is None:
        why = why or "a call on behalf of a fold reported no usage"
    if recalled is None:
        why = why or "the size of a recall is not recorded"
    if not requests:
        why = why or NO_REQUEST
    if why is not None:
        return unobserved(_cost_ids(), why, Basis.MODEL)
    additions = Additions(use.input_tokens or 0, use.output_tokens or 0, 1, recalled or 0)
    knobs = {"output_weight": additions.output_weight}
    try:
        return {
            each: amount(each, cost_at(rho, sum(prompts), seen.spt or 0, additions), Basis.MODEL, {"rho": rho, **knobs})
            for each, rho in _cost_ids().items()
        }
    except RecordError as error:
        return unobserved(_cost_ids(), str(error), Basis.MODEL)

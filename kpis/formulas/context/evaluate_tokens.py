"""The context economics of one run: prefixes, folds, exposure, frozen load and regret; cost and buckets from beside."""

from __future__ import annotations

from kpis.formulas.context.chains import RunLocality, main_requests, run_locality
from kpis.formulas.context.evaluate_buckets import bucket_metrics
from kpis.formulas.context.evaluate_cost import NO_NODES, NO_PRICES, NO_PROMPT, NO_REQUEST, cost_metrics
from kpis.formulas.context.exposure import exposure
from kpis.formulas.context.frozen import frozen
from kpis.formulas.context.made import Bases, Metrics, amount, bases_of, empty, share, unobserved
from kpis.formulas.context.reclaimed import Reclaimed, prefix_mutation
from kpis.formulas.context.regret import regret_at, requested_at
from kpis.formulas.context.steps import fold_points, reclaimed_in, steps_of
from kpis.formulas.context.values import Ratio, ratio
from kpis.formulas.context.windows import WINDOWS
from kpis.terms.context_run import ContextRequest, ContextRun
from kpis.terms.quantity import Basis

__all__ = ["token_metrics"]

NO_PAIR = "no request has another one before it"
NO_SIZES = "the tokens before and after a fold are not recorded"


def token_metrics(run: ContextRun) -> Metrics:
    """Every metric of the class by id."""
    bases = bases_of(run.header.tokenizer.basis)
    seen, back = run_locality(run), reclaimed_in(run)
    requests = main_requests(run)
    return {
        **_locality(seen, bases),
        **_folds(seen, back, bases),
        **_exposure(requests, bases),
        **_frozen(requests, bases),
        **_regret(run, bases),
        **cost_metrics(run, seen, requests),
        **bucket_metrics(run, requests, bases),
    }


def _locality(seen: RunLocality, bases: Bases) -> Metrics:
    sums = {
        "shared_prefix_tokens": seen.spt,
        "invalidated_suffix_tokens": seen.ist,
        "invalidated_suffix_tokens_fold_pairs": seen.ist_fold_pairs,
    }
    if seen.pairs == 0:
        return {each: empty(each, NO_PAIR, bases.tokens) for each in ("shared_prefix_nodes", *sums)}
    if seen.spn is None:
        return unobserved(("shared_prefix_nodes", *sums), NO_NODES, bases.tokens)
    detail = {"pairs": seen.pairs}
    nodes = share("shared_prefix_nodes", ratio(seen.spn, seen.pairs, NO_PAIR), Basis.FORMULA, detail)
    if seen.spt is None:
        return {nodes.id: nodes, **unobserved(sums, NO_PRICES, bases.tokens)}
    return {
        nodes.id: nodes,
        **{each: amount(each, value, bases.tokens, detail) for each, value in sums.items() if value is not None},
    }


def _folds(seen: RunLocality, back: Reclaimed, bases: Bases) -> Metrics:
    counts = {"failed": back.failed, "grown": back.grown, "without_size": back.unknown}
    made: Metrics = {"folds": amount("folds", back.attempted, Basis.COUNT, counts)}
    for each, total in (("reclaimed_tokens", back.total), ("reclaimed_tokens_excluding_root", back.excluding_root)):
        made |= unobserved((each,), NO_SIZES, bases.tokens)
        if total is not None:
            made[each] = amount(each, total, bases.tokens)
    for each, invalidated in (("pma_all_pairs", seen.ist), ("pma_fold_pairs_only", seen.ist_fold_pairs)):
        if back.total is None or invalidated is None:
            made |= unobserved((each,), NO_SIZES if back.total is None else NO_PRICES, bases.derived)
        else:
            made[each] = share(each, prefix_mutation(invalidated, back.total), bases.derived)
    return made


def _exposure(requests: list[ContextRequest], bases: Bases) -> Metrics:
    ids = [f"prompt_tokens_{part}" for part in ("total", "mean", "median", "p95", "peak")]
    prompts = [request.prompt for request in requests]
    known = [prompt for prompt in prompts if prompt is not None]
    if len(known) < len(prompts):
        return unobserved(ids, f"{NO_PROMPT} ({len(prompts) - len(known)} of {len(prompts)})", bases.tokens)
    seen, detail = exposure(known), {"requests": len(known)}
    made: Metrics = {ids[0]: amount(ids[0], seen.total, bases.tokens, detail)}
    made[ids[1]] = share(ids[1], ratio(seen.total, seen.count, NO_REQUEST), bases.derived, detail)
    for each, value in zip(ids[2:], (seen.median, seen.p95, seen.peak), strict=True):
        made[each] = empty(each, NO_REQUEST, bases.tokens) if value is None else amount(each, value, bases.tokens)
    return made


def _frozen(requests: list[ContextRequest], bases: Bases) -> Metrics:
    ids = ("frozen_tokens_mean", "frozen_tokens_peak", "frozen_share")
    load: list[int] = []
    for request in requests:
        if request.nodes is None:
            return unobserved(ids, NO_NODES, bases.derived)
        checkpoints = [node.tokens for node in request.nodes if node.checkpoint_id is not None]
        priced = [tokens for tokens in checkpoints if tokens is not None]
        if len(priced) < len(checkpoints):
            return unobserved(ids, NO_PRICES, bases.derived)
        load.append(sum(priced))
    if not load:
        return {each: empty(each, NO_REQUEST, bases.derived) for each in ids}
    made: Metrics = {
        ids[0]: share(ids[0], ratio(sum(load), len(load), NO_REQUEST), bases.derived),
        ids[1]: amount(ids[1], max(load), bases.tokens),
        **unobserved(ids[2:], NO_PROMPT, bases.derived),
    }
    prompts = [request.prompt for request in requests if request.prompt is not None]
    if len(prompts) == len(load):
        made[ids[2]] = share(ids[2], frozen(load, prompts).share, bases.derived)
    return made


def _regret(run: ContextRun, bases: Bases) -> Metrics:
    steps, folds = steps_of(run), fold_points(run)
    made: Metrics = {}
    for k in WINDOWS:
        wanted, regret = requested_at(folds, steps, k), regret_at(folds, steps, k)
        q, cr = f"recalled_of_fold_{k}", f"context_regret_{k}"
        if wanted.tokens is None:
            made |= unobserved((q,), wanted.undefined or "", bases.tokens)
        else:
            made[q] = amount(q, wanted.tokens, bases.tokens)
        if isinstance(regret, Ratio):
            made[cr] = share(cr, regret, bases.derived)
        else:
            made |= unobserved((cr,), regret.undefined or "", bases.derived)
    return made

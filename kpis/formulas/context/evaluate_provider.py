"""The provider economics of one run: its counters as reported, hit ratios by class, and cost under a price profile."""

from __future__ import annotations

from kpis.formulas.context.chains import classes_of, main_requests, pairs_of, run_locality
from kpis.formulas.context.locality import prefix
from kpis.formulas.context.made import Metrics, amount, share, unobserved
from kpis.formulas.context.prices import Profile, modelled_cost, realised_cost
from kpis.formulas.context.provider import Counters, RequestClass, effective_rho, hits_by_class, unrealised
from kpis.terms.context_run import ContextRequest, ContextRun, Usage
from kpis.terms.quantity import Basis

__all__ = ["provider_metrics"]

SILENT = "the provider does not say"
_SHARED = "the run may have shared the provider's cache with others: it is not known to have run alone"
_COUNTERS = {
    "provider_uncached_tokens": "input_uncached",
    "provider_cache_read_tokens": "cache_read",
    "provider_cache_write_tokens": "cache_write",
    "provider_output_tokens": "output",
}


def provider_metrics(run: ContextRun, profile: Profile | None, assumed_hit: float | None) -> Metrics:
    """Every metric of the class by id."""
    return {**_totals(run), **_hits(run, profile), **_gap(run), **_costs(run, profile, assumed_hit)}


def _billed(run: ContextRun) -> list[ContextRequest]:
    """Requests that may be on a bill: all but failed ones without usage."""
    return [request for request in run.requests if request.ok or request.usage is not None]


def _counters(request: ContextRequest) -> Counters:
    usage = request.usage or Usage()
    return Counters(usage.input_uncached, usage.cache_read, usage.cache_write, usage.output)


def _total(requests: list[ContextRequest], field: str) -> int | None:
    values = [getattr(request.usage, field) if request.usage else None for request in requests]
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None


def _totals(run: ContextRun) -> Metrics:
    requests = _billed(run)
    made = unobserved(_COUNTERS, SILENT, Basis.REPORTED)
    for each, field in _COUNTERS.items():
        total = _total(requests, field)
        if total is not None:
            made[each] = amount(each, total, Basis.REPORTED, {"requests": len(requests)})
    return made


def _hits(run: ContextRun, profile: Profile | None) -> Metrics:
    found = hits_by_class((kind, _counters(request)) for kind, request in classes_of(run))
    notes = () if run.header.concurrency == 1 else (_SHARED,)
    made: Metrics = {}
    for kind, hits in found.items():
        each = f"cache_hit_ratio_{kind.value}"
        detail = {"requests": len(hits.each), "silent": hits.silent, "empty": hits.empty}
        made[each] = share(each, hits.total, Basis.REPORTED, detail, notes)
    normal = found[RequestClass.NORMAL].total.value
    rho = None if profile is None else profile.rho()
    why = "no price profile was given" if profile is None else "there is no hit ratio, or uncached tokens are free"
    made |= unobserved(("effective_rho",), why, Basis.MODEL)
    if normal is not None and rho is not None:
        of_normal = ("h is that of requests that follow nothing special", *notes)
        made["effective_rho"] = amount(
            "effective_rho", effective_rho(rho, normal), Basis.MODEL, {"rho": rho}, of_normal
        )
    return made


def _gap(run: ContextRun) -> Metrics:
    each, shared = "unrealised_cache_tokens", run_locality(run).spt
    gap = None if shared is None else unrealised(shared, _total(main_requests(run), "cache_read"))
    if gap is None:
        return unobserved((each,), "the shared prefix or the cache reads are unknown", Basis.MODEL)
    return {each: amount(each, gap, Basis.MODEL, notes=("our count less the provider's",))}


def _costs(run: ContextRun, profile: Profile | None, assumed_hit: float | None) -> Metrics:
    ids = ("realised_cost_usd", "modelled_cost_usd")
    if profile is None:
        return unobserved(ids, "no price profile was given", Basis.MODEL)
    notes = (f"prices of {profile.id} as of {profile.as_of}",)
    made = unobserved(ids, "a counter or its price is missing", Basis.MODEL)
    bill = realised_cost(profile, map(_counters, _billed(run)))
    if bill is not None and _billed(run):
        made[ids[0]] = amount(ids[0], bill, Basis.MODEL, notes=notes)
    if assumed_hit is None:
        return {**made, **unobserved(ids[1:], "no hit ratio was assumed", Basis.MODEL)}
    cost = _modelled(run, profile, assumed_hit)
    if cost is not None:
        made[ids[1]] = amount(ids[1], cost, Basis.MODEL, {"assumed_hit": assumed_hit}, notes)
    return made


def _modelled(run: ContextRun, profile: Profile, assumed_hit: float) -> float | None:
    shared = {}
    for pair in pairs_of(run):
        prices = pair.earlier.node_tokens
        if pair.earlier.nodes is None or pair.later.nodes is None or prices is None:
            return None
        ids = [[node.id for node in nodes] for nodes in (pair.earlier.nodes, pair.later.nodes)]
        shared[pair.later.request_id] = prefix(ids[0], prices, ids[1]).spt
    total: float = 0
    for request in main_requests(run):
        output = request.usage.output if request.usage else None
        warm = shared.get(request.request_id, 0)
        if request.prompt is None or output is None or warm > request.prompt:
            return None
        cost = modelled_cost(profile, warm, request.prompt - warm, output, assumed_hit)
        if cost is None:
            return None
        total += cost
    return total

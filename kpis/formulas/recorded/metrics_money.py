"""The metrics of money, time and trust, from the sums of one run or of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kpis.formulas.recorded.cache import CacheParts
from kpis.formulas.recorded.compaction import CompactionParts
from kpis.formulas.recorded.cost import CostParts
from kpis.formulas.recorded.ledger import LedgerParts, Spent
from kpis.formulas.recorded.pricing import PICO
from kpis.formulas.recorded.stated import count, missing, ratio
from kpis.formulas.recorded.trust import TrustParts
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["cost_metrics", "ledger_metrics", "trust_metrics"]

_LONGEST = 40  # characters of a name in a sentence
_SHOWN = 3  # models that a sentence names before it says how many more there are


def _usd(pico: int) -> float:
    return pico / PICO


def cost_metrics(parts: CostParts, cache: CacheParts, folds: CompactionParts) -> Iterator[Metric]:
    """Computed and reported cost side by side, and what broken caches and compactions took of it."""
    yield _computed(parts)
    if parts.runs_reporting:
        silent = parts.runs - parts.runs_reporting
        note = (f"{silent:,} of {parts.runs:,} runs report no cost.",) if silent else ()
        yield count("cost_reported_usd", _usd(parts.reported), Basis.REPORTED, {"runs": parts.runs_reporting}, note)
    else:
        yield missing("cost_reported_usd", "no recording reports a cost", Basis.REPORTED)
    yield _gap(parts)
    yield _broken(parts, cache)
    yield _folded(parts, folds)


def _broken(parts: CostParts, cache: CacheParts) -> Metric:
    """What broken caches cost, from below wherever there is a break or one could not be seen."""
    metric_id, unpriced = "cache_break_cost_usd", parts.broken_unpriced
    detail = {"unpriced": unpriced}
    if cache.uncompared and not cache.breaks and cache.uncompared >= cache.pairs:
        why = f"{cache.uncompared:,} of {cache.pairs:,} requests cannot be held against the one before them"
        return missing(metric_id, why, Basis.MODEL, detail)
    if unpriced:
        why = f"{unpriced:,} of {cache.breaks:,} breaks are of a model without a price"
        return missing(metric_id, why, Basis.MODEL, {**detail, "priced_part": _usd(parts.broken)})
    return _from_below(
        metric_id, parts.broken, detail, "At least: above a read of it.", cache.breaks + cache.uncompared
    )


def _folded(parts: CostParts, folds: CompactionParts) -> Metric:
    """What the summarising calls cost that no log holds, from below wherever there is one."""
    metric_id, unpriced, unsized = "compaction_cost_usd", parts.compactions_unpriced, parts.compactions_unsized
    detail = {"unpriced": unpriced, "unsized": unsized}
    if folds.folds and not folds.aux_modelled:
        return missing(metric_id, "the summarising calls are in the log and counted there", Basis.MODEL)
    if unpriced:
        why = f"{unpriced:,} of {folds.aux_modelled:,} compactions are of a model without a price"
        return missing(metric_id, why, Basis.MODEL, {**detail, "priced_part": _usd(parts.compactions)})
    if unsized and unsized >= folds.aux_modelled:
        return missing(metric_id, "no compaction says its prompt or its summary", Basis.MODEL, detail)
    note = "A model from below of calls that the log does not hold."
    return _from_below(metric_id, parts.compactions, detail, note, folds.aux_modelled)


def _from_below(metric_id: str, pico: int, detail: Mapping[str, int], note: str, of: int) -> Metric:
    """A modelled cost of ``of`` things, which is a lower bound, or nothing at all where there are none."""
    cost = _usd(pico)
    low = cost if of else None
    return Metric(metric_id, cost, Basis.MODEL, numerator=cost, low=low, detail=detail, notes=(note,))


def _computed(parts: CostParts) -> Metric:
    metric_id = "cost_computed_usd"
    detail = {name: _usd(cost) for name, cost in parts.by_tier.items()}
    if parts.unpriced:
        names = sorted(parts.unpriced)
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        shown = ", ".join(map(_cut, names[:_SHOWN])) + more
        of = sum(parts.unpriced.values())
        why = f"{of:,} of {parts.requests:,} requests have no price: {shown}"
        return missing(metric_id, why, Basis.FORMULA, {**detail, "priced_part": _usd(parts.low)})
    if not parts.requests:
        return missing(metric_id, "there are no requests", Basis.FORMULA)
    if not parts.low and parts.incomplete >= parts.requests:
        return missing(metric_id, "no request says its tokens", Basis.FORMULA)
    notes: tuple[str, ...] = ()
    if parts.incomplete:
        notes += (f"At least this: {parts.incomplete:,} requests do not say all their tokens.",)
    if parts.high != parts.low:
        notes += ("The value is the lower bound: how long cache writes live, or what was cached, is not recorded.",)
    bounded = bool(notes)
    return Metric(
        metric_id,
        _usd(parts.low),
        Basis.FORMULA,
        numerator=_usd(parts.low),
        low=_usd(parts.low) if bounded else None,
        high=_usd(parts.high) if bounded and not parts.incomplete else None,
        detail=detail,
        notes=notes,
    )


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."


def _gap(parts: CostParts) -> Metric:
    if not parts.runs_compared:
        return missing("cost_gap_usd", "no run both reports a cost and has a price for every model", Basis.MODEL)
    gap = parts.compared_reported - parts.compared_low
    detail = {
        "reported": _usd(parts.compared_reported),
        "computed": _usd(parts.compared_low),
        "runs": parts.runs_compared,
    }
    low = parts.compared_reported - parts.compared_high
    return Metric(
        "cost_gap_usd",
        _usd(gap),
        Basis.MODEL,
        numerator=_usd(gap),
        low=_usd(low) if low != gap else None,
        high=_usd(gap) if low != gap else None,
        detail=detail,
        notes=("Reported less computed: what the requests of the log do not explain.",),
    )


def ledger_metrics(parts: LedgerParts) -> Iterator[Metric]:
    """The wall and its nine shares, in milliseconds as recorded, and the overlap of what ran in parallel."""
    names = ["wall", *(spent.value for spent in Spent), "tool_overlap", "agent_overlap"]
    if not parts.runs_timed:
        for name in names:
            yield missing(f"time_{name}_ms", "the recording has no times", Basis.REPORTED)
        return
    notes = (f"{parts.untimed:,} requests have no time.",) if parts.untimed else ()
    for name in names:
        yield count(f"time_{name}_ms", getattr(parts, name), Basis.REPORTED, notes=notes)


def trust_metrics(parts: TrustParts) -> Iterator[Metric]:
    """The share of rows of usage that say their output; the reasons for less than full trust are its notes."""
    notes = tuple(parts.reasons())
    yield ratio("output_observed_ratio", parts.observed, parts.rows, "there are no requests", Basis.COUNT, notes=notes)

"""The metrics of money, time and trust, from the sums of one run or of many."""

from __future__ import annotations

from collections.abc import Iterator

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


def cost_metrics(parts: CostParts) -> Iterator[Metric]:
    """Computed and reported cost side by side, and what broken caches and compactions took of it."""
    yield _computed(parts)
    if parts.runs_reporting:
        silent = parts.runs - parts.runs_reporting
        note = (f"{silent:,} of {parts.runs:,} runs report no cost.",) if silent else ()
        yield count("cost_reported_usd", _usd(parts.reported), Basis.REPORTED, {"runs": parts.runs_reporting}, note)
    else:
        yield missing("cost_reported_usd", "no recording reports a cost", Basis.REPORTED)
    yield _gap(parts)
    broken = {"unpriced": parts.broken_unpriced}
    yield count("cache_break_cost_usd", _usd(parts.broken), Basis.MODEL, broken, ("At least: above a read of it.",))
    unsized = {"unpriced": parts.compactions_unpriced}
    note = ("A model from below of calls that the log does not hold.",)
    yield count("compaction_cost_usd", _usd(parts.compactions), Basis.MODEL, unsized, note)


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

"""The metrics of the provider's cache and of compactions, from the sums of one run or of many.

A break or a fold that is inferred shows only between two requests whose usage is known: where none are, nothing is
known of it, and where some are not, what was found is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kpis.formulas.recorded.cache import CacheParts
from kpis.formulas.recorded.compaction import CompactionParts
from kpis.formulas.recorded.reread import SIGNAL_FAMILIES, WINDOWS, RereadParts
from kpis.formulas.recorded.stated import at_least, count, missing, ratio, ratio_at_least
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["cache_metrics", "compaction_metrics"]

_UNCOMPARED = "requests cannot be held against the one before them"
_BLIND = "reads do not say of what"


def cache_metrics(parts: CacheParts) -> Iterator[Metric]:
    """How much was read from the provider's cache, and where it broke."""
    yield _hit(parts)
    nothing = parts.prompt and not parts.read and not parts.breaks
    notes = ("Nothing was ever read from a cache.",) if nothing else ()
    gaps, every = parts.uncompared, parts.pairs
    for metric_id, value, detail in (
        ("cache_breaks", parts.breaks, parts.breaks_by_cause),
        ("cache_break_tokens", parts.tokens, parts.tokens_by_cause),
    ):
        found = at_least(metric_id, value, gaps, _UNCOMPARED, every=every, basis=Basis.FORMULA)
        said = notes if metric_id == "cache_breaks" else ()
        yield replace(found, detail=detail, notes=(*found.notes, *said))  # the detail is of causes alone
    yield at_least(
        "cache_rewritten_tokens", parts.rewritten, gaps + parts.unsized, _UNCOMPARED, every=every, basis=Basis.FORMULA
    )


def _hit(parts: CacheParts) -> Metric:
    """The share of prompts that was read; none of all of them where only some requests say it."""
    detail = {"requests": parts.requests, "unsaid": parts.unsaid}
    if parts.requests and parts.unsaid:
        why = f"{parts.unsaid:,} of {parts.requests + parts.unsaid:,} requests do not say what they read from cache"
        return Metric(
            "cache_hit_ratio",
            None,
            Basis.FORMULA,
            undefined=why,
            numerator=parts.read,
            denominator=parts.prompt,
            detail=detail,
        )
    none = "every prompt is empty" if parts.requests else "no request says what it read from cache"
    return ratio("cache_hit_ratio", parts.read, parts.prompt, none, detail=detail)


def compaction_metrics(parts: CompactionParts, reread: RereadParts) -> Iterator[Metric]:
    """Compactions, what they reclaimed, what they cost at least, and what was fetched again after them."""
    unknown = parts.folds - parts.measured
    yield count("compactions", parts.folds, detail={"grown": parts.grown, "unmeasured": unknown})
    for metric_id, value, notes in (
        ("implicit_compactions", parts.implicit, ("Inferred from prompts that fell by half.",)),
        ("implicit_reclaimed_tokens", parts.implicit_reclaimed, ()),
    ):
        yield at_least(metric_id, value, parts.unpaired, _UNCOMPARED, every=parts.pairs, basis=Basis.MODEL, notes=notes)
    if parts.folds and not parts.measured:
        yield missing("reclaimed_tokens_across_steps", "no compaction has a known prompt on both sides")
    else:
        yield at_least(
            "reclaimed_tokens_across_steps", parts.reclaimed, unknown, "compactions lack a prompt on one side"
        )
    yield _auxiliary(parts)
    yield from _rereads(parts, reread)


def _auxiliary(parts: CompactionParts) -> Metric:
    metric_id = "compaction_call_tokens"
    if parts.folds and not parts.aux_modelled:
        return missing(metric_id, "the summarising calls are in the log and counted there", Basis.MODEL)
    if parts.aux_unsized and not parts.aux_in + parts.aux_out and parts.aux_unsized >= parts.aux_modelled:
        return missing(metric_id, "no compaction says its prompt or its summary", Basis.MODEL)
    detail = {"input": parts.aux_in, "output": parts.aux_out, "calls": parts.aux_modelled, "unsized": parts.aux_unsized}
    note = "A model from below: the prompt before each compaction, and the bytes of its summary over four."
    whole = parts.aux_in + parts.aux_out
    bound = whole if parts.aux_modelled else None
    return Metric(metric_id, whole, Basis.MODEL, numerator=whole, low=bound, detail=detail, notes=(note,))


def _rereads(parts: CompactionParts, reread: RereadParts) -> Iterator[Metric]:
    none = "there is no compaction with a call after it"
    detail = {"folds": reread.folds, "fewer_calls": reread.short}
    reads = reread.reads
    for k in WINDOWS:
        key = str(k)
        yield _regret(f"reread_regret_{k}", parts, reread, key)
        again = reread.folds_reread.get(key, 0)
        yield ratio_at_least(
            f"reread_after_fold_{k}", again, reread.eligible, none, reread.blind, _BLIND, every=reads, detail=detail
        )
        for family in SIGNAL_FAMILIES:
            hit = reread.folds_family.get(f"{family.value}@{k}", 0)
            yield ratio(f"{family.value}_after_fold_{k}", hit, reread.eligible, none, detail=detail)
    yield ratio_at_least(
        "demand_page_miss_rate",
        reread.misses,
        reread.miss_calls,
        none,
        reread.blind,
        _BLIND,
        every=reads,
        detail={"folds": reread.folds},
    )


def _regret(metric_id: str, parts: CompactionParts, reread: RereadParts, key: str) -> Metric:
    """Tokens read again over tokens reclaimed: from below where reads, from above where reclaimed tokens are missed."""
    unsized, unmeasured = reread.unsized.get(key, 0), parts.folds - parts.measured
    detail = {"rereads": reread.rereads.get(key, 0), "unsized": unsized}
    top, below, none = reread.tokens.get(key, 0), parts.reclaimed, "nothing was reclaimed"
    gaps = reread.blind + unsized
    of = "reads do not say of what, or how much"
    if not (unmeasured and below and parts.folds):
        return ratio_at_least(
            metric_id, top, below, none, gaps, of, every=reread.reads, basis=Basis.MODEL, detail=detail
        )
    what = f"{unmeasured:,} of {parts.folds:,} compactions lack a prompt on one side"
    if gaps:
        return missing(metric_id, f"{what}, and {gaps:,} {of}", Basis.MODEL, detail)
    found = ratio(metric_id, top, below, none, Basis.MODEL, detail, (f"At most this: {what}.",))
    return replace(found, high=found.value) if top else found

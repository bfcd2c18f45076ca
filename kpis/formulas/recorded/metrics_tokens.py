"""The metrics of tokens, of the provider's cache and of compactions, from the sums of one run or of many."""

from __future__ import annotations

from collections.abc import Iterator

from kpis.formulas.context.percentile import percentile
from kpis.formulas.recorded.cache import CacheParts
from kpis.formulas.recorded.compaction import CompactionParts
from kpis.formulas.recorded.reread import SIGNAL_FAMILIES, WINDOWS, RereadParts
from kpis.formulas.recorded.stated import at_least, count, missing, ratio
from kpis.formulas.recorded.tokens import TokenParts
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["cache_metrics", "compaction_metrics", "token_metrics"]

_SILENT = "no request says its usage"


def token_metrics(parts: TokenParts) -> Iterator[Metric]:
    """Totals, prompt exposure by thread kind, and the sum over lines beside the right one."""
    sums, coarse = parts.sums, parts.coarse
    detail = {
        "synthetic": parts.synthetic,
        "local_cache": parts.local_cache,
        "lines": parts.lines,
        "coarse": coarse.rows,
    }
    yield count("recorded_requests", sums.rows, detail=detail)
    yield _prompt(parts)
    for kind, prompts in (("main", parts.main_prompts), ("other", parts.other_prompts)):
        yield from _exposure(kind, prompts, sums.no_prompt)
    gaps = sums.no_fresh + coarse.no_fresh - parts.covered
    yield at_least("fresh_tokens", sums.fresh_in + coarse.fresh_in, gaps, "requests do not say it")
    gaps = sums.no_cache_read + coarse.no_cache_read - parts.covered
    yield at_least("cache_read_tokens", sums.cache_read + coarse.cache_read, gaps, "requests do not say it")
    writes = {
        "5m": sums.cache_write_5m + coarse.cache_write_5m,
        "1h": sums.cache_write_1h + coarse.cache_write_1h,
        "lifetime_unknown": sums.cache_write_other + coarse.cache_write_other,
    }
    yield count("cache_write_tokens", sum(writes.values()), detail=writes)
    yield _output(parts)
    yield count(
        "reasoning_tokens", sums.out_reasoning + coarse.out_reasoning, notes=("Where a recording splits them.",)
    )
    yield count("line_sum_tokens", parts.naive_lines, detail={"prompt": parts.naive_prompt, "output": parts.naive_out})
    yield ratio("line_sum_ratio", parts.naive_lines, sums.prompt + sums.out_total, _SILENT)
    if parts.runs_reporting:
        unlogged = max(0, parts.reported_prompt - parts.logged_prompt) + max(0, parts.reported_out - parts.logged_out)
        yield count("unlogged_tokens", unlogged, Basis.REPORTED, {"runs": parts.runs_reporting})
    else:
        yield missing("unlogged_tokens", "no recording reports a total of its own", Basis.REPORTED)


def _prompt(parts: TokenParts) -> Metric:
    gaps = _prompt_gaps(parts)
    if gaps and not parts.prompt and gaps >= parts.sums.rows - parts.covered + parts.coarse.rows:
        return missing("exposed_tokens", "no request says its prompt", detail={"gaps": gaps})
    return at_least("exposed_tokens", parts.prompt, gaps, "requests do not say their whole prompt")


def _prompt_gaps(parts: TokenParts) -> int:
    sums, coarse = parts.sums, parts.coarse
    return sums.no_prompt - parts.covered + sums.placeholder_in + coarse.no_prompt + coarse.placeholder_in


def _exposure(kind: str, prompts: tuple[int, ...], unknown: int) -> Iterator[Metric]:
    """Mean, median, 95th percentile and peak of the prompts of one kind of thread."""
    notes = (f"Of requests that say their prompt; {unknown:,} of all threads do not.",) if unknown else ()
    yield count(f"exposed_{kind}_tokens", sum(prompts), detail={"requests": len(prompts)}, notes=notes)
    why = f"no {kind} request says its prompt"
    yield ratio(f"exposed_{kind}_mean", sum(prompts), len(prompts), why, notes=notes)
    for name, p in (("median", 50), ("p95", 95)):
        value = percentile(prompts, p)
        metric_id = f"exposed_{kind}_{name}"
        yield missing(metric_id, why) if value is None else Metric(metric_id, value, Basis.FORMULA, notes=notes)
    peak = f"exposed_{kind}_peak"
    yield Metric(peak, prompts[-1], Basis.COUNT, numerator=prompts[-1], notes=notes) if prompts else missing(peak, why)


def _output(parts: TokenParts) -> Metric:
    sums, coarse = parts.sums, parts.coarse
    gaps = sums.no_out - parts.covered + sums.placeholder_out + coarse.no_out
    if sums.rows + coarse.rows and sums.no_out + coarse.no_out == sums.rows + coarse.rows:
        return missing("output_tokens", "no request says its output", detail={"gaps": gaps})
    told = parts.reported_out if parts.reported_out > parts.logged_out else None
    high = parts.out - parts.logged_out + told if told is not None else None
    return at_least("output_tokens", parts.out, gaps, "requests do not say it, or hold a placeholder", high)


def cache_metrics(parts: CacheParts) -> Iterator[Metric]:
    """How much was read from the provider's cache, and where it broke."""
    yield ratio(
        "cache_hit_ratio",
        parts.read,
        parts.prompt,
        "no request says what it read from cache" if not parts.requests else "every prompt is empty",
        detail={"requests": parts.requests, "unsaid": parts.unsaid},
    )
    if parts.prompt and not parts.read and not parts.breaks:
        note: tuple[str, ...] = ("Nothing was ever read from a cache.",)
    else:
        note = ()
    yield count("cache_breaks", parts.breaks, Basis.FORMULA, parts.breaks_by_cause, note)
    yield count("cache_break_tokens", parts.tokens, Basis.FORMULA, parts.tokens_by_cause)
    yield count("cache_rewritten_tokens", parts.rewritten, Basis.FORMULA)


def compaction_metrics(parts: CompactionParts, reread: RereadParts) -> Iterator[Metric]:
    """Compactions, what they reclaimed, what they cost at least, and what was fetched again after them."""
    unknown = parts.folds - parts.measured
    yield count("compactions", parts.folds, detail={"grown": parts.grown, "unmeasured": unknown})
    yield count(
        "implicit_compactions", parts.implicit, Basis.MODEL, notes=("Inferred from prompts that fell by half.",)
    )
    if parts.folds and not parts.measured:
        yield missing("reclaimed_tokens_across_steps", "no compaction has a known prompt on both sides")
    else:
        yield at_least(
            "reclaimed_tokens_across_steps", parts.reclaimed, unknown, "compactions lack a prompt on one side"
        )
    yield count("implicit_reclaimed_tokens", parts.implicit_reclaimed, Basis.MODEL)
    yield _auxiliary(parts)
    yield from _rereads(parts, reread)


def _auxiliary(parts: CompactionParts) -> Metric:
    metric_id = "compaction_call_tokens"
    if parts.folds and not parts.aux_modelled:
        return missing(metric_id, "the summarising calls are in the log and counted there", Basis.MODEL)
    detail = {"input": parts.aux_in, "output": parts.aux_out, "calls": parts.aux_modelled, "unsized": parts.aux_unsized}
    note = "A model from below: the prompt before each compaction, and the bytes of its summary over four."
    whole = parts.aux_in + parts.aux_out
    bound = whole if parts.aux_modelled else None
    return Metric(metric_id, whole, Basis.MODEL, numerator=whole, low=bound, detail=detail, notes=(note,))


def _rereads(parts: CompactionParts, reread: RereadParts) -> Iterator[Metric]:
    none = "there is no compaction with a call after it"
    detail = {"folds": reread.folds, "fewer_calls": reread.short}
    for k in WINDOWS:
        key = str(k)
        again = reread.rereads.get(key, 0)
        yield ratio(
            f"reread_regret_{k}",
            reread.tokens.get(key, 0),
            parts.reclaimed,
            "nothing was reclaimed",
            Basis.MODEL,
            {"rereads": again, "unsized": reread.unsized},
        )
        yield ratio(f"reread_after_fold_{k}", reread.folds_reread.get(key, 0), reread.eligible, none, detail=detail)
        for family in SIGNAL_FAMILIES:
            hit = reread.folds_family.get(f"{family.value}@{k}", 0)
            yield ratio(f"{family.value}_after_fold_{k}", hit, reread.eligible, none, detail=detail)
    yield ratio("demand_page_miss_rate", reread.misses, reread.miss_calls, none, detail={"folds": reread.folds})

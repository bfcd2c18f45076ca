"""The metrics of tokens from the sums of one run or of many: totals, exposure by kind of thread, the usual wrong sum.

What some requests do not say makes a bound of a sum and leaves a percentile undefined; a gap is never taken for zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from kpis.formulas.context.percentile import percentile
from kpis.formulas.recorded.stated import at_least, count, missing, ratio
from kpis.formulas.recorded.tokens import TokenParts
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["token_metrics"]

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
    yield from _exposure("main", parts.main_prompts, parts.main_unknown)
    yield from _exposure("other", parts.other_prompts, parts.other_unknown)
    yield from _split(parts)
    yield _output(parts)
    yield count("line_sum_tokens", parts.naive_lines, detail={"prompt": parts.naive_prompt, "output": parts.naive_out})
    yield ratio("line_sum_ratio", parts.naive_lines, sums.prompt + sums.out_total, _SILENT)
    if parts.runs_reporting:
        unlogged = max(0, parts.reported_prompt - parts.logged_prompt) + max(0, parts.reported_out - parts.logged_out)
        yield count("unlogged_tokens", unlogged, Basis.REPORTED, {"runs": parts.runs_reporting})
    else:
        yield missing("unlogged_tokens", "no recording reports a total of its own", Basis.REPORTED)


def _prompt(parts: TokenParts) -> Metric:
    gaps = parts.prompt_gaps
    if gaps and not parts.prompt and gaps >= parts.rows:
        return missing("exposed_tokens", "no request says its prompt", detail={"gaps": gaps})
    return at_least("exposed_tokens", parts.prompt, gaps, "requests do not say their whole prompt")


def _exposure(kind: str, prompts: tuple[int, ...], unknown: int) -> Iterator[Metric]:
    """Sum, mean, median, 95th percentile and peak of the prompts of one kind of thread, ``unknown`` of them not known.

    Then the sum and the peak are bounds, and nothing can be said of what lies in the middle.
    """
    of, whole, known = f"{kind} requests do not say their whole prompt", sum(prompts), len(prompts)
    yield at_least(f"exposed_{kind}_tokens", whole, unknown, of, every=unknown + known, detail={"requests": known})
    why, gaps = f"no {kind} request says its prompt", {}
    if known and unknown:
        why, gaps = f"{unknown:,} of {unknown + known:,} {of}", {"gaps": unknown}
    if gaps or not known:
        for name in ("mean", "median", "p95"):
            yield missing(f"exposed_{kind}_{name}", why, Basis.FORMULA, gaps)
    else:
        yield ratio(f"exposed_{kind}_mean", whole, known, why)
        for name, p in (("median", 50), ("p95", 95)):
            yield Metric(f"exposed_{kind}_{name}", percentile(prompts, p), Basis.FORMULA)
    peak = f"exposed_{kind}_peak"
    yield at_least(peak, prompts[-1], unknown, of) if prompts else missing(peak, why)


def _split(parts: TokenParts) -> Iterator[Metric]:
    """The shares of prompts and outputs that only some recordings tell apart."""
    sums, coarse, rows, silent = parts.sums, parts.coarse, parts.rows, parts.covered
    of = "requests do not say it"
    gaps = sums.no_fresh + coarse.no_fresh - silent
    yield at_least("fresh_tokens", sums.fresh_in + coarse.fresh_in, gaps, of, every=rows)
    gaps = sums.no_cache_read + coarse.no_cache_read - silent
    yield at_least("cache_read_tokens", sums.cache_read + coarse.cache_read, gaps, of, every=rows)
    writes = {
        "5m": sums.cache_write_5m + coarse.cache_write_5m,
        "1h": sums.cache_write_1h + coarse.cache_write_1h,
        "lifetime_unknown": sums.cache_write_other + coarse.cache_write_other,
    }
    gaps = sums.no_cache_write + coarse.no_cache_write - silent
    yield at_least("cache_write_tokens", sum(writes.values()), gaps, of, every=rows, detail=writes)
    gaps = sums.no_reasoning + coarse.no_reasoning - silent
    yield at_least("reasoning_tokens", sums.out_reasoning + coarse.out_reasoning, gaps, of, every=rows)


def _output(parts: TokenParts) -> Metric:
    sums, coarse = parts.sums, parts.coarse
    if sums.rows + coarse.rows and sums.no_out + coarse.no_out == sums.rows + coarse.rows:
        return missing("output_tokens", "no request says its output", detail={"gaps": parts.out_gaps})
    told = parts.reported_out if parts.reported_out > parts.logged_out else None
    high = parts.out - parts.logged_out + told if told is not None else None
    of = "requests do not say it, or hold a placeholder"
    return at_least("output_tokens", parts.out, parts.out_gaps, of, high=high)

"""The lines that say what recorded runs came to: tokens, money, cache, work, time, trust. One run or many alike.

A number that is a lower bound is written with a sign for it, one that is modelled with "about", and what has no value
says why. Refuses to round a count away: small numbers are whole, large ones keep four digits and a letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.report.progress import duration
from kpis.formulas.recorded.evaluate import RunParts
from kpis.formulas.recorded.trust import Trust
from kpis.terms.metric import Metric

__all__ = ["amount", "at_least", "big", "lines_of"]

_CAUSES = {
    "pause": ("pause past the lifetime", "pauses past the lifetime"),
    "compaction": ("compaction", "compactions"),
    "implicit_compaction": ("prompt that fell by half", "prompts that fell by half"),
    "model_change": ("change of model", "changes of model"),
    "mutation": ("change of the history", "changes of the history"),
    "thread_start": ("start of a copied thread", "starts of copied threads"),
    "unexplained": ("unexplained", "unexplained"),
}
_SPANS = ("model", "tool", "hook", "approval", "user_idle", "retry", "subagent_wait", "harness", "unattributed")


def big(value: float) -> str:
    """``6,911``, ``98.71 k``, ``23.97 M``: whole below 10,000, else four digits and a letter."""
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= (1e4 if letter == "k" else factor):
            return f"{value / factor:.4g} {letter}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def amount(value: float) -> str:
    """Dollars: cents from one dollar on, four digits below; what is less than that is not called nothing."""
    if value < 0:
        return f"-{amount(-value)}"
    if 0 < value < 0.00005:
        return "<$0.0001"
    return f"${value:,.2f}" if value >= 1 else f"${value:.4f}".rstrip("0").ljust(5, "0")


def at_least(metric: Metric, written: str) -> str:
    """``written``, marked where it is a lower bound."""
    return f">= {written}" if metric.low is not None and metric.low == metric.value else written


def _said(metric: Metric, unit: str = "") -> str:
    if metric.value is None:
        return f"unknown ({metric.undefined})"
    return at_least(metric, big(metric.value)) + unit


def lines_of(parts: RunParts, found: Mapping[str, Metric], prices: str) -> Iterator[tuple[str, list[str]]]:
    """(label, pieces) a line; the pieces are kept whole where a line is broken."""
    yield "tokens", list(_tokens(parts, found))
    yield "money", list(_money(found, prices))
    yield "cache", list(_cache(found))
    yield "work", list(_work(found))
    if parts.ledger.runs:
        yield "time", list(_time(found))
    if parts.efficiency.judged:
        judged = parts.efficiency.judged
        yield "verdict", [f"{parts.efficiency.succeeded:,} of {judged:,} judged run{'s' * (judged != 1)} passed"]
    yield "trust", list(_trust(parts, found))


def _tokens(parts: RunParts, found: Mapping[str, Metric]) -> Iterator[str]:
    yield f"prompt {_said(found['exposed_tokens'])}"
    middle, peak = found["exposed_main_median"], found["exposed_main_peak"]
    if peak.value is not None and middle.value is not None:
        # Of prompts that are known in part only, the largest is a bound, and the middle one says nothing.
        whole = found["exposed_tokens"].low is None
        yield f"(median {big(middle.value)}, peak {big(peak.value)})" if whole else f"(peak >= {big(peak.value)})"
    hit = found["cache_hit_ratio"]
    yield "cache hit unknown" if hit.value is None else f"cache hit {100 * hit.value:.1f} %"
    out = found["output_tokens"]
    cut = parts.trust.unread or parts.trust.bad_lines or parts.trust.unopened
    mark = ">= " if cut and out.value is not None and out.low is None else ""
    sure = " [observed]" if not cut and out.value is not None and out.low is None else ""
    yield f"output {mark}{_said(out)}{sure}"
    naive = found["line_sum_tokens"]
    if naive.value is not None and parts.tokens.lines > parts.tokens.sums.rows:
        yield f"(a sum over lines would say {big(naive.value)})"


def _money(found: Mapping[str, Metric], prices: str) -> Iterator[str]:
    computed, reported = found["cost_computed_usd"], found["cost_reported_usd"]
    if computed.value is None:
        yield f"no total: {computed.undefined}"
    else:
        yield f"{at_least(computed, amount(computed.value))} computed ({prices})"
    if reported.value is not None:
        yield f"{amount(reported.value)} reported"
    broken, folds = found["cache_break_cost_usd"], found["compaction_cost_usd"]
    if broken.value:
        yield f"broken caches about {amount(broken.value)} of it"
    if folds.value:
        yield f"compaction calls: not in the log (about {amount(folds.value)}, modelled)"


def _cache(found: Mapping[str, Metric]) -> Iterator[str]:
    breaks, tokens = found["cache_breaks"], found["cache_break_tokens"]
    if found["cache_hit_ratio"].value is None:
        yield f"unknown: {found['cache_hit_ratio'].undefined}"
        return
    if not breaks.value:
        yield "no break of the prefix"
    else:
        yield f"{breaks.value:,} break{'s' * (breaks.value != 1)}, {big(tokens.value or 0)} tokens lost:"
        counts = sorted(breaks.detail.items(), key=lambda item: (-tokens.detail.get(item[0], 0), item[0]))
        for at, (cause, n) in enumerate(counts):
            end = "," if at < len(counts) - 1 else ""
            yield f"{n:,} {_CAUSES[cause][n != 1]} ({big(tokens.detail[cause])}){end}"


def _work(found: Mapping[str, Metric]) -> Iterator[str]:
    repeats = found["duplicate_calls"]
    if not found["tool_calls"].value:
        yield "no tool calls"
        return
    least = repeats.value or 0
    most = repeats.high if repeats.high is not None else least
    times = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    yield f"{times} call{'s' * (times != '1')} repeated with nothing changed"
    loops, warned = found["tool_loops"].value or 0, found["tool_loop_warnings"].value or 0
    yield f"{loops:,} loop{'s' * (loops != 1)}" + (f" and {warned:,} begun" if warned else "")
    polling = found["polling_calls"].value
    if polling:
        yield f"{polling:,} poll{'s' * (polling != 1)}"
    for name, word in (
        ("tool_denials", "denied"),
        ("tool_interrupts", "interrupted"),
        ("tool_unanswered", "unanswered"),
    ):
        if found[name].value:
            yield f"{found[name].value:,} {word}"
    orphans = found["tool_orphans"].value
    if orphans:
        yield f"{orphans:,} result{'s' * (orphans != 1)} without a call"
    missed = found["demand_page_miss_rate"]
    if missed.numerator:
        yield f"{missed.numerator:,} file{'s' * (missed.numerator != 1)} read again after a compaction"
    wasted = found["wasted_tokens"].value
    if wasted:
        yield f"{big(wasted)} tokens on requests that only failed"
    unread = found["subagents_unread"].value
    if unread:
        yield f"{unread:,} sub-agent result{'s' * (unread != 1)} never read"


def _time(found: Mapping[str, Metric]) -> Iterator[str]:
    wall = found["time_wall_ms"]
    if wall.value is None:
        yield f"unknown: {wall.undefined}"
        return
    spans = [(name, found[f"time_{name}_ms"].value or 0) for name in _SPANS]
    told = [f"{name.replace('_', ' ')} {duration(value / 1000)}" for name, value in spans if value >= 500]
    yield f"wall {duration(wall.value / 1000)}" + ":" * bool(told)
    yield from told
    overlap = (found["time_tool_overlap_ms"].value or 0) + (found["time_agent_overlap_ms"].value or 0)
    if overlap >= 500:
        yield f"({duration(overlap / 1000)} of it side by side)"


def _trust(parts: RunParts, found: Mapping[str, Metric]) -> Iterator[str]:
    match parts.trust.level:
        case Trust.OK if found["cost_computed_usd"].low is not None:
            yield "tokens OK:"
            yield f"the cost is a lower bound, since {_unsaid(parts)} is not recorded."
            return
        case Trust.OK:
            yield "OK"
            return
        case Trust.NOT_RECORDED:
            yield "OUTPUT NOT RECORDED: output and cost are lower bounds."
        case Trust.LOWER_BOUND:
            only_prices = parts.trust.unpriced and len(list(parts.trust.reasons())) == 1
            yield "tokens OK:" if only_prices else "LOWER BOUNDS:"
    yield from parts.trust.reasons()


def _unsaid(parts: RunParts) -> str:
    """What a bill depends on that whole counts of tokens do not say."""
    sums, coarse = parts.tokens.sums, parts.tokens.coarse
    lifetime = "how long cache writes live" if sums.cache_write_other or coarse.cache_write_other else ""
    share = "what of the prompts was cached" if sums.undivided or coarse.undivided else ""
    return " and ".join(filter(None, (share, lifetime))) or "a part of the bill"

"""The lines that say what recorded runs came to: tokens, money, cache, work, time, trust. One run or many alike.

A number that is a lower bound is written with a sign for it, one that is modelled with "about", and what has no value
says why. Refuses to round a count away: small numbers are whole, large ones keep four digits and a letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.report.replay_time import time_pieces
from harness.report.replay_trust import trust_pieces
from kpis.formulas.recorded.evaluate import RunParts
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

_TIERS = {
    "fresh": "fresh input",
    "cache_read": "cache reads",
    "cache_write": "cache writes",
    "undivided": "undivided prompts",
    "output": "output",
}


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
        yield "time", list(time_pieces(found))
    if parts.efficiency.judged:
        work = parts.efficiency
        some = f"{'run' if work.attempts == work.runs else 'attempt'}{'s' * (work.judged != 1)}"
        yield "verdict", [f"{work.succeeded:,} of {work.judged:,} judged {some} passed"]
    yield "trust", list(trust_pieces(parts, found))


def _tokens(parts: RunParts, found: Mapping[str, Metric]) -> Iterator[str]:
    yield f"prompt {_said(found['exposed_tokens'])}"
    middle, peak = found["exposed_main_median"], found["exposed_main_peak"]
    if peak.value is not None:
        # Of prompts that are known in part only, the largest is a bound, and the middle one says nothing.
        whole = middle.value is not None and peak.low is None
        yield f"(median {big(middle.value or 0)}, peak {big(peak.value)})" if whole else f"(peak >= {big(peak.value)})"
    yield _hit(found["cache_hit_ratio"])
    out = found["output_tokens"]
    cut = parts.trust.unread or parts.trust.bad_lines or parts.trust.unopened
    mark = ">= " if cut and out.value is not None and out.low is None else ""
    sure = " [observed]" if not cut and out.value is not None and out.low is None else ""
    yield f"output {mark}{_said(out)}{sure}"
    naive = found["line_sum_tokens"]
    if naive.value is not None and parts.tokens.lines > parts.tokens.sums.rows:
        yield f"(a sum over lines would say {big(naive.value)})"


def _hit(metric: Metric) -> str:
    """How much of the prompts was read from cache; of those that say it, where some do not."""
    if metric.value is not None:
        return f"cache hit {100 * metric.value:.1f} %"
    if not metric.denominator:
        return "cache hit unknown"
    known = f"{100 * (metric.numerator or 0) / metric.denominator:.1f} %"
    said = metric.detail["requests"]
    return f"cache hit {known} of the " + ("request that says it" if said == 1 else f"{said:,} requests that say it")


def _money(found: Mapping[str, Metric], prices: str) -> Iterator[str]:
    computed, reported = found["cost_computed_usd"], found["cost_reported_usd"]
    if computed.value is None:
        yield f"no total: {computed.undefined}"
    else:
        yield f"{at_least(computed, amount(computed.value))} computed ({prices})"
        tiers = [f"{word} {amount(computed.detail[tier])}" for tier, word in _TIERS.items() if tier in computed.detail]
        if len(tiers) > 1:
            yield f"({', '.join(tiers)})"
    if reported.value is not None:
        yield f"{amount(reported.value)} reported"
    broken, folds = found["cache_break_cost_usd"], found["compaction_cost_usd"]
    if broken.value:
        yield f"broken caches about {amount(broken.value)} of it"
    if folds.value:
        yield f"compaction calls: not in the log (about {amount(folds.value)}, modelled)"


def _cache(found: Mapping[str, Metric]) -> Iterator[str]:
    breaks, tokens = found["cache_breaks"], found["cache_break_tokens"]
    hit = found["cache_hit_ratio"]
    if hit.value is None and not hit.denominator:
        yield f"unknown: {hit.undefined}"
        return
    if breaks.value is None:
        yield f"breaks unknown: {breaks.undefined}"
    elif not breaks.value:
        yield "no break of the prefix" + " seen, and not every pair could be compared" * (breaks.low is not None)
    else:
        some = f"{at_least(breaks, f'{breaks.value:,}')} break{'s' * (breaks.value != 1)}"
        yield f"{some}, {big(tokens.value or 0)} tokens lost:"
        causes = ((cause, n) for cause, n in breaks.detail.items() if cause in _CAUSES)
        counts = sorted(causes, key=lambda item: (-tokens.detail.get(item[0], 0), item[0]))
        for at, (cause, n) in enumerate(counts):
            end = "," if at < len(counts) - 1 else ""
            yield f"{n:,} {_CAUSES[cause][n != 1]} ({big(tokens.detail.get(cause, 0))}){end}"


def _work(found: Mapping[str, Metric]) -> Iterator[str]:
    repeats = found["duplicate_calls"]
    if not found["tool_calls"].value:
        yield "no tool calls"
        return
    if repeats.value is None:
        yield f"repeats unknown: {repeats.undefined}"
    else:
        least, most = repeats.value, repeats.value if repeats.high is None else repeats.high
        times = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        yield f"{times} call{'s' * (times != '1')} repeated with nothing changed"
    loops, warned = found["tool_loops"], found["tool_loop_warnings"].value
    if loops.value is None:
        yield "loops unknown"
    else:
        some = f"{at_least(loops, f'{loops.value:,}')} loop{'s' * (loops.value != 1)}"
        yield some + (f" and {warned:,} begun" if warned else "")
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
        again = f"{'>= ' * (missed.low is not None)}{missed.numerator:,}"
        yield f"{again} file{'s' * (missed.numerator != 1)} read again after a compaction"
    wasted = found["wasted_tokens"]
    if wasted.value is None:
        yield "an unknown number of tokens on requests that only failed"
    elif wasted.value:
        yield f"{at_least(wasted, big(wasted.value))} tokens on requests that only failed"
    unread = found["subagents_unread"]
    if unread.value:
        yield f"{at_least(unread, f'{unread.value:,}')} sub-agent result{'s' * (unread.value != 1)} never read"

"""What runs cost by a price table, beside what their recordings report, with the gap between the two.

Where one model has no price there is no total: a sum over the rest would look cheap. Writes of an unknown lifetime and
prompts without their cached share leave bounds. Refuses to mix what is reported with what is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress

from kpis.formulas.recorded.bills import break_cost, compaction_cost
from kpis.formulas.recorded.cache import CacheBreak
from kpis.formulas.recorded.compaction import aux_of, compactions
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.pricing import PICO, ModelPrice, Money, Price, PriceTable, cost_of, price_of, token_cost
from kpis.formulas.recorded.sums import TokenSums, sums_of
from kpis.formulas.recorded.view import RunView, prompt_of
from kpis.terms.trace import Request, ThreadKind, Tokens

__all__ = ["UNNAMED", "CostParts", "cost_parts", "request_cost"]

UNNAMED = "(no model named)"

_LARGEST = 1e12
"""Dollars: what a recording reports beyond this, or below nothing, is no cost but a fault of it."""


@dataclass(frozen=True, slots=True)
class CostParts(Summed):
    """What one run adds, in picodollars.

    ``unpriced`` are requests by model without a price, ``incomplete`` ones that lack a count of tokens and so cost more
    than is said. ``by_tier`` splits ``low`` by what the tokens were. ``compared_*`` are of the runs that both report a
    cost and have a price for every model.
    """

    low: int = 0
    high: int = 0
    requests: int = 0
    incomplete: int = 0
    unpriced: dict[str, int] = field(default_factory=dict)
    by_tier: dict[str, int] = field(default_factory=dict)
    by_model: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    runs_reporting: int = 0
    reported: int = 0
    runs_compared: int = 0
    compared_reported: int = 0
    compared_low: int = 0
    compared_high: int = 0
    broken: int = 0
    broken_unpriced: int = 0
    compactions: int = 0
    compactions_unpriced: int = 0
    compactions_unsized: int = 0


def request_cost(request: Request, table: PriceTable) -> Money | None:
    """What one request cost, or None where its model has no price. One from a cache of the client cost nothing."""
    if request.local_cache:
        return Money(0, 0)
    row = table.find(request.model)
    return None if row is None else token_cost(price_of(row, prompt_of(request.tokens)), request.tokens)


def _priced(
    row: ModelPrice, tokens: Sequence[Tokens], prompts: Sequence[int | None], sums: TokenSums
) -> Iterable[tuple[Price, TokenSums]]:
    """The rows of one model, whose sums are ``sums``, by the price that they pay."""
    above = row.above
    if row.long is None or above is None:
        return [(row.price, sums)]
    is_long = [prompt is not None and prompt > above for prompt in prompts]
    if True not in is_long:
        return [(row.price, sums)]
    short = [not each for each in is_long]
    return [
        (row.price, sums_of(list(compress(tokens, short)))),
        (row.long, sums_of(list(compress(tokens, is_long)))),
    ]


def _models(view: RunView) -> dict[str | None, tuple[Sequence[Tokens], Sequence[int | None]]]:
    """The columns of each model; whole-thread rows have no prompt, so their tier is the short one: a lower bound."""
    models = [request.model for request in view.billed]
    rows, prompts = view.tokens, view.prompts
    if view.covered:  # they have no tokens of their own, and the row that counts them has a price or has none
        away = {id(request) for request in view.covered}
        kept = [id(request) not in away for request in view.billed]
        models, rows, prompts = list(compress(models, kept)), list(compress(rows, kept)), list(compress(prompts, kept))
    columns: dict[str | None, tuple[Sequence[Tokens], Sequence[int | None]]] = {}
    different = set(models)
    for model in different:
        if len(different) == 1:
            columns[model] = (rows, prompts)
        else:
            which = [each == model for each in models]
            columns[model] = (list(compress(rows, which)), list(compress(prompts, which)))
    for row in view.coarse:
        tokens, sizes = columns.get(row.model, ([], []))
        columns[row.model] = ([*tokens, row.tokens], [*sizes, None])
    return columns


def cost_parts(view: RunView, table: PriceTable, breaks: Sequence[CacheBreak]) -> CostParts:
    """The cost parts of one run by ``table``; ``breaks`` are those of its cache."""
    low = high = incomplete = 0
    unpriced: dict[str, int] = {}
    tiers: dict[str, int] = {}
    by_model: dict[str, int] = {}
    for model, (tokens, prompts) in _models(view).items():
        row = table.find(model)
        name = model or UNNAMED
        if row is None:
            unpriced[name] = len(tokens)
            continue
        before = low
        whole = view.sums if tokens is view.tokens else sums_of(tokens)
        incomplete += _gaps(tokens, whole)
        for price, sums in _priced(row, tokens, prompts, whole):
            money = cost_of(price, sums)
            low += money.low
            high += money.high
            for tier, cost in _by_tier(price, sums, money.low):
                tiers[tier] = tiers.get(tier, 0) + cost
        by_model[name] = by_model.get(name, 0) + low - before
    reported = _reported(view)
    compared = reported is not None and not unpriced
    lost = [break_cost(found, table) for found in breaks]
    logged = ThreadKind.SUMMARISER in view.kinds.values()
    folds = [] if logged else list(compactions(view))
    calls = [compaction_cost(found, table) for found in folds]
    unsized = sum(cost is None and aux_of(fold) == (None, None) for cost, fold in zip(calls, folds, strict=True))
    return CostParts(
        low=low,
        high=high,
        requests=len(view.billed) + len(view.coarse) - len(view.covered),
        incomplete=incomplete,
        unpriced=unpriced,
        by_tier=tiers,
        by_model=by_model,
        runs=1,
        runs_reporting=int(reported is not None),
        reported=reported or 0,
        runs_compared=int(compared),
        compared_reported=(reported or 0) if compared else 0,
        compared_low=low if compared else 0,
        compared_high=high if compared else 0,
        broken=sum(filter(None, lost)),
        broken_unpriced=lost.count(None),
        compactions=sum(filter(None, calls)),
        compactions_unpriced=calls.count(None) - unsized,
        compactions_unsized=unsized,
    )


def _gaps(tokens: Sequence[Tokens], sums: TokenSums) -> int:
    """Rows that do not say all their tokens; looked for one by one only where their sums tell of any."""
    return 0 if sums.all_known else sum(not sums_of([row]).all_known for row in tokens)


def _by_tier(price: Price, sums: TokenSums, whole: int) -> Iterable[tuple[str, int]]:
    """The lower bound of a cost by what the tokens were; a prompt given as one number is what is left."""
    costs = {
        "fresh": sums.fresh_in * price.fresh,
        "cache_read": sums.cache_read * price.cache_read,
        "cache_write": sums.cache_write_5m * price.write_5m
        + sums.cache_write_1h * price.write_1h
        + sums.cache_write_other * min(price.write_5m, price.write_1h),
        "output": sums.out_total * price.output,
    }
    costs["undivided"] = whole - sum(costs.values())
    return [(tier, cost) for tier, cost in costs.items() if cost]


def _reported(view: RunView) -> int | None:
    """What the recording says that the run cost: its own total, else that of its models, else of every request."""
    totals = [facts.cost_usd for facts in view.facts if facts.cost_usd is not None]
    if not totals:
        totals = [usage.cost_usd for facts in view.facts for usage in facts.by_model if usage.cost_usd is not None]
    if not totals:
        each = [request.cost_usd for request in (*view.billed, *view.coarse)]
        totals = [] if None in each else [cost for cost in each if cost is not None]
    known = [round(cost * PICO) for cost in totals if 0 <= cost <= _LARGEST]
    return sum(known) if known else None

"""What a broken cache and a compaction cost, each from below: shares of a bill that no line of a log states.

Which tokens a request sent anew were the lost ones is not known, so the cheapest are taken first. A summarising call
that the log does not hold is priced as the whole prompt read from cache and a summary of bytes / 4.
"""

from __future__ import annotations

from kpis.formulas.recorded.cache import CacheBreak, rewritten_of
from kpis.formulas.recorded.compaction import Reclaimed, aux_of
from kpis.formulas.recorded.pricing import PriceTable, price_of
from kpis.formulas.recorded.view import prompt_of

__all__ = ["break_cost", "compaction_cost"]


def break_cost(found: CacheBreak, table: PriceTable) -> int | None:
    """Picodollars that the tokens sent anew cost above reading them from cache, at least; None without a price."""
    row = table.find(found.request.model)
    if row is None:
        return None
    tokens = found.request.tokens
    price = price_of(row, prompt_of(tokens))
    left = rewritten_of(found)
    extra = 0
    shares = (
        (tokens.fresh_in, price.fresh),
        (tokens.cache_write_5m, price.write_5m),
        (tokens.cache_write_other, min(price.write_5m, price.write_1h)),
        (tokens.cache_write_1h, price.write_1h),
    )
    for share, paid in sorted(shares, key=lambda each: each[1]):
        part = min(left, share or 0)
        extra += part * max(0, paid - price.cache_read)
        left -= part
    return extra


def compaction_cost(found: Reclaimed, table: PriceTable) -> int | None:
    """Picodollars that the summarising call cost at least. None where the model has no price, or no size is known."""
    beside = found.before or found.after
    row = table.find(beside.model) if beside is not None else None
    read, written = aux_of(found)
    if row is None or (read is None and written is None):
        return None
    price = price_of(row, read)
    return (read or 0) * price.cache_read + (written or 0) * price.output

"""How each prompt divides into what was sent for the first time and what was sent again, and what either cost.

New in a request is what its prompt grew by over the one before it. At the start of a conversation all of it is new;
where the history was replaced (a compaction, a prompt that fell by more than half) or a branch began, new is what was
not read from cache. The cost of the new share is that of as many tokens sent uncached, as far as there are any. Both
shares and both costs are whole numbers that add up to the request's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kpis.formulas.recorded.chains import Chain
from kpis.formulas.recorded.folds import halved
from kpis.formulas.recorded.pricing import PriceTable, price_of, token_cost
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import Request

__all__ = ["Flow", "flows"]


@dataclass(frozen=True, slots=True)
class Flow:
    """One request of a chain. Tokens are 0 where the prompt is not known (``prompt`` None); money is picodollars.

    ``grown`` is the growth over the last known prompt, None at a start or where the history was replaced (``fresh``).
    """

    at: int
    request: Request
    prompt: int | None
    fresh: bool
    grown: int | None
    new: int
    carried: int
    new_cost: int
    carried_cost: int
    out: int
    out_cost: int
    priced: bool


def flows(view: RunView, table: PriceTable) -> Iterator[tuple[Chain, list[Flow]]]:
    """Every chain with the flow of each of its requests, copied ones too: they are what the next ones grew from."""
    for chain in view.chains:
        folded = {fold.at for fold in chain.folds}
        last: int | None = None
        rows: list[Flow] = []
        for at, (request, prompt) in enumerate(zip(chain.requests, chain.prompts, strict=True)):
            replaced = at in folded or halved(last, prompt)
            fresh = replaced or last is None
            grown = None if fresh or prompt is None or last is None else prompt - last
            rows.append(
                _flow(at, request, prompt, fresh, grown, begins=chain.conversation and not replaced, table=table)
            )
            if prompt is not None or at in folded:
                last = prompt
        yield chain, rows


def _flow(
    at: int, request: Request, prompt: int | None, fresh: bool, grown: int | None, *, begins: bool, table: PriceTable
) -> Flow:
    tokens = request.tokens
    read = min(tokens.cache_read or 0, prompt or 0)
    if prompt is None:
        new = 0
    elif grown is not None:
        new = max(0, grown)
    else:
        new = prompt if begins else prompt - read
    row = table.find(request.model)
    new_cost = carried_cost = out_cost = 0
    if row is not None:
        price = price_of(row, prompt)
        out_cost = (tokens.out_total or 0) * price.output
        whole = token_cost(price, tokens).low - out_cost
        if prompt is None:
            new_cost = whole
        else:
            new_cost = _cost_of_new(new, prompt - read, read, whole - read * price.cache_read, read * price.cache_read)
            carried_cost = whole - new_cost
    return Flow(
        at=at,
        request=request,
        prompt=prompt,
        fresh=fresh,
        grown=grown,
        new=new,
        carried=(prompt or 0) - new,
        new_cost=new_cost,
        carried_cost=carried_cost,
        out=tokens.out_total or 0,
        out_cost=out_cost,
        priced=row is not None,
    )


def _cost_of_new(new: int, uncached: int, read: int, uncached_cost: int, read_cost: int) -> int:
    """What ``new`` tokens cost: first as tokens that were sent uncached, the rest, if any, as tokens read."""
    if new <= uncached:
        return uncached_cost * new // uncached if uncached else 0
    return uncached_cost + (read_cost * (new - uncached) // read if read else 0)

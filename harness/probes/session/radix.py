"""Drives the prefix cache: what share of the prompt tokens is there when a request comes, under a budget that bites.

Five agents behind one system prompt take turns and send their whole history each time, in the order in which they do
or sorted beforehand. The cache's word for a hit is not taken: it may claim no more than the request has in common with
an earlier one, says the same when it is only asked, has to hold what was just put into it, and what it says before and
after every request has to be what a cache under its budget could hold, see ``_budgeted``. Whom it evicts is its own
affair, and is what the number shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes.session._budgeted import Watch
from kpis.formulas.session.radix import (
    budget_of,
    declared_once,
    hit_rate,
    most_reused,
    speedup,
)
from kpis.formulas.session.token_ids import agents
from seams.contract.radix import PrefixCache, RadixStats, Store

__all__ = ["Probe"]

Requests = Sequence[tuple[int, ...]]


class Probe:
    """Opens the KPI of ``session/radix``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"cache_hit_rate"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous cache, the coroutine that returns it."""
        store: Store | None = runtime.offer("session/radix", "none")
        if store is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no prefix cache.")
        arrived = agents()
        requests = sorted(arrived) if params["order"] == "cache_aware" else arrived
        budget = budget_of(requests)
        bounded, unbounded = store.cache(budget), store.cache()
        steps = (bounded.match_len, bounded.lookup, bounded.insert, bounded.done)
        return finish(_rated(requests, budget, bounded, unbounded), *steps)


async def _rated(requests: Requests, budget: int, bounded: PrefixCache, unbounded: PrefixCache) -> Tally:
    counts = await _served(bounded, requests, budget)
    free = await _served(unbounded, requests, 0)
    tokens, reused, held = sum(map(len, requests)), sum(counts), sum(free)
    stats: RadixStats = await settled(bounded.stats())
    shared, declared = declared_once(requests)
    return Tally(
        reused,
        tokens,
        reasons={
            "system_prompt": sum(min(count, shared) for count in counts),
            "own_history": sum(max(count - shared, 0) for count in counts),
        },
        source="synthetic",
        evidence=(
            f"{len(requests)} requests, {tokens} tokens, budget {budget}: {reused} reused, {tokens - reused} computed, "
            f"{speedup(reused, tokens) or 0:.4f} times fewer",
            f"without a budget {held} reused ({hit_rate(held, tokens) or 0:.4f}): this is "
            f"{hit_rate(reused, held) or 0:.4f} of it",
            f"{stats.evictions} evictions, {stats.splits} splits, {stats.tokens} tokens held at the end, "
            f"{stats.prefix_tokens} where every node keeps its whole prefix",
            f"a prefix declared once for all: {shared} tokens, {declared} reused",
        ),
    )


async def _served(cache: PrefixCache, requests: Requests, budget: int) -> list[int]:
    """Put ``requests`` through ``cache``; the tokens that it had of each.

    Raises:
        WorkNotDoneError: it claims what nobody put there, forgets what came last, or holds more than its budget.
    """
    counts: list[int] = []
    watch = Watch(cache, budget)
    for at, (request, most) in enumerate(zip(requests, most_reused(requests), strict=True)):
        asked = (await watch.look(requests[: at + 1]))[request]
        place, matched = await settled(cache.lookup(request))
        if asked != matched:
            raise WorkNotDoneError(f"request {at} has {matched} tokens cached when looked up and {asked} when asked")
        if not 0 <= matched <= most or (matched < most and not budget):
            raise WorkNotDoneError(f"{matched} tokens of request {at} are said to be cached; the most is {most}")
        end = await settled(cache.insert(place, request[matched:]))
        await settled(cache.done(end))  # type: ignore[func-returns-value]
        counts.append(matched)
        if await settled(cache.match_len(request)) != len(request):
            raise WorkNotDoneError(f"request {at} is not cached right after it was put there")
        await watch.look(requests[: at + 1], request)
    stats: RadixStats = await settled(cache.stats())
    if stats.leases:
        raise WorkNotDoneError(f"{stats.leases} leases are held after each was given back")
    return counts

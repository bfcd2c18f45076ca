"""What the provider says it served from its cache: hit ratios by class of request, and what a token then costs.

Only the provider's own disjoint counters go in. What the prefix *could* have saved is another column, and the gap
between the two is told, never closed. Usage without cache fields is no hit ratio of 0, it is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from kpis.formulas.context.values import Ratio, ratio

__all__ = ["ClassHits", "Counters", "RequestClass", "effective_rho", "hit_ratio", "hits_by_class", "unrealised"]

NO_CACHE_FIELDS = "the provider reports no cache counters"


class RequestClass(Enum):
    """What came just before a request. Classes are never averaged together: that would hide what a fold costs."""

    NORMAL = "normal"
    AFTER_LEAF = "after_leaf"
    AFTER_ROOT = "after_root"
    AFTER_RECALL = "after_recall"


@dataclass(frozen=True, slots=True)
class Counters:
    """One request's tokens. ``uncached`` excludes what was read from the cache; None is not reported."""

    uncached: float | None
    cache_read: float | None
    cache_write: float | None = None
    output: float | None = None


@dataclass(frozen=True, slots=True)
class ClassHits:
    """Requests of one class: the ratio of their sums, each one's own, and how many told nothing or held no token."""

    total: Ratio
    each: tuple[float, ...]
    silent: int
    empty: int


def hit_ratio(counters: Counters) -> Ratio:
    """Realised h of one request: cache read over cache read and uncached input."""
    if counters.cache_read is None or counters.uncached is None:
        return Ratio(0, 0, None, NO_CACHE_FIELDS)
    return ratio(counters.cache_read, counters.cache_read + counters.uncached, "the request has no input token")


def hits_by_class(requests: Iterable[tuple[RequestClass, Counters]]) -> dict[RequestClass, ClassHits]:
    """Realised h by class, every class named."""
    grouped: dict[RequestClass, list[Counters]] = {kind: [] for kind in RequestClass}
    for kind, counters in requests:
        grouped[kind].append(counters)
    return {kind: _class_hits(members) for kind, members in grouped.items()}


def _class_hits(members: list[Counters]) -> ClassHits:
    read = tokens = silent = empty = 0.0
    each = []
    for counters in members:
        own = hit_ratio(counters)
        if own.undefined == NO_CACHE_FIELDS:
            silent += 1
        elif own.value is None:
            empty += 1
        else:
            each.append(own.value)
            read += own.numerator
            tokens += own.denominator
    why = NO_CACHE_FIELDS if silent else "no request of this class has an input token"
    return ClassHits(ratio(read, tokens, why), tuple(each), int(silent), int(empty))


def effective_rho(rho: float, hit: float) -> float:
    """What a shared token costs where only the part ``hit`` of them is served: h * rho + (1 - h), h within [0, 1]."""
    h = min(1.0, max(0.0, hit))
    return h * rho + (1 - h)


def unrealised(shared_prefix: float, cache_read: float | None) -> float | None:
    """Tokens that the prefix would have allowed and the provider did not serve; negative where it served more.

    None where the provider reports no cache counters.
    """
    return None if cache_read is None else shared_prefix - cache_read

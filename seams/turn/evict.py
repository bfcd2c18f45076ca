"""Eviction: a span's keys and values leave the cache, and what stood behind it is rotated into its place.

The cost follows the survivors behind the span, in all layers and heads: a tail is cut off and nothing is rotated.
"""

from __future__ import annotations

from seams.engines.tiny_cache import KvCache

__all__ = ["RecurrentCacheError", "evict", "require_evictable"]


class RecurrentCacheError(TypeError):
    """The cache carries a running state that every position has gone into, so none can be taken out of it."""


def require_evictable(cache: KvCache) -> None:
    """Nothing, where positions can be taken out of ``cache``.

    Raises:
        RecurrentCacheError: they cannot.
    """
    if not cache.evictable:
        raise RecurrentCacheError(
            "This cache carries a running state, from which no position can be taken out: prefill a new cache without "
            "the span. Run: python -m harness explain kv_evict_ns"
        )


def evict(cache: KvCache, start: int, count: int) -> int:
    """Take ``count`` positions from ``start`` on out of ``cache``, as far as there are any; return how many left.

    Each survivor behind them is rotated once, from its raw key, into its new position: a rotated key that is rotated
    on has been rounded twice. A span that is empty, or begins outside the cache, takes nothing out.

    Raises:
        RecurrentCacheError: from this cache nothing can be taken out, however the span lies.
    """
    require_evictable(cache)
    if count <= 0 or not 0 <= start < len(cache):
        return 0
    stop = min(start + count, len(cache))
    cache.delete(start, stop)
    cache.settle(start)
    return stop - start

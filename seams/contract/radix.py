"""The seam ``session/radix``: a cache of prompt prefixes, in which what two prompts begin with is held once.

A request is looked up, what is missing is computed and inserted behind what was found, and the lease that the look-up
took is given back. What is leased is not evicted to make room. Records and Protocols only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

__all__ = ["Match", "PrefixCache", "RadixStats", "Store"]


class RadixStats(NamedTuple):
    """A prefix cache at one moment. The root, which holds nothing, is no node here.

    ``tokens`` is what the budget bounds: the runs on all edges. ``prefix_tokens`` is what the nodes hold if each keeps
    the keys and values of its whole prefix, which may exceed any budget by a factor of the depth. ``leases`` are those
    not given back; the rest are events since the cache was made.
    """

    tokens: int
    prefix_tokens: int
    nodes: int
    leaves: int
    depth: int
    leases: int
    splits: int
    evictions: int
    policy_evictions: int


class Match(NamedTuple):
    """Where a request's cached prefix ends, leased, and how many tokens that is.

    ``at`` stands for this one look-up's lease, and it is what is given back: another look-up of the same prefix has a
    lease of its own.
    """

    at: object
    tokens: int


class PrefixCache(Protocol):
    """A prefix cache. The methods may be coroutine functions. ``at`` is whatever the cache knows a place by."""

    def match_len(self, tokens: Sequence[int]) -> int:
        """How many of ``tokens`` are cached from the first one on. Reads only: no lease, no recency, no split."""
        ...

    def lookup(self, tokens: Sequence[int]) -> Match:
        """The cached prefix of ``tokens``, leased and as if used now."""
        ...

    def insert(self, at: object, suffix: Sequence[int]) -> object:
        """Put ``suffix`` behind a leased place; the lease moves to its end, which is returned. Then make room.

        What is returned is the lease to be given back, and ``at`` is none any more, unless they are the same.
        """
        ...

    def done(self, at: object) -> None:
        """Give a lease back, once.

        A second time, and with what another cache gave, it should be a clear error: a cache that lets it pass takes
        away what others hold.
        """
        ...

    def evict_prefix(self, tokens: Sequence[int]) -> int:
        """Drop what is cached of ``tokens`` and behind it, leased or not; how many tokens became free."""
        ...

    def stats(self) -> RadixStats:
        """The cache as it is now."""
        ...


class Store(Protocol):
    """``session/radix``: makes prefix caches. Set-up of a measurement, so never a coroutine function."""

    def cache(self, max_tokens: int = 0) -> PrefixCache:
        """An empty cache that holds at most ``max_tokens``; 0 sets no bound."""
        ...

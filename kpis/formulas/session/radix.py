"""What a prefix cache can at most save on a list of requests, and the rates that its counts make.

Closed forms over token lists: no cache is kept here and nothing is evicted. They hold for any runtime, so that a count
of hits can be held against them. Units: tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

__all__ = ["budget_of", "common_prefix", "declared_once", "distinct_tokens", "hit_rate", "most_reused", "speedup"]

Requests = Sequence[Sequence[int]]


def hit_rate(reused: int, tokens: int) -> float | None:
    """The share of the prompt tokens that was there already; None of no tokens."""
    return reused / tokens if tokens else None


def speedup(reused: int, tokens: int) -> float | None:
    """All tokens over those that had to be computed; None where none had to be.

    A ratio of tokens: attention costs more the longer a prompt is, so that a clock may see more than this, or less.
    """
    return tokens / (tokens - reused) if tokens > reused else None


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Tokens that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


def declared_once(requests: Requests) -> tuple[int, int]:
    """(tokens that all requests begin with, what declaring them once as a shared prefix would save)."""
    if not requests:
        return 0, 0
    # Of sorted lists the first and the last have the least in common.
    ordered = sorted(map(tuple, requests))
    shared = common_prefix(ordered[0], ordered[-1])
    return shared, shared * (len(requests) - 1)


def most_reused(requests: Requests) -> list[int]:
    """Of each request, the tokens that it has in common with the earlier one that has most: no cache can hold more."""
    return [
        max((common_prefix(request, earlier) for earlier in requests[:at]), default=0)
        for at, request in enumerate(requests)
    ]


def distinct_tokens(prefixes: Iterable[Sequence[int]]) -> int:
    """Tokens of a tree that holds all of ``prefixes``, each shared run once."""
    last: Sequence[int] = ()
    tokens = 0
    for prefix in sorted(map(tuple, prefixes)):
        tokens += len(prefix) - common_prefix(last, prefix)
        last = prefix
    return tokens


def budget_of(requests: Requests) -> int:
    """A budget under which caches differ: one and a half times the longest request, rounded down."""
    longest = max(map(len, requests), default=0)
    return longest + longest // 2

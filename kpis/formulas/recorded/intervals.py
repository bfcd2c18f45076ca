"""Spans of time laid over one another: how long at least one of them lasted, and who owns each instant.

Spans are half open, [start, end) in whole milliseconds; one that ends before it starts is empty. Nothing is counted
twice: an instant that several categories claim belongs to the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["Span", "clipped", "owned", "union"]

Span = tuple[int, int]


def union(spans: Iterable[Span]) -> list[Span]:
    """The same instants as spans that do not touch, in order."""
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def clipped(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """What of ``spans`` lies within [start, end)."""
    return [(max(a, start), min(b, end)) for a, b in spans if min(b, end) > max(a, start)]


def owned(claims: Sequence[Sequence[Span]], start: int, end: int) -> list[int]:
    """Milliseconds of [start, end) that each of ``claims`` owns, the first first, and last those that nobody claims.

    They add up to ``end - start`` exactly.
    """
    edges: dict[int, list[tuple[int, int]]] = {start: [], end: []}
    for category, spans in enumerate(claims):
        for a, b in union(clipped(spans, start, end)):
            edges.setdefault(a, []).append((category, 1))
            edges.setdefault(b, []).append((category, -1))
    result = [0] * (len(claims) + 1)
    active = [0] * len(claims)
    before = start
    for at in sorted(edges):
        owner = next((category for category, n in enumerate(active) if n), len(claims))
        result[owner] += at - before
        for category, step in edges[at]:
            active[category] += step
        before = at
    return result

"""Sums that combine: what one run contributes to a number, so that many runs give it exactly, in any order.

A part is a frozen dataclass of integers, of counters by name, of pooled values (a sorted tuple) and of other parts.
Adding adds each field. Money is an integer of picodollars and time one of milliseconds, because a sum of floats depends
on its order. Refuses to form a ratio: that is done once, at the end, from what was summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import cache
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Self, TypeVar

__all__ = ["Summed", "pooled", "total"]

P = TypeVar("P", bound="Summed")

_AT_ONCE = 512


class Summed:
    """The base of all parts: ``a + b`` is what the runs of both contribute."""

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return _sum([self, other])


def pooled(values: Iterable[int]) -> tuple[int, ...]:
    """``values`` as a part holds them: sorted, so that the order of runs does not show."""
    return tuple(sorted(values))


def total(parts: Iterable[P], empty: P) -> P:
    """The sum of ``parts``, ``empty`` where there is none.

    Some hundred are summed at once and their sums after them, so that no pooled value is moved once for every run.
    """
    rest = iter(parts)
    sums: list[P] = []
    while some := list(islice(rest, _AT_ONCE)):
        sums.append(_sum(some))
    if len(sums) > _AT_ONCE:
        return total(sums, empty)
    return _sum(sums) if sums else empty


@cache
def _getters(kind: Any) -> tuple[Callable[[Any], Any], ...]:
    return tuple(attrgetter(field.name) for field in fields(kind))


def _sum(parts: Sequence[P]) -> P:
    """Field by field, each as a column: a field of nine in ten is an integer, and a column of these is one call."""
    if len(parts) == 1:
        return parts[0]
    kind: Any = type(parts[0])
    summed: P = kind(*(_column(list(map(get, parts))) for get in _getters(kind)))
    return summed


def _column(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, Summed):
        return _sum(values)
    if isinstance(first, tuple):
        return pooled(chain.from_iterable(values))
    if isinstance(first, dict):
        merged: dict[str, Any] = {}
        for counts in values:
            for key, value in counts.items():
                merged[key] = merged[key] + value if key in merged else value
        return merged
    return sum(values)

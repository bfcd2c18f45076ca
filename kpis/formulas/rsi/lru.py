"""A metric for a loop to improve: hits of a cache of fixed size that evicts what was not used for longest.

The trace asks for a target, then for a number of fillers, then for the target again, with more fillers as it goes on:
the more entries are held, the more targets are still there. Without a price the largest cache would always win, and a
loop would count the order of its proposals; so a slot costs :data:`SLOT_COST` hits, and the best size lies inside.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

__all__ = ["ENTRIES", "SLOT_COST", "TRACE_LENGTH", "WORKING_SET", "hits", "objective", "reference_trace"]

WORKING_SET = 12
"""Targets, and as many fillers."""

ENTRIES = 2 * WORKING_SET
"""Distinct keys: from this size on nothing is evicted, and the hits stay as they are."""

_ROUNDS = 6

TRACE_LENGTH = 528
"""Requests of the trace: six rounds at each distance d of 1..11, d + 2 requests long."""

SLOT_COST = 20
"""Hits that a slot has to earn. The best size is the working set, 12, for every cost between 18 and 31: the two slots
behind it bring 36 hits more, and it brings 373 hits itself. Of those costs 20 is a round one. At 0 the best is 24."""


def reference_trace() -> tuple[int, ...]:
    """The requests in order: targets are keys from 0, fillers keys from 100."""
    trace: list[int] = []
    for distance in range(1, WORKING_SET):
        for number in range(_ROUNDS):
            target = (7 * distance + number) % WORKING_SET
            fillers = (100 + (distance + number + step) % WORKING_SET for step in range(distance))
            trace += [target, *fillers, target]
    return tuple(trace)


def hits(trace: Sequence[int], size: int) -> int:
    """Requests of ``trace`` that find their key in a cache of ``size`` entries; none in one of size 0 or below."""
    held: OrderedDict[int, None] = OrderedDict()
    found = 0
    for key in trace:
        if key in held:
            held.move_to_end(key)
            found += 1
        elif size > 0:
            if len(held) == size:
                held.popitem(last=False)
            held[key] = None
    return found


def objective(hit: int, requests: int, size: int, slot_cost: float = SLOT_COST) -> float:
    """Hits less the price of ``size`` slots, a request: higher is better.

    Raises:
        ValueError: there is no request, or a size below 0, whose slots would be paid for.
    """
    if requests < 1:
        raise ValueError("A rate over no request is none. Run: python -m harness explain keep_rate")
    if size < 0:
        raise ValueError(f"A cache of {size} slots is none. Run: python -m harness explain keep_rate")
    return (hit - slot_cost * size) / requests

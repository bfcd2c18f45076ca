"""How the tokens that the pins leave are filled: by density, exactly, or by what each span adds to the others.

An objective knows candidates, free rows and a number of tokens, and says which rows it takes and which rule really
chose them. Exclusions, pins and the plan itself are the planner's.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from seams.contract.turn import COVERAGE, EXACT, GREEDY, VALUE_SCALE, Candidate, Geometry

__all__ = [
    "CELLS",
    "FREE_OF_COST",
    "OBJECTIVES",
    "TOP_VALUE",
    "Filling",
    "by_coverage",
    "by_density",
    "density_of",
    "exactly",
    "fixed_value",
    "marginal_of",
]

FREE_OF_COST = 1e308
"""The density of a span that is worth something and costs nothing: before every other, and still finite."""

CELLS = 20_000_000
"""Cells (items times tokens) of the largest table that an exact plan fills: 20 MB of marks, some tenths of a second."""

TOP_VALUE = 10**15
"""The value at which a benefit is cut. A table of ``CELLS`` takes fewer than 4,473 items that cost something, whose
values then add up to less than 2**63."""


class Filling(NamedTuple):
    """The rows that an objective chose and the objective that chose them.

    ``worths`` says for each row what taking it would still add; at or below 0 it is left out for that reason.
    """

    chosen: list[int]
    objective: str
    worths: Sequence[float]


Fill = Callable[[Sequence[Candidate], list[int], int], Filling]
"""(candidates in step order, free rows, tokens left) -> what to take."""


def density_of(benefit: float, cost: int) -> float:
    """Benefit a token; 0 where that is no finite number."""
    if cost <= 0:
        return FREE_OF_COST if benefit > 0 else 0.0
    density = benefit / cost
    return density if math.isfinite(density) else 0.0


def by_density(candidates: Sequence[Candidate], free: list[int], left: int) -> Filling:
    """Take by density, then benefit, then place; skip what does not fit and go on. O(n log n)."""
    benefits = [each.benefit for each in candidates]
    densities = [density_of(each.benefit, each.cost) for each in candidates]
    # Two stable passes over rows in (step, id) order sort by all four keys, and compare bare floats only.
    order = sorted(free, key=benefits.__getitem__, reverse=True)
    order.sort(key=densities.__getitem__, reverse=True)
    chosen: list[int] = []
    for row in order:
        cost = candidates[row].cost
        if cost <= left and benefits[row] > 0:
            left -= cost
            chosen.append(row)
    return Filling(chosen, GREEDY, benefits)


def fixed_value(benefit: float) -> int:
    """``benefit`` in steps of 1/``VALUE_SCALE``, halves up, cut at ``TOP_VALUE``; 0 where it is worth nothing."""
    if not benefit > 0:
        return 0
    return TOP_VALUE if benefit * VALUE_SCALE >= TOP_VALUE else int(benefit * VALUE_SCALE + 0.5)


def exactly(candidates: Sequence[Candidate], free: list[int], left: int) -> Filling:
    """The most value that fits: the 0/1 knapsack, filled row by row in place. O(items * tokens).

    Of sets of equal value the one without the later rows is taken. Above ``CELLS`` cells it is greedy that fills, and
    says so.
    """
    worths = [fixed_value(each.benefit) for each in candidates]
    items = [row for row in free if worths[row] > 0 and candidates[row].cost <= left]
    if len(items) * left > CELLS:
        return by_density(candidates, free, left)
    costly = [row for row in items if candidates[row].cost > 0]
    chosen = [row for row in items if candidates[row].cost <= 0]
    if sum(candidates[row].cost for row in costly) <= left:
        return Filling(chosen + costly, EXACT, worths)

    import numpy as np  # here, because no other objective should wait for it

    best = np.zeros(left + 1, dtype=np.int64)
    taken = np.zeros((len(costly), left + 1), dtype=np.bool_)
    for item, row in enumerate(costly):
        cost = candidates[row].cost
        with_it = best[: left + 1 - cost] + worths[row]
        np.greater(with_it, best[cost:], out=taken[item, cost:])
        np.maximum(with_it, best[cost:], out=best[cost:])
    for item in range(len(costly) - 1, -1, -1):
        if taken[item, left]:
            chosen.append(costly[item])
            left -= candidates[costly[item]].cost
    return Filling(chosen, EXACT, worths)


def marginal_of(geometry: Geometry, fresh: int) -> float:
    """What a span is worth of whose words ``fresh`` are not covered yet; 0 where that is no finite number."""
    _, asked, relevance, rest = geometry
    worth = relevance * fresh / asked + rest if fresh else rest
    return worth if math.isfinite(worth) else 0.0


def by_coverage(candidates: Sequence[Candidate], free: list[int], left: int) -> Filling:
    """Again and again what adds most a token, then most, then the earliest; a word that is covered adds nothing more.

    What the pins say covers nothing beforehand, and what is worth nothing alone is not taken for what it covers. A row
    is looked at again only when a word of its own was covered, so that all looks together are no more than the rows
    and their words.
    """
    worths = [each.benefit for each in candidates]
    fresh: dict[int, int] = {}
    holders: defaultdict[str, list[int]] = defaultdict(list)
    queue: list[tuple[float, float, int]] = []

    def offer(row: int, worth: float) -> None:
        worths[row] = worth
        if worth > 0:
            heapq.heappush(queue, (-density_of(worth, candidates[row].cost), -worth, row))

    for row in free:
        geometry = candidates[row].geometry
        if not worths[row] > 0:
            continue
        if geometry is None:
            offer(row, worths[row])
            continue
        fresh[row] = len(geometry.words)
        for word in geometry.words:
            holders[word].append(row)
        offer(row, marginal_of(geometry, fresh[row]))

    chosen: list[int] = []
    taken: set[int] = set()
    while queue:
        _, negative, row = heapq.heappop(queue)
        # An older worth of this row; or, as the tokens left only fall, a row that will never fit again.
        if row in taken or -negative != worths[row] or candidates[row].cost > left:
            continue
        left -= candidates[row].cost
        chosen.append(row)
        taken.add(row)
        geometry = candidates[row].geometry
        stale: defaultdict[int, int] = defaultdict(int)
        for word in geometry.words if geometry else ():
            for holder in holders.pop(word, ()):
                stale[holder] += 1
        for holder, covered in stale.items():
            of_holder = candidates[holder].geometry
            if holder not in taken and of_holder is not None:
                fresh[holder] -= covered
                offer(holder, marginal_of(of_holder, fresh[holder]))
    return Filling(chosen, COVERAGE, worths)


OBJECTIVES: dict[str, Fill] = {GREEDY: by_density, EXACT: exactly, COVERAGE: by_coverage}
"""How the tokens left by the pins are filled, by the name of the objective."""

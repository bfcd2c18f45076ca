"""Rounds of the same calls in a sequence of call keys: of two calls, and of any number.

Linear in the sequence for two; for longer rounds, in the sequence times how often one call may come.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Cycle", "longest_alternation", "longest_cycle"]

_MOST_IN_A_ROUND = 16
"""How often one call may stand in one round and the round still be found by it. Another call of it serves as well."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """``rounds`` complete rounds of ``period`` calls from call number ``start``."""

    start: int
    period: int
    rounds: int

    @property
    def end(self) -> int:
        """The first call beyond the complete rounds."""
        return self.start + self.period * self.rounds


def longest_alternation(keys: Sequence[str]) -> Cycle | None:
    """The first stretch of two different calls in turn that has most rounds, at least two; None when there is none."""
    best: Cycle | None = None
    length = 1  # of the alternation that starts at ``start``; from the end, each grows out of the one after it
    for start in range(len(keys) - 2, -1, -1):
        if keys[start] == keys[start + 1]:
            length = 1
        elif start + 2 < len(keys) and keys[start + 2] == keys[start]:
            length += 1
        else:
            length = 2
        rounds = length // 2
        if rounds >= 2 and (best is None or rounds >= best.rounds):
            best = Cycle(start, 2, rounds)
    return best


def longest_cycle(keys: Sequence[str], fewest: int) -> Cycle | None:
    """The first stretch of three calls or more that comes round and round most often, at least ``fewest`` (3 or more).

    A call of the round comes back at equal distances; only such distances are tried.
    """
    places: dict[str, list[int]] = {}
    for at, key in enumerate(keys):
        places.setdefault(key, []).append(at)
    tried: dict[int, int] = {}  # by period: up to where its stretch was followed
    best: Cycle | None = None
    for at, key in enumerate(keys):
        here = places[key]
        if len(here) < fewest:
            continue
        index = bisect_left(here, at)
        for step in range(1, min(_MOST_IN_A_ROUND, (len(here) - 1 - index) // (fewest - 1)) + 1):
            period = here[index + step] - at
            if period < 3 or here[index + 2 * step] - at != 2 * period or tried.get(period, -1) > at:
                continue
            beyond = at + period
            while beyond < len(keys) and keys[beyond] == keys[beyond - period]:
                beyond += 1
            tried[period] = beyond - period
            rounds = (beyond - at) // period
            if rounds >= fewest and (best is None or rounds > best.rounds):
                best = Cycle(at, period, rounds)
    return best

"""What sessions gain from one world: the exact expectation of the uplift, and how its trials are summed up.

An agent's turn is with probability ``p`` a read of one of ``n`` routes, each as likely as the other. The first read of
a route has to be made, the later ones are saved; alone, every agent makes its own first reads. So the uplift of a drawn
fleet is the number of routes that each agent reads, summed, less the number of those that any of them reads, and its
expectation follows from the chance that a route is read at all in so many turns. Nothing else is shared, and nothing is
written: a write makes reads be made again, and of such fleets no expectation is given. Units: turns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Spread", "expected_uplift", "rank", "spread_of", "tolerance"]

_STANDARD_ERRORS = 4
"""A median further off than this is seen once in some ten thousand runs that are as they should be."""

_OF_A_MEDIAN = 1.25
"""The standard error of a normal sample's median over that of its mean: the root of half pi, 1.2533."""


def expected_uplift(shared: float, pool: int, turns: int, agents: int, primed: int = 0) -> float:
    """``A u (1 - (1 - p/n)^T) - u (1 - (1 - p/n)^(A T))`` with ``u`` the routes that are not read beforehand.

    ``shared`` is ``p``, ``pool`` is ``n``; ``primed`` routes were read before the agents began, in either arm. With one
    agent both terms are the same, and with nothing shared both are 0.

    Raises:
        ValueError: ``shared`` is no probability, or a number counts nothing.
    """
    if not 0 <= shared <= 1:
        raise ValueError(f"shared is {shared}; it is a probability, so it lies between 0 and 1.")
    if pool < 1 or turns < 0 or agents < 1 or not 0 <= primed <= pool:
        raise ValueError(
            f"A fleet of {agents} agents with {turns} turns over {pool} routes, {primed} of them read before, is none: "
            "it takes an agent, a route, and no more routes read before than there are."
        )
    unread, missed = pool - primed, 1 - shared / pool
    return agents * unread * (1 - missed**turns) - unread * (1 - missed ** (agents * turns))


class Spread(NamedTuple):
    """Trials in short: the least, three nearest ranks, the greatest, the mean, and the sample's standard deviation."""

    least: int
    p10: int
    p50: int
    p90: int
    greatest: int
    mean: float
    deviation: float


def rank(ordered: Sequence[int], share: float) -> int:
    """The nearest rank: the smallest value that at least ``share`` of them do not exceed; of an even number the lower.

    Raises:
        ValueError: there are no values.
    """
    if not ordered:
        raise ValueError("There are no trials, so there is no rank among them.")
    # What a product of floats lacks to a whole number must not add a rank.
    place = int(share * len(ordered) + 0.999999)
    return ordered[min(max(place, 1), len(ordered)) - 1]


def spread_of(values: Sequence[int]) -> Spread:
    """The trials summed up; one trial has a deviation of 0.

    Raises:
        ValueError: there are none.
    """
    ordered = sorted(values)
    p10, p50, p90 = (rank(ordered, share) for share in (0.1, 0.5, 0.9))
    mean = math.fsum(ordered) / len(ordered)
    squares = math.fsum((value - mean) ** 2 for value in ordered)
    return Spread(ordered[0], p10, p50, p90, ordered[-1], mean, math.sqrt(squares / max(len(ordered) - 1, 1)))


def tolerance(deviation: float, trials: int) -> float:
    """How far the median of ``trials`` may lie from the expectation: four standard errors of a median.

    The median of whole turns is a whole turn itself, so half of one is the least.

    Raises:
        ValueError: there is no trial.
    """
    if trials < 1:
        raise ValueError(f"trials is {trials}; a median is of one or more.")
    return max(_STANDARD_ERRORS * _OF_A_MEDIAN * deviation / math.sqrt(trials), 0.5)

"""The order in which the two sides of a pair are started and released: drawn, not chosen.

Pure: a seed gives the whole schedule, so that a trace of what ran can be checked against it. The side labels are
exchangeable under this draw, and the exactness of the gate's test rests on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

__all__ = ["COPIES", "ROUNDS", "PairPlan", "Side", "draw"]

Side = Literal["base", "head"]

ROUNDS = 6
"""Values a side in one pair: more pairs, not more alternations, bring down the spread; six are cheap beside a start."""

COPIES = 2
"""Each side exists twice on disk and a pair draws which copies it uses: what a path costs falls on both sides alike."""

_PADDING = 4096
"""Bytes of environment at most that move the stack about from pair to pair, the same for both sides."""


@dataclass(frozen=True, slots=True)
class PairPlan:
    """One pair: hash seed and padding (shared by the sides), the copy of each, who starts, who goes first a round."""

    seed: int
    padding: int
    copies: dict[Side, int]
    starts: Side
    rounds: tuple[Side, ...]


def draw(rng: Random) -> PairPlan:
    """The next pair of the schedule."""
    return PairPlan(
        seed=rng.randrange(1, 2**32),
        padding=rng.randrange(_PADDING),
        copies={"base": rng.randrange(COPIES), "head": rng.randrange(COPIES)},
        starts=_side(rng),
        rounds=tuple(_side(rng) for _ in range(ROUNDS)),
    )


def _side(rng: Random) -> Side:
    return "base" if rng.random() < 0.5 else "head"

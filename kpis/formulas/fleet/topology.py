"""Which shape of a fan-out saves most without workers in each other's way: a search over a grid of widths and lanes.

What a shape saves is credited up to the width that a run has shown; beyond it the rest is a projection and is refused.
Lanes decide about collisions alone. Nothing is run: a shape that reaches beyond what was shown says that it would need
a run, and is credited like the widest one that was. Units: tokens, pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

from kpis.formulas.fleet.arbiter import collisions
from kpis.formulas.fleet.fanout import prefix_tokens

__all__ = ["BASELINE", "Search", "Shape", "Valued", "best_of", "frontier", "search", "valued"]


class Shape(NamedTuple):
    """``width`` sub-agents of ``sub_turns`` turns each, over ``lanes`` file trees."""

    width: int
    sub_turns: int = 4
    lanes: int = 1

    @property
    def name(self) -> str:
        """The name by which two shapes are one."""
        return f"topo-w{self.width:04d}-l{self.lanes:03d}"


BASELINE = Shape(4, 4, 1)
"""Four agents in one lane: six pairs in each other's way."""


class Valued(NamedTuple):
    """A shape with what it is worth: ``measured`` at its full width, of which ``credited`` was shown.

    ``bounded``: it is wider than anything that was, and would have to be run before more of it counts.
    """

    shape: Shape
    credited: int
    measured: int
    refused: int
    collisions: int
    bounded: bool


class Search(NamedTuple):
    """All shapes in order, those that none dominates, and the best."""

    shapes: tuple[Valued, ...]
    frontier: tuple[Valued, ...]
    best: Valued


def valued(shape: Shape, witnessed: int, prefix: int, dedup_tokens: Callable[[int], int]) -> Valued:
    """``shape`` where ``witnessed`` siblings were shown; ``dedup_tokens`` says what so many agents need not re-read.

    Raises:
        ValueError: nothing was shown at all, or the shape has no agent.
    """
    if witnessed < 1:
        raise ValueError(f"A width of {witnessed} was shown, so nothing can be credited: one sibling is the least.")
    reached = min(shape.width, witnessed)
    credited = prefix_tokens(reached, prefix, witnessed).credited + dedup_tokens(reached)
    measured = prefix_tokens(shape.width, prefix, shape.width).credited + dedup_tokens(shape.width)
    pairs = collisions(shape.width, shape.lanes)
    return Valued(shape, credited, measured, measured - credited, pairs, shape.width > witnessed)


def _dominates(one: Valued, other: Valued) -> bool:
    no_worse = one.credited >= other.credited and one.collisions <= other.collisions
    return no_worse and (one.credited > other.credited or one.collisions < other.collisions)


def frontier(shapes: Sequence[Valued]) -> tuple[Valued, ...]:
    """Those of which no other saves as much with as few collisions, and one of both better."""
    return tuple(each for each in shapes if not any(_dominates(other, each) for other in shapes))


def best_of(shapes: Sequence[Valued]) -> Valued:
    """Most credited; then fewest collisions, then narrowest, then by name.

    Raises:
        ValueError: there is no shape.
    """
    return min(shapes, key=lambda each: (-each.credited, each.collisions, each.shape.width, each.shape.name))


def search(
    widths: Iterable[int],
    lanes: Iterable[int],
    witnessed: int,
    prefix: int,
    dedup_tokens: Callable[[int], int],
    sub_turns: int = 4,
) -> Search:
    """The baseline and every width with every number of lanes, each once.

    Raises:
        ValueError: a grid is empty, or nothing was shown.
    """
    grid = [Shape(width, sub_turns, lane) for width, lane in product(tuple(widths), tuple(lanes))]
    if not grid:
        raise ValueError("There is no width, or no number of lanes, to search over: give at least one of each.")
    named = {shape.name: shape for shape in (BASELINE, *grid)}
    found = tuple(valued(shape, witnessed, prefix, dedup_tokens) for shape in named.values())
    return Search(found, frontier(found), best_of(found))

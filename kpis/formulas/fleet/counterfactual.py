"""What a frozen trace says of another policy: all of it, or only the calls before the first one that goes otherwise.

A recorded session goes on from what its calls came to. Where another policy would have settled every call alike, the
recording is that policy's too, and the cell is exact. From the first call that goes otherwise on, nobody knows what the
model would have done: the cell is bounded there, and what came after is counted and not believed. Plain values only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["FLOOR", "Cell", "Observed", "Report", "divergence", "report"]

FLOOR = ("quarantines", "denies", "transforms")
"""What is counted in every cell, exact or bounded: how often the policy stepped in."""


class Observed(NamedTuple):
    """One trace under one policy: each call's class (served, denied, quarantined), what a redaction made of it, counts.

    ``rewrites`` holds None where nothing was redacted. ``floor`` has the keys of ``FLOOR``.
    """

    classes: tuple[str, ...]
    rewrites: tuple[bytes | None, ...]
    floor: Mapping[str, int]


class Cell(NamedTuple):
    """A trace under a policy beside the same under the reference; ``diverged`` is the first call to go otherwise."""

    trace: str
    policy: str
    floor: Mapping[str, int]
    diverged: int | None

    @property
    def label(self) -> str:
        """``exact``, or ``bounded@`` the call from which on nothing is known."""
        return "exact" if self.diverged is None else f"bounded@{self.diverged}"

    @property
    def refusal(self) -> str | None:
        """Why the cell's outcome is not reported; None of an exact one."""
        if self.diverged is None:
            return None
        return f"From call {self.diverged} on the recording is of another run, so nothing is said of how it would end."


class Report(NamedTuple):
    """Cells by trace and policy; ``population`` sums their floors, ``coverage`` counts the exact ones of each policy.

    ``exact_fraction`` is 1 where there is no cell: nothing was bounded. A policy is ``reportable`` where every cell of
    it is exact.
    """

    traces: int
    cells: tuple[Cell, ...]
    population: Mapping[str, int]
    coverage: Mapping[str, tuple[int, int]]

    @property
    def exact(self) -> int:
        """How many cells are exact."""
        return sum(cell.diverged is None for cell in self.cells)

    @property
    def exact_fraction(self) -> float:
        """Exact cells over all."""
        return self.exact / len(self.cells) if self.cells else 1.0

    @property
    def reportable(self) -> tuple[str, ...]:
        """The policies of which the recordings say everything."""
        return tuple(name for name, (exact, cells) in self.coverage.items() if exact == cells)

    def floor_of(self, policy: str) -> dict[str, int]:
        """The floor of one policy, summed over the traces."""
        mine = [cell.floor for cell in self.cells if cell.policy == policy]
        return {name: sum(floor[name] for floor in mine) for name in FLOOR}


def divergence(reference: Observed, other: Observed) -> int | None:
    """The first call whose class or whose redaction differs; None where none does.

    Raises:
        ValueError: the two are not of the same calls.
    """
    lengths = {len(side) for each in (reference, other) for side in (each.classes, each.rewrites)}
    if len(lengths) != 1:
        raise ValueError("Two replays of one trace have as many calls: these have not.")
    pairs = zip(
        zip(reference.classes, reference.rewrites, strict=True),
        zip(other.classes, other.rewrites, strict=True),
        strict=True,
    )
    return next((at for at, (one, two) in enumerate(pairs) if one != two), None)


def report(observed: Mapping[str, Mapping[str, Observed]], reference: str) -> Report:
    """``observed`` maps a trace to its policies; that of the ``reference`` is what the others are held against.

    Raises:
        ValueError: a trace was not replayed under the reference.
    """
    cells: list[Cell] = []
    for trace in sorted(observed):
        arms: Mapping[str, Observed] = observed[trace]
        if reference not in arms:
            raise ValueError(f"The trace {trace!r} was not replayed under the reference policy {reference!r}.")
        cells += [
            Cell(trace, policy, dict(arms[policy].floor), divergence(arms[reference], arms[policy]))
            for policy in sorted(arms)
            if policy != reference
        ]
    coverage = {name: _exact_of([cell for cell in cells if cell.policy == name]) for name in _policies(cells)}
    population = {name: sum(cell.floor[name] for cell in cells) for name in FLOOR}
    return Report(len(observed), tuple(cells), population, coverage)


def _policies(cells: Sequence[Cell]) -> list[str]:
    return sorted({cell.policy for cell in cells})


def _exact_of(cells: Sequence[Cell]) -> tuple[int, int]:
    return sum(cell.diverged is None for cell in cells), len(cells)

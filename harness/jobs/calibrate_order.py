"""What is recorded next: a pure function of what is on record, so that a second run goes on where the first ended.

Every kind in every load state gets as many trials a point as every other, and so does every edit, every factor and
every point within. Refuses to count what another machine has recorded, and what was recorded under no load of ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from harness.record.trials import Kind, LoadState, Trial
from harness.subject.edits import EDITS

__all__ = ["CELLS", "FACTORS", "Cell", "edit_of", "in_turn", "next_cell", "next_edit", "next_factor", "whose_turn"]

Cell = tuple[Kind, LoadState]

CELLS: tuple[Cell, ...] = tuple((kind, state) for state, kind in product(LoadState, Kind))
"""In the order in which a record begins: all kinds on the idle machine first, which is what the margins rest on."""

FACTORS = (1.05, 1.10, 1.03)


def edit_of(trial: Trial) -> str | None:
    """The name of a trial's edit, without the modules."""
    return None if trial.edit is None else trial.edit.partition(" in ")[0]


def _of(done: Iterable[Trial], cell: Cell, points: Iterable[str]) -> list[Trial]:
    names = set(points)
    return [trial for trial in done if (trial.kind, trial.state) == cell and trial.kpi in names]


def next_cell(points: Sequence[str], done: Sequence[Trial], states: Iterable[LoadState] = LoadState) -> Cell:
    """The kind and the state with the fewest trials of ``points``; of several the first in :data:`CELLS`."""
    allowed = [cell for cell in CELLS if cell[1] in set(states)]
    return min(allowed, key=lambda cell: len(_of(done, cell, points)))


def next_factor(points: Sequence[str], done: Sequence[Trial], state: LoadState) -> float:
    """The factor that some point has had the fewest injections of in ``state``."""
    of = _of(done, (Kind.INJECTED, state), points)
    return min(FACTORS, key=lambda factor: _fewest(points, [trial for trial in of if trial.asked == factor]))


def next_edit(fits: Mapping[str, Sequence[str]], done: Sequence[Trial], state: LoadState) -> str:
    """The edit that some point has had the fewest trials of in ``state``; ``fits`` are the points of each edit.

    Of several, one that fewer points have had under any load comes first: floors need different ones.
    """

    def rank(edit: str) -> tuple[int, float]:
        made = [trial for trial in done if trial.kind is Kind.NEUTRAL and edit_of(trial) == edit]
        had = {trial.kpi for trial in made} & set(fits[edit])
        return _fewest(fits[edit], [trial for trial in made if trial.state is state]), len(had) / len(fits[edit])

    return min((edit for edit in EDITS if fits.get(edit)), key=rank)


def _fewest(points: Sequence[str], done: Iterable[Trial]) -> int:
    made = Counter(trial.kpi for trial in done)
    return min(made[name] for name in points)


def whose_turn(points: Sequence[str], done: Sequence[Trial]) -> list[str]:
    """Those of ``points`` that ``done`` holds the fewest trials of: an interrupted batch is made up for."""
    made, fewest = Counter(trial.kpi for trial in done), _fewest(points, done)
    return [name for name in points if made[name] == fewest]


def in_turn(points: Sequence[str], done: Iterable[Trial]) -> list[str]:
    """All of ``points``, those first that ``done`` holds the fewest trials of; the order stays otherwise."""
    made = Counter(trial.kpi for trial in done)
    return sorted(points, key=lambda name: made[name])

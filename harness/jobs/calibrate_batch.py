"""The batch that is recorded next: whose turn it is, and what has to be done to the head for it.

Refuses to look at anything but the record and the points: two machines with one record would go on alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.jobs.calibrate_ground import Whom, said_of
from harness.jobs.calibrate_order import edit_of, in_turn, next_cell, next_edit, next_factor, whose_turn
from harness.jobs.calibrate_recorder import Batch, burners_of
from harness.jobs.calibrate_trial import Asked
from harness.record.trials import Kind, LoadState, Trial

__all__ = ["batch_after"]


def batch_after(whom: Whom, done: Sequence[Trial], known: Mapping[str, float]) -> Batch:
    """The batch that follows upon ``done``, the trials of this machine; ``known`` are floors by point.

    A function of what is on record, and of nothing else.
    """
    points = list(whom.points)
    kind, state = next_cell(points, done, _states())
    of = [trial for trial in done if (trial.kind, trial.state) == (kind, state)]
    if kind is Kind.NEUTRAL:
        fits = whom.fits()
        edit = next_edit(fits, done, state)
        modules: set[str] = set()
        asked = []
        for name in whose_turn(fits[edit], [trial for trial in of if edit_of(trial) == edit]):
            own = tuple(module for module in whom.points[name].modules if module in whom.takes[edit])
            modules |= {*own}
            asked.append(Asked(whom.points[name].point, kind, said=said_of(edit, own), floor=known.get(name)))
        return Batch(kind, state, tuple(asked), edit, tuple(sorted(modules)))
    if kind is Kind.INJECTED:
        factor = next_factor(points, done, state)
        turn = whose_turn(points, [trial for trial in of if trial.asked == factor])
        asked = [Asked(whom.points[name].point, kind, factor, floor=known.get(name)) for name in turn]
        return Batch(kind, state, tuple(asked))
    asked = [
        Asked(whom.points[name].point, kind, suite=len(points), floor=known.get(name)) for name in in_turn(points, of)
    ]
    return Batch(kind, state, tuple(asked))


def _states() -> list[LoadState]:
    """On a machine of one core, one busy core is all of them."""
    return [state for state in LoadState if state is not LoadState.ONE or burners_of(LoadState.ALL) > 1]

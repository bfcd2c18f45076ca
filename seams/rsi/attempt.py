"""What comes of one candidate in its tree: put there, measured, and read back, whatever it left behind.

Nothing that a candidate leaves ends the loop or holds it up: a tree that cannot be read back is not clean, and that is
all. A file that changed outside the tree is harm where the kernel did not confine the candidate, and a note where it
did, since it was somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seams.contract.rsi_loop import Candidate
from seams.rsi.changes import Refusal, apply, changed, unaltered, unreadable
from seams.rsi.errors import LoopError
from seams.rsi.manifest import differences, taken
from seams.rsi.pinned import Pinned, listed
from seams.rsi.trial import tried

__all__ = ["Attempt", "attempted"]

_LOOK_S = 60.0
"""Seconds that git has at least to look through what a candidate left."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """``touched`` are the paths that changed; ``harm`` is why the loop cannot go on, None where it can."""

    metric: float | None = None
    suite_green: bool = False
    truth_clean: bool = False
    touched: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    harm: str | None = None


def attempted(pinned: Pinned, tree: Path, tip: str, candidate: Candidate, *, confine: bool) -> Attempt:
    """Try ``candidate`` in ``tree``, which holds the commit ``tip`` and nothing else.

    Raises:
        LoopError: git cannot be asked before it runs, or no warden can be started.
    """
    repository, charge, lease = pinned.repository, pinned.charge, candidate.lease
    try:
        apply(tree, candidate)
    except Refusal as refusal:
        return Attempt(notes=(str(refusal),))
    touched = changed(repository, tree, tip, pinned.index)
    roots = (repository.top, repository.common, charge.journal.absolute())
    before = taken(roots, pinned.scratch.folder)
    trial = tried(pinned.warden, charge, tree, pinned.scratch.home(), confine=confine)
    outside = differences(before, taken(roots, pinned.scratch.folder))
    notes = [] if trial.note is None else [trial.note]
    unread = unreadable(tree)
    if unread is None:
        try:
            touched |= changed(repository, tree, tip, pinned.index, max(_LOOK_S, charge.limit_s))
        except LoopError as error:
            unread = f"the tree cannot be read back: {error}"
    notes += [] if unread is None else [unread]
    harm = None
    if outside:
        where = f"{listed(outside)} changed outside the candidate's tree"
        if trial.confined:
            notes.append(f"{where}, by somebody else: the candidate was confined")
        else:
            notes.append(where)
            harm = f"While {candidate.name!r} ran, {where}. Look with: git -C {repository.top} status"
    if touched != {lease}:
        others = sorted(touched - {lease})
        notes.append(f"{listed(others)} changed besides {lease}" if others else f"{lease} did not change")
    same = unaltered(tree, candidate.edits, lease)
    if touched == {lease} and not same:
        notes.append(f"{lease} was rewritten while it was measured")
    clean = touched == {lease} and same and harm is None and unread is None
    truth_clean = trial.metric is not None and clean
    return Attempt(trial.metric, trial.suite_green, truth_clean, tuple(sorted(touched)), tuple(notes), harm)

"""What comes of one candidate in its tree: put there, measured, and read back, whatever it left behind.

Nothing that a candidate leaves ends the loop or holds it up: a tree that cannot be read back is not clean, and that is
all. A file that was written outside the tree is harm where the kernel did not confine the candidate, and a note where
it did, since it was somebody else. A mode or an owner that changed there is harm in either case, and times or
attributes make the candidate unclean: confinement does not cover them, so that it may well have been the candidate.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from seams.contract.rsi_loop import Candidate
from seams.rsi.changes import Refusal, apply, changed, unaltered, unreadable
from seams.rsi.confine import WHOLE
from seams.rsi.errors import LoopError
from seams.rsi.manifest import Differences, differences, taken
from seams.rsi.pinned import Pinned, listed
from seams.rsi.store import Store
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
    repository, charge = pinned.repository, pinned.charge
    try:
        apply(tree, candidate)
    except Refusal as refusal:
        return Attempt(notes=(str(refusal),))
    lease = candidate.lease
    touched = changed(repository, tree, tip, pinned.index)
    scratch = pinned.scratch
    home = scratch.home()
    roots = (repository.top, repository.common, charge.journal.absolute(), scratch.folder, scratch.lock, pinned.index)
    before = taken(roots, scratch.folder)
    trial = tried(pinned.warden, charge, tree, home, confine=confine)
    outside = differences(before, taken(roots, scratch.folder))
    notes = [] if trial.note is None else [trial.note]
    unread = unreadable(tree)
    if unread is None:
        try:
            touched |= changed(repository, tree, tip, pinned.index, max(_LOOK_S, charge.limit_s))
        except LoopError as error:
            unread = f"the tree cannot be read back: {error}"
    notes += [] if unread is None else [unread]
    told, harm, look = _outside(outside, repository, confined=trial.confined >= WHOLE)
    notes += told
    if harm is not None:
        harm = f"While {candidate.name!r} ran, {harm}. Look with: {look}"
    if touched != {lease}:
        others = sorted(touched - {lease})
        notes.append(f"{listed(others)} changed besides {lease}" if others else f"{lease} did not change")
    same = unaltered(tree, candidate.edits, lease)
    if touched == {lease} and not same:
        notes.append(f"{lease} was rewritten while it was measured")
    clean = touched == {lease} and same and harm is None and not outside.stamped and unread is None
    truth_clean = trial.metric is not None and clean
    return Attempt(trial.metric, trial.suite_green, truth_clean, tuple(sorted(touched)), tuple(notes), harm)


def _outside(found: Differences, repository: Store, *, confined: bool) -> tuple[list[str], str | None, str]:
    """(What is to be said of changes outside the candidate's tree, which of them are harm, how to look at these)."""
    if not confined:
        if not found.every:
            return [], None, ""
        harm = f"{listed(found.every)} changed outside the candidate's tree"
        return [harm], harm, _look(found, repository)
    notes: list[str] = []
    if found.written:
        where = f"{listed(found.written)} changed outside the candidate's tree"
        notes.append(f"{where}, by somebody else: the candidate was confined")
    if found.stamped:
        notes.append(
            f"{listed(found.stamped)} changed outside the candidate's tree, in place or in times or attributes, which "
            "confinement does not cover"
        )
    if not found.owned:
        return notes, None, ""
    harm = f"the mode or the owner of {listed(found.owned)} changed outside the candidate's tree"
    notes.append(f"{harm}, which confinement does not cover")
    return notes, harm, f"ls -ld {shlex.quote(found.owned[0])}"


def _look(found: Differences, repository: Store) -> str:
    """What shows the change: git knows what its working tree holds, and no modes, owners or times there."""
    shown = [path for path in map(Path, found.written) if path.is_relative_to(repository.top)]
    if any(not path.is_relative_to(repository.common) for path in shown):
        return f"git -C {shlex.quote(str(repository.top))} status"
    return f"ls -ld {shlex.quote(found.every[0])}"

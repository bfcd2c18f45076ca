"""What a loop stands on: a repository that was looked at, its pinned commit, an open journal, and a place for trees."""

from __future__ import annotations

import shlex
from contextlib import ExitStack

from seams.contract.rsi_loop import Charge
from seams.rsi.changes import changed, unreadable
from seams.rsi.charged import require_sound
from seams.rsi.errors import LoopError
from seams.rsi.ground import find, require_branch, require_clean, require_outside, resolve
from seams.rsi.journal import Journal
from seams.rsi.supervised import Supervised
from seams.rsi.trial import Trial, tried
from seams.rsi.worktrees import Scratch, clean

__all__ = ["Pinned", "listed"]

_NAMED = 3


class Pinned:
    """A repository that was looked at, its commit pinned, the journal open and the ground cleaned; to be closed.

    ``keeps``: there will be commits, so the charge's branch must be free; ``branch`` is its full name then.

    Raises:
        LoopError: the loop cannot begin here.
    """

    def __init__(self, charge: Charge, *, keeps: bool) -> None:
        require_sound(charge)
        self.charge = charge
        self.repository = find(charge.repository)
        clean(self.repository)  # first: a branch that a killed loop left may be why this one cannot begin
        require_clean(self.repository)
        self.commit = resolve(self.repository, charge.reference)
        self.branch = require_branch(self.repository, charge.branch, charge.reference) if keeps else ""
        require_outside(self.repository, charge.journal)
        with ExitStack() as held:
            self.journal = Journal(charge.journal)
            held.callback(self.journal.close)
            self.scratch = Scratch(self.repository)
            held.callback(self.scratch.close)
            self.warden = Supervised()
            held.callback(self.warden.close)
            self._held = held.pop_all()
        self.index = self.scratch.folder / "index"

    def baseline(self, *, confine: bool = True) -> Trial:
        """The pinned commit as it is, measured.

        Raises:
            LoopError: measuring it, or its suite, leaves files behind, so that no candidate could be clean; or leaves
                what cannot be removed.
        """
        with self.scratch.tree(self.commit) as tree:
            trial = tried(self.warden, self.charge, tree, self.scratch.home(), confine=confine)
            stray = unreadable(tree)
            left = [] if stray else sorted(changed(self.repository, tree, self.commit, self.index))
        if (stays := self.scratch.stays) is not None:
            raise LoopError(
                f"The tree in which {self.commit[:12]} was measured cannot be removed and stays at {stays}. "
                f"Look with: ls -la {shlex.quote(str(stays))}"
            )
        if stray:
            raise LoopError(
                f"After measuring {self.commit[:12]}, and its suite, {stray}, so no candidate's tree could be read "
                f"back. Look with: git show --stat {self.commit[:12]}"
            )
        if left:
            raise LoopError(
                f"Measuring {self.commit[:12]}, or its suite, changes {listed(left)}, so no candidate could change "
                "its own file alone. Have such files ignored: git check-ignore --verbose PATH"
            )
        return trial

    def close(self) -> None:
        """Remove every tree and let the journal go; safe to call twice."""
        self._held.close()


def listed(paths: list[str]) -> str:
    """The first paths, and how many more there are."""
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more

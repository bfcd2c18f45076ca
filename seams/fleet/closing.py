"""Asks again of a commit, right before the issue that it is said to have resolved is closed.

Nothing that was found earlier is taken over: the commit may be gone, reverted, or of a branch that main never reached.
What closes is the caller's; it is called once a candidate, and only where all of that holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from seams.contract.fleet_closure import Candidate, Closing, Outcome, Witness
from seams.engines.git import GitError, Repository
from seams.fleet.commits import changed, messages, reaches
from seams.fleet.witness import references, reverted, witness

__all__ = ["closed"]

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def closed(
    held: Repository,
    tip: str,
    undone: frozenset[str],
    candidate: Candidate,
    closer: Callable[[Candidate], None] | None,
) -> Closing:
    """What becomes of ``candidate``, where ``tip`` is the main branch, whose ``undone`` commits were reverted."""
    number, commit = candidate
    try:
        unwitnessed = _unwitnessed(held, undone, candidate)
    except GitError as error:
        unwitnessed = str(error)
    if unwitnessed is not None:
        return Closing(number, Outcome.SKIP_UNWITNESSED, unwitnessed)
    if not reaches(held, tip, commit):
        return Closing(number, Outcome.SKIP_UNPUSHED, f"The main branch does not reach {commit[:12]}.")
    if closer is None:
        return Closing(number, Outcome.WOULD_CLOSE, f"{commit[:12]} bears it out; nothing was closed.")
    try:
        closer(candidate)
    except (Exception, SystemExit) as error:  # whatever a tracker's client raises, the issue is not closed
        return Closing(number, Outcome.CLOSE_FAILED, f"{type(error).__name__}: {str(error)[:200]}")
    return Closing(number, Outcome.CLOSED, f"{commit[:12]} bears it out.")


def _unwitnessed(held: Repository, undone: frozenset[str], candidate: Candidate) -> str | None:
    """Why the candidate's commit is no witness by diff now; None where it is one."""
    number, commit = candidate
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        return f"{commit!r:.60} is not the whole name of a commit."
    if commit in undone:
        return f"{commit[:12]} was reverted by a later commit."
    message = messages(held, [commit])[commit]
    if number not in references(message)[0] or reverted(message):
        return f"{commit[:12]} does not say that it resolves issue {number}."
    if witness(message, changed(held, [commit])[commit]) is not Witness.DIFF:
        return f"{commit[:12]} changes nothing of the kind that it claims."
    return None

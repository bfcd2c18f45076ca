"""A scratch repository of authored commits: the same commits wherever it is made, and nothing of the user's in it.

One stream describes all of it, and git imports that in one go: identity and dates are fixed, so that the names of the
commits are as well. Neither the user's configuration nor templates nor hooks take part. It is the caller's to remove.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Commit", "available", "make", "named"]

_FIRST_S = 1_700_000_000
_STEP_S = 3_600
_WHO = "A Worker <worker@loopladder.invalid>"
_SECONDS = 60


class Commit(NamedTuple):
    """A commit on ``branch``, a whole ref; ``files`` are written, ``merges`` names a branch that it merges.

    The first commit of a branch stands on ``start``, a branch as it was then. ``{name}`` in a message is the commit of
    that key, which has to be an earlier one.
    """

    message: str
    files: Mapping[str, str] = {}
    branch: str = "refs/heads/main"
    start: str | None = None
    merges: str | None = None
    key: str | None = None


def available() -> bool:
    """Whether there is a git to make one with."""
    return shutil.which("git") is not None


def make(folder: Path, commits: Sequence[Commit]) -> None:
    """Make a repository in ``folder``, which is there and empty, its HEAD on main and its working tree as main is.

    Raises:
        RuntimeError: git failed, or did not end.
    """
    _git(folder, ("init", "--quiet", "--initial-branch=main", "--object-format=sha1", "--template="))
    known: dict[str, str] = {}
    for part, keyed in _parts(commits):
        _git(folder, ("fast-import", "--quiet", "--date-format=raw"), _stream(part, known))
        if keyed is not None:
            known[keyed[0]] = named(folder, keyed[1])
    _git(folder, ("reset", "--quiet", "--hard", "refs/heads/main"))


def named(folder: Path, revision: str) -> str:
    """The whole name of the commit that ``revision`` is."""
    return _git(folder, ("rev-parse", "--verify", f"{revision}^{{commit}}")).decode("ascii").strip()

"""Which commit the project is at, and whether the working tree differs from it. Asks git; changes nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["tree_state"]


def tree_state(root: Path) -> tuple[str | None, bool | None]:
    """(commit, dirty) of the tree at ``root``; (None, None) outside git or without the git command."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return None, None
    status = _git(root, "status", "--porcelain", "--untracked-files=normal")
    return commit, None if status is None else bool(status)


def _git(root: Path, *words: str) -> str | None:
    # No optional locks: a measurement must not get in the way of the user's own git commands.
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None

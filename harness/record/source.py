"""Which commit the project is at, and whether the working tree differs from it. Asks git; changes nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["tree_state"]


def tree_state(root: Path) -> tuple[str | None, bool | None]:
    """(commit, dirty) of the tree at ``root``; (None, None) outside git or without the git command."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return None, None
    status = _git(root, *_unfiltered(root), "status", "--porcelain", "--untracked-files=normal")
    return commit, None if status is None else bool(status)


def _unfiltered(root: Path) -> list[str]:
    """The options that switch every content filter off: such a filter is a program of somebody's configuration."""
    said = _git(root, "config", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$") or ""
    names = {key.removeprefix("filter.").rpartition(".")[0] for key in said.splitlines()}
    kinds = ("clean=", "process=", "required=false")
    settings = [f"filter.{name}.{kind}" for name in sorted(names) if "=" not in name for kind in kinds]
    return [word for setting in settings for word in ("-c", setting)]


def _git(root: Path, *words: str) -> str | None:
    # No optional locks: a measurement must not get in the way of the user's own git commands. No monitor and no hook:
    # they are programs. And not the repository that a hook's environment names, but the one at ``root``.
    safe = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"]
    command = ["git", *safe, "-C", str(root), *words]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=False, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None

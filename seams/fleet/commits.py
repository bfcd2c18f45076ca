"""Reads from a repository what an audit needs: the branch that is main, messages by commit, and what commits change.

Messages and paths are read by their sizes and by NULs, so nothing that somebody writes into one can be taken for
another commit. Refuses nothing: what is missing is said by the caller.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from seams.engines.git import GitError, Repository

__all__ = ["changed", "count", "listed", "main_of", "messages", "reaches"]

_ORDER = tuple(f"refs/{place}/{name}" for place in ("remotes/origin", "heads") for name in ("main", "master"))


def main_of(repository: Repository, main: str | None) -> tuple[str, str]:
    """(ref, commit) of ``main``, or without one of the first branch that is there: origin's before the local one.

    Raises:
        GitError: there is none.
    """
    names = _ORDER if main is None else (main,)
    for name in names:
        answer = repository.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if answer.code == 0:
            return name, answer.out.decode("ascii").strip()
    wanted = "main branch" if main is None else f"branch {main!r}"
    raise GitError(f"{repository.folder} has no {wanted} with a commit. Look with: git branch --all")


def count(repository: Repository, *revisions: str) -> int:
    """Commits that ``revisions`` reach."""
    return int(repository.ask("rev-list", "--count", *revisions, "--"))


def listed(repository: Repository, most: int, *revisions: str) -> list[str]:
    """The newest ``most`` commits that ``revisions`` reach, newest first and children before parents."""
    return repository.ask("rev-list", "--topo-order", f"--max-count={most}", *revisions, "--").decode("ascii").split()


def messages(repository: Repository, commits: Sequence[str]) -> dict[str, str]:
    """The message of each commit; signs that are not UTF-8 are replaced."""
    out = memoryview(repository.ask("cat-file", "--batch", feed="".join(f"{each}\n" for each in commits).encode()))
    found: dict[str, str] = {}
    at = 0
    for commit in commits:
        end = at + bytes(out[at : at + 200]).index(b"\n")
        head = bytes(out[at:end]).split()
        if len(head) != 3 or head[1] != b"commit":
            raise GitError(f"{repository.folder} lacks the commit {commit[:12]}. Look with: git fsck")
        size = int(head[2])
        _, _, message = bytes(out[end + 1 : end + 1 + size]).partition(b"\n\n")
        found[commit] = message.decode("utf-8", "replace")
        at = end + size + 2
    return found


def changed(repository: Repository, commits: Sequence[str]) -> dict[str, list[str]]:
    """The paths that each commit changes against its first parent; of one where history is cut, none are known."""
    known = [commit for commit in commits if commit not in repository.shallow]
    found: dict[str, list[str]] = {commit: [] for commit in commits}
    # Raw lines begin with a colon and are followed by one path each, so that no path can be taken for a commit.
    words = ("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--diff-merges=first-parent")
    out = repository.ask(*words, feed="".join(f"{each}\n" for each in known).encode())
    parts = iter(out.split(b"\0"))
    current = ""
    for part in parts:
        if part.startswith(b":"):
            found[current].append(os.fsdecode(next(parts)))
        elif part:
            current = part.decode("ascii")
    return found


def reaches(repository: Repository, main: str, commit: str) -> bool:
    """Whether ``main`` reaches ``commit``; one that is not there is not reached."""
    return repository.run("merge-base", "--is-ancestor", commit, main).code == 0

"""Which commit is the base of a comparison: where the history of REV and that of the working tree part.

The tip of REV is not the base: what others merged there since would be measured as if this branch had undone it.
Refuses to guess: a base that this clone does not hold is an error that says how to get it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from harness.subject import SubjectError
from harness.subject.git import GitError, find, git

__all__ = ["Base", "resolve"]

_DEEPEN = "git fetch --unshallow (in a workflow: fetch-depth: 0 at the checkout step)"


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that the head is compared with. ``merge_base``: it is older than REV, which has moved on since."""

    commit: str
    short: str
    merge_base: bool


def resolve(root: Path, rev: str) -> Base:
    """The merge base of ``rev`` and HEAD in the repository around ``root``.

    Raises:
        SubjectError: no repository, no commit yet, an unknown revision, no common history, or a shallow clone that
            does not reach back to it.
    """
    top = find(root).top
    head = _commit(top, "HEAD")
    if head is None:
        raise SubjectError(
            "The repository has no commit yet, so there is nothing to gate against. "
            "Make one: git add --all && git commit --message Begin"
        )
    tip = _commit(top, rev)
    if tip is None:
        raise _unknown(top, rev)
    code, out, said = git(["merge-base", head, tip], cwd=top)
    if code not in (0, 1):
        raise GitError(["merge-base", "HEAD", rev], said)
    commit = out.decode("ascii").strip()
    if not commit:
        if _shallow(top):
            raise SubjectError(
                f"This clone is shallow and does not hold the commit where HEAD and {rev} part. Type: {_DEEPEN}"
            )
        raise SubjectError(
            f"HEAD and {rev} have no commit in common, so no base can be told. "
            f"Compare them with: git log --oneline HEAD {shlex.quote(rev)}"
        )
    _, out, _ = git(["rev-parse", "--short", commit], cwd=top)
    return Base(commit, out.decode("ascii").strip() or commit[:7], commit != tip)


def _commit(top: Path, rev: str) -> str | None:
    # A word that git would read as an option or as two revisions is no revision.
    if not rev or rev.startswith(("-", "^")) or ".." in rev or "\0" in rev:
        return None
    code, out, _ = git(["rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}"], cwd=top)
    return out.decode("ascii").strip() if code == 0 else None


def _shallow(top: Path) -> bool:
    return git(["rev-parse", "--is-shallow-repository"], cwd=top)[1].strip() == b"true"


def _unknown(top: Path, rev: str) -> SubjectError:
    if _shallow(top):
        return SubjectError(f"This clone is shallow and holds no commit named {rev!r}. Type: {_DEEPEN}")
    named = rev.isprintable() and rev and not rev.startswith("-")
    remote, _, branch = rev.partition("/")
    remotes = git(["remote"], cwd=top)[1].decode("utf-8", "replace").split()
    if named and remotes:
        source, wanted = (remote, branch) if branch and remote in remotes else (remotes[0], rev)
        hint = f"If it is a branch, type: git fetch {shlex.quote(source)} {shlex.quote(wanted)}"
    else:
        hint = "List what there is: git branch --all"
    return SubjectError(f"There is no commit named {rev!r} in this repository. {hint}")

"""Which repositories a loop may work in, and which commit it works on.

Refuses a repository that is bare, shallow or dirty: what is measured there would not be what its owner sees, or could
not be compared with what came before. Reads only.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from seams.contract.rsi_loop import Freshness
from seams.engines.child import Answer
from seams.engines.git import Repository, disarmed, names, run
from seams.rsi.errors import LoopError
from seams.rsi.store import EMAIL, Store, told

__all__ = ["find", "freshness", "require_branch", "require_clean", "require_outside", "resolve"]


def find(folder: Path) -> Store:
    """The repository whose working tree holds ``folder``, its content filters switched off.

    Raises:
        LoopError: there is none, or it is bare or shallow.
    """
    place = shlex.quote(str(folder))
    answer = _asked(folder, "rev-parse", "--is-bare-repository", "--is-shallow-repository")
    if answer.code != 0:
        if "dubious ownership" in answer.said:
            raise LoopError(f"git does not trust {folder}, which another user owns. Look with: ls -ld {place}")
        raise LoopError(f"{folder} is in no git repository, so nothing can be kept. Make one: git -C {place} init")
    bare, shallow = answer.out.split()
    if bare == b"true":
        raise LoopError(f"The repository at {folder} is bare. Clone it and run the loop there: git clone {place} work")
    if shallow == b"true":
        raise LoopError(
            f"The repository at {folder} is shallow, so how far a reference has moved cannot be told. "
            f"Type: git -C {place} fetch --unshallow"
        )
    answer = _asked(folder, "rev-parse", "--show-toplevel")
    if answer.code != 0:
        raise LoopError(f"{folder} is in no working tree. Look with: git -C {place} worktree list")
    top = Path(os.fsdecode(answer.out.removesuffix(b"\n")))
    with told():
        held = Repository(top, bare=False, shallow=frozenset(), settings=disarmed(top))
        common = os.fsdecode(held.ask("rev-parse", "--git-common-dir").removesuffix(b"\n"))
    return Store(held, (top / common).resolve())


def _asked(folder: Path, *words: str) -> Answer:
    with told():
        return run(list(words), folder, inside=True)


def require_clean(repository: Store) -> None:
    """Refuse a working tree in which anything is changed, staged or new, ignored files aside.

    Of a submodule only the commit that it stands on counts: the loop's own trees have its folder empty.

    Raises:
        LoopError: with the first such path.
    """
    # To look for edits within a submodule git would start itself there, and run what is configured there.
    words = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"]
    with told():
        found = names(repository.held.ask(*words))
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        place = shlex.quote(str(repository.top))
        raise LoopError(
            f"The working tree {repository.top} is dirty: {found[0][3:]}{more}. The loop works on what is committed, "
            "and what only settings of your own ignore counts as well, so commit it, or put it away first: "
            f"git -C {place} stash --include-untracked"
        )


def resolve(repository: Store, name: str) -> str:
    """The commit that ``name`` means now.

    Raises:
        LoopError: none.
    """
    commit = _commit(repository, name)
    if commit is None:
        raise LoopError(f"There is no commit named {name!r} in {repository.top}. List what there is: git branch --all")
    return commit


def _commit(repository: Store, name: str) -> str | None:
    # A word that git would read as an option or as a range is no name of a commit.
    if not name or name.startswith(("-", "^")) or ".." in name or "\0" in name:
        return None
    # In the tree and not in the store alone: HEAD is the tree's own.
    with told():
        answer = repository.held.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return answer.out.decode("ascii").strip() if answer.code == 0 else None


def require_branch(repository: Store, branch: str, begun: str) -> str:
    """The full name of the new branch ``branch`` of a loop that begins at the reference ``begun``.

    Raises:
        LoopError: it is no name of a branch, there is such a branch, or one that leaves no room for it. To have that
            deleted is advised only of one that ends in a loop's own commit, is checked out nowhere, and is not where
            this loop begins.
    """
    reference = f"refs/heads/{branch}"
    # Of its own git makes no branch by the names of what is checked out: either would mean two things from then on.
    fit = not branch.startswith("-") and "\0" not in branch and branch not in ("HEAD", "@")
    if not fit or repository.run("check-ref-format", reference).code != 0:
        raise LoopError(f"{branch!r} is no name of a branch. See the rules: git help check-ref-format")
    if repository.run("show-ref", "--verify", "--quiet", reference).code == 0:
        last = repository.ask("for-each-ref", "--format=%(committeremail) %(worktreepath)", reference).strip()
        full = repository.run("rev-parse", "--symbolic-full-name", "--end-of-options", begun).out.split()
        done = last == f"<{EMAIL}>".encode() and reference.encode() not in full
        told_next = f"Merge it and then type: git branch --delete {shlex.quote(branch)}"
        raise LoopError(
            f"There is a branch {branch} already, and a loop keeps on a branch of its own. "
            f"{told_next if done else 'Name another, that is not among: git branch --all'}"
        )
    if (other := _in_the_way(repository, branch)) is not None:
        raise LoopError(
            f"There is a branch {other} already, and git keeps no {branch} beside it, as one name would be the other's "
            "folder. Name another, that is not among: git branch --all"
        )
    return reference


def _in_the_way(repository: Store, branch: str) -> str | None:
    """The branch whose name is a folder of ``branch``, or lies in ``branch`` as in a folder; None without any."""
    parts = branch.split("/")
    above = [f"refs/heads/{'/'.join(parts[:count])}" for count in range(1, len(parts))]
    # A pattern without a wildcard is a whole name, or a folder of names.
    found = repository.ask("for-each-ref", "--format=%(refname)", f"refs/heads/{branch}/", *above).split(b"\n")
    there = [os.fsdecode(name) for name in found if name]
    below = f"refs/heads/{branch}/"
    return next((name.removeprefix("refs/heads/") for name in there if name in above or name.startswith(below)), None)


def require_outside(repository: Store, journal: Path) -> None:
    """Refuse a journal that would make the working tree dirty, or that would lie among git's own files.

    Raises:
        LoopError: it lies in the tree and is not ignored.
    """
    place = journal.absolute()
    resolved = place.parent.resolve() / place.name
    if resolved.is_relative_to(repository.common):
        raise LoopError(f"The journal {journal} would lie in the repository's store. Name a file elsewhere: mktemp -d")
    if not resolved.is_relative_to(repository.top.resolve()):
        return
    with told():
        ignored = repository.held.run("check-ignore", "--quiet", "--", str(resolved)).code == 0
    if not ignored:
        within = resolved.relative_to(repository.top.resolve())
        raise LoopError(
            f"The journal {within} would make the working tree dirty. Have it ignored: "
            f"echo /{shlex.quote(str(within))} >> {shlex.quote(str(repository.top / '.gitignore'))}"
        )


def freshness(repository: Store, baseline_ref: str, ref_name: str) -> Freshness:
    """Whether ``ref_name`` means ``baseline_ref`` now. Asks anew each time: a row of a journal cannot know."""
    now, then = _commit(repository, ref_name), _commit(repository, baseline_ref)
    if now is None or then is None:
        gone = f"the reference {ref_name}" if now is None else f"the commit {baseline_ref[:12]}"
        return Freshness(False, now, None, None, f"{gone} is not there any more")
    counts = repository.ask("rev-list", "--left-right", "--count", f"{now}...{then}").split()
    behind, ahead = (int(count) for count in counts)
    if now == then:
        return Freshness(True, now, 0, 0, f"{ref_name} still is {then[:12]}")
    detail = f"{then[:12]} is {behind} commits behind {ref_name}, which is {now[:12]}"
    if ahead:
        detail += f"; it holds {ahead} commits that {ref_name} does not: the reference was rewritten"
    return Freshness(False, now, behind, ahead, detail)

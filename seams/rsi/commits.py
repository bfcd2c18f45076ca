"""Turns a change that is kept into a commit on the loop's own branch, without touching any working tree.

The commit holds the declared file of the candidate and its parent's everything else, whatever else lies in the tree. It
bears a fixed identity and its parent's date, so that the same change makes the same commit again.
"""

from __future__ import annotations

from pathlib import Path

from seams.contract.rsi_loop import Candidate
from seams.engines.git import names
from seams.rsi.errors import LoopError
from seams.rsi.store import Store

__all__ = ["NOTHING", "commit", "move", "require_unmoved"]

NOTHING = ""
"""The old value of a reference that must not be there."""


def commit(repository: Store, tree: Path, parent: str, candidate: Candidate, index: Path, message: str) -> str:
    """Write the commit and return its id; no branch moves. ``tree`` supplies the rules for line ends, no content.

    Raises:
        LoopError: git cannot write, or the commit would change anything but the declared file.
    """
    lease, content = candidate.lease, candidate.edits.get(candidate.lease)
    repository.ask("read-tree", parent, tree=tree, index=index)
    if content is None:
        repository.ask("update-index", "--force-remove", "--", lease, tree=tree, index=index)
    else:
        staged = repository.ask("--literal-pathspecs", "ls-files", "--stage", "-z", "--", lease, tree=tree, index=index)
        mode = staged.split(b" ", 1)[0].decode() or "100644"
        words = ["hash-object", "-w", "--stdin", f"--path={lease}"]
        blob = repository.ask(*words, tree=tree, index=index, feed=content).decode().strip()
        repository.ask("update-index", "--add", "--cacheinfo", f"{mode},{blob},{lease}", tree=tree, index=index)
    made = repository.ask("write-tree", tree=tree, index=index).decode().strip()
    date = repository.ask("show", "--no-patch", "--format=%cI", parent).decode().strip()
    words = ["commit-tree", made, "-p", parent]
    new = repository.ask(*words, feed=message.encode(), date=date).decode().strip()
    paths = names(repository.ask("diff-tree", "-r", "-z", "--name-only", "--no-renames", parent, new))
    if paths != [lease]:
        raise LoopError(
            f"The commit of {candidate.name!r} would change {', '.join(paths) or 'nothing'} and not {lease} alone, so "
            f"it was not kept. Look with: git show {new[:12]}"
        )
    return new


def require_unmoved(repository: Store, reference: str, old: str, new: str) -> None:
    """Refuse to go on where ``reference`` does not name ``old``, or is there in spite of ``NOTHING``.

    Raises:
        LoopError: so it is; ``new`` is the commit that was to follow.
    """
    there = repository.run("rev-parse", "--verify", "--quiet", reference)
    if (there.out.decode("ascii").strip() if there.code == 0 else NOTHING) != old:
        raise _lost(reference, new, "it was moved by somebody else while the loop ran")


def move(repository: Store, reference: str, new: str, old: str, date_of: str) -> None:
    """Let ``reference`` name ``new`` where it still names ``old``; ``NOTHING`` where there is no such reference yet.

    Raises:
        LoopError: somebody else has moved it, or it cannot be written.
    """
    date = repository.ask("show", "--no-patch", "--format=%cI", date_of).decode().strip()
    answer = repository.run("update-ref", reference, new, old, date=date)
    if answer.code != 0:
        raise _lost(reference, new, answer.said.strip()[:200] or f"git update-ref ended with {answer.code}")


def _lost(reference: str, new: str, why: str) -> LoopError:
    return LoopError(
        f"{reference} cannot take what was kept, so {new[:12]} is on no branch: {why}. "
        f"Put it on one: git branch kept {new[:12]}"
    )

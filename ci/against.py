"""Which commit a change of this project is held against, and a sentence where there is none to be had.

Reads the repository, changes nothing. Refuses to leave out a comparison without saying why.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.record.source import tree_state
from harness.subject.committed import check_out
from harness.subject.dependencies import differing
from harness.subject.git import find, git
from harness.subject.revisions import resolve
from harness.subject.scratch import scratch

__all__ = ["Against", "against"]

PARENT = "HEAD^1"


@dataclass(frozen=True, slots=True)
class Against:
    """The revision to gate against; ``why`` is the sentence that says why no change is compared, where none is."""

    revision: str
    why: str | None = None


def against(root: Path, named: str | None) -> Against:
    """What the tree at ``root`` is compared with: ``named``, else the first parent of HEAD, else HEAD itself.

    HEAD itself also where both are one commit, and where the base declares other dependencies: the gate refuses to
    run both sides on one set of them, and a change of dependencies must not fail for that.

    Raises:
        SubjectError: there is no commit, ``named`` is none, or its history is not in this clone.
    """
    if named is None and git(["rev-parse", "--verify", "--quiet", f"{PARENT}^{{commit}}"], cwd=root)[0] != 0:
        return _itself("HEAD has no parent here, as it is the first commit or the clone is shallow")
    revision = named or PARENT
    base = resolve(root, revision)
    if tree_state(root) == (base.commit, False):
        return _itself(f"{revision} leads to HEAD itself")
    repository = find(root)
    with scratch() as folder:
        tree = folder / "base"
        tree.mkdir()
        check_out(repository, base.commit, tree, folder)
        if items := differing(tree / root.resolve().relative_to(repository.top.resolve()), root):
            return _itself(f"the base {base.short} declares other dependencies ({items[0]})")
    return Against(revision)


def _itself(why: str) -> Against:
    return Against("HEAD", f"No change was compared: {why}. The counts are held against HEAD itself.")

"""Which commit a change of this project is held against, and a sentence where there is none to be had.

Reads the repository, changes nothing. Refuses to leave out a comparison without saying why.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.record.source import tree_state
from harness.subject import SubjectError
from harness.subject.committed import check_out
from harness.subject.dependencies import differing
from harness.subject.git import find, git
from harness.subject.revisions import resolve
from harness.subject.scratch import scratch

__all__ = ["Against", "against"]

PARENT = "HEAD^1"


@dataclass(frozen=True, slots=True)
class Against:
    """The revision to gate against; ``why`` is the sentence that says why no change is compared, where none is.

    ``lost`` is set where there is a change and an earlier commit, and the two cannot be compared: what the change did
    to a count is then never seen, since the next change is held against this one.
    """

    revision: str
    why: str | None = None
    lost: bool = False


def against(root: Path, named: str | None) -> Against:
    """What the tree at ``root`` is compared with: ``named``, else the first parent of HEAD, else HEAD itself.

    HEAD itself also where both are one commit, and where the base declares other dependencies: the gate refuses to
    run both sides on one set of them.

    Raises:
        SubjectError: there is no commit, ``named`` is none, or its history is not in this clone; or the tree declares
            dependencies that no commit does.
    """
    if named is None and git(["rev-parse", "--verify", "--quiet", f"{PARENT}^{{commit}}"], cwd=root)[0] != 0:
        return _itself("HEAD has no parent here, as it is the first commit or the clone is shallow")
    revision = named or PARENT
    base = resolve(root, revision)
    if tree_state(root) == (base.commit, False):
        return _itself(f"{revision} leads to HEAD itself")
    if not (items := _other_dependencies(root, base.commit)):
        return Against(revision)
    if uncommitted := _other_dependencies(root, resolve(root, "HEAD").commit):
        raise SubjectError(
            f"The working tree declares other dependencies than HEAD ({uncommitted[0]}), and the gate runs both sides "
            "on one set of them. Commit that first: git commit pyproject.toml"
        )
    return _itself(f"the base {base.short} declares other dependencies ({items[0]})", lost=True)


def _other_dependencies(root: Path, commit: str) -> list[str]:
    """What the tree at ``root`` and ``commit`` declare differently."""
    repository = find(root)
    with scratch() as folder:
        tree = folder / "base"
        tree.mkdir()
        check_out(repository, commit, tree, folder)
        return differing(tree / root.resolve().relative_to(repository.top.resolve()), root)


def _itself(why: str, *, lost: bool = False) -> Against:
    return Against("HEAD", f"No change was compared: {why}. The counts are held against HEAD itself.", lost)

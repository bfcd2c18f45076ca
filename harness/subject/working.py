"""The working tree as a copy: tracked files and untracked ones that are not ignored, as they lie on disk now.

What was deleted stays deleted; symbolic links stay links; of a mode the one bit is kept that git keeps. Files are
copied as bytes, so no filter is involved. Refuses a submodule that is not there, and leaves out, saying so, the
repositories that lie in this one without being part of it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import tempfile
from pathlib import Path

from harness.subject import SubjectError
from harness.subject.committed import write_entries
from harness.subject.filters import disarmed
from harness.subject.git import Repository, find, names

__all__ = ["copy_working_tree"]

_GITLINK = "160000"
_FOLDED = "040000"


def copy_working_tree(repository: Repository, tree: Path, scratch: Path) -> list[str]:
    """Copy the working tree of ``repository`` into the folder ``tree``; returns the embedded repositories left out.

    Raises:
        SubjectError: a submodule is absent, or a file cannot be read.
    """
    # A listing may compare contents, and comparing would run a clean filter.
    quiet, _ = disarmed(repository)
    listed: dict[str, str] = {}
    absent: list[str] = []
    real = _RealFolders(quiet.top)
    for row in names(quiet.listed("-t", "--stage")):
        facts, _, path = row.partition("\t")
        tag, mode, name, *_ = facts.split(" ")
        # A sparse checkout leaves files out of the working tree that are part of it all the same.
        if mode == _FOLDED:
            absent += _unfolded(quiet, name, path)
        elif tag == "S" and not real.holds(path):
            absent.append(row.removeprefix("S "))
        else:
            listed[path] = mode
    others = names(quiet.listed("--others", "--exclude-standard"))
    hidden = Path(tempfile.gettempdir()).resolve()
    left = [path for path in others if path.endswith("/")]
    listed.update((path, "") for path in others if not path.endswith("/"))
    for path, mode in listed.items():
        source = quiet.top / path
        if not real.holds(path) or (source.is_relative_to(hidden) and hidden.is_relative_to(quiet.top)):
            continue
        if mode == _GITLINK and source.is_dir() and not source.is_symlink():
            left += [f"{path}/{name}" for name in copy_working_tree(_module(source, path), tree / path, scratch)]
        else:
            _copy(source, tree / path)
    if absent:
        write_entries(repository, absent, tree, scratch)
    tree.mkdir(parents=True, exist_ok=True)
    return left


def _unfolded(repository: Repository, name: str, folder: str) -> list[str]:
    """The index entries below ``folder``, whose tree object is ``name``."""
    rows = (row.partition("\t") for row in names(repository.store("ls-tree", "-r", "-z", "--full-tree", name)[1]))
    return ["{} {} 0\t{}".format(facts[:6], facts.split(" ")[2], folder + path) for facts, _, path in rows]


class _RealFolders:
    """Whether a path is in the working tree: a file or link that is reached through folders, never through a link."""

    def __init__(self, top: Path) -> None:
        self._known: dict[str, bool] = {"": True}
        self._top = top

    def holds(self, path: str) -> bool:
        """Whether ``path`` is there, in git's sense."""
        return self._real(os.path.dirname(path)) and os.path.lexists(self._top / path)  # noqa: PTH120

    def _real(self, folder: str) -> bool:
        if folder not in self._known:
            place = self._top / folder
            above = self._real(os.path.dirname(folder))  # noqa: PTH120
            self._known[folder] = above and place.is_dir() and not place.is_symlink()
        return self._known[folder]


def _module(source: Path, path: str) -> Repository:
    # Without a .git of its own, git would answer for the repository around it.
    if not (source / ".git").exists():
        raise SubjectError(
            f"The submodule {path!r} is not checked out in the working tree. "
            f"Type: git submodule update --init --recursive -- {shlex.quote(path)}"
        )
    return find(source)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or link; what is neither, or vanished meanwhile, is a deletion.

    Raises:
        SubjectError: it cannot be read.
    """
    try:
        facts = source.lstat()
        if not (stat.S_ISREG(facts.st_mode) or stat.S_ISLNK(facts.st_mode)):
            return
        if not os.access(source, os.R_OK, follow_symlinks=False) and stat.S_ISREG(facts.st_mode):
            raise SubjectError(
                f"{source} cannot be read, and the head needs a copy of it. Look with: ls -l {shlex.quote(str(source))}"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target, follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode):
            target.chmod(0o755 if facts.st_mode & stat.S_IXUSR else 0o644)
    except FileNotFoundError:
        if source.parent.is_dir() and os.path.lexists(source):
            raise

"""A commit as a tree on disk, its submodules with it, through a private index: no hook, no filter, no network.

Attributes are those of the commit itself, because the new tree stands in for the working tree. Refuses a submodule
or a file that this clone does not hold, by name.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import tempfile
from pathlib import Path, PurePosixPath

from harness.subject import SubjectError
from harness.subject.filters import disarmed, restore
from harness.subject.git import GitError, Repository, names
from harness.subject.scratch import explained

__all__ = ["check_out", "write_entries"]

_GITLINK = "160000"
_ROOM = 1 << 20  # bytes that are free on a disk which is not full


def check_out(repository: Repository, commit: str, tree: Path, scratch: Path) -> list[str]:
    """Write ``commit`` into the folder ``tree``; private files go to ``scratch``.

    Returns the paths whose content filter was not run and could not be made up for.

    Raises:
        SubjectError: objects or submodules are absent, or the tree cannot be written.
    """
    _require_objects(repository, commit)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        index = Path(folder) / "index"
        quiet, active = disarmed(repository)
        quiet.ask("read-tree", commit, tree=tree, index=index)
        left = _write(quiet, tree, index, active)
        entries = names(quiet.ask("ls-files", "-z", "--stage", tree=tree, index=index))
    links = [entry for entry in entries if entry.startswith(_GITLINK)]
    modules = _modules(repository, commit) if links else {}
    for entry in links:
        facts, _, path = entry.partition("\t")
        wanted = facts.split(" ")[1]
        inner = _module(repository, path, modules.get(path), wanted)
        place = tree / path
        place.mkdir(parents=True, exist_ok=True)
        left += [f"{path}/{name}" for name in check_out(inner, wanted, place, scratch)]
    return left


def write_entries(repository: Repository, entries: list[str], tree: Path, scratch: Path) -> list[str]:
    """Write index entries, as ``ls-files --stage`` gives them, into ``tree``; returns as :func:`check_out`."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        index = Path(folder) / "index"
        quiet, active = disarmed(repository)
        feed = b"".join(os.fsencode(entry) + b"\0" for entry in entries)
        quiet.ask("update-index", "-z", "--index-info", tree=tree, index=index, feed=feed)
        return _write(quiet, tree, index, active)


def _write(repository: Repository, tree: Path, index: Path, active: frozenset[str]) -> list[str]:
    try:
        repository.ask("checkout-index", "--all", tree=tree, index=index)
    except GitError as error:
        # git names the file that it could not write, and not always why.
        if shutil.disk_usage(tree).free < _ROOM:
            raise explained(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) from error
        raise
    return restore(repository, tree, index, active)


def _require_objects(repository: Repository, commit: str) -> None:
    """Refuse a partial clone that would have to fetch: reading must stay reading."""
    if not repository.config(r"^(extensions\.partialclone|remote\..*\.promisor)$"):
        return
    words = ("rev-list", "--objects", "--no-walk", "--missing=print", commit)
    code, out, said = repository.store(*words)
    if code != 0:
        raise GitError(words, said)
    missing = sum(line.startswith(b"?") for line in out.splitlines())
    if missing:
        raise SubjectError(
            f"This is a partial clone, and it lacks {missing} files of the base {commit[:12]}. "
            f"Fetch them: git archive --output=/dev/null {commit}"
        )


def _modules(repository: Repository, commit: str) -> dict[str, str]:
    """Path -> name of the submodules that the commit declares."""
    rows = repository.config(r"^submodule\..*\.path$", blob=f"{commit}:.gitmodules")
    return {value: key.removeprefix("submodule.").removesuffix(".path") for key, value in rows}


def _module(repository: Repository, path: str, name: str | None, commit: str) -> Repository:
    """The repository of the submodule at ``path``.

    Raises:
        SubjectError: it, or the commit that is wanted of it, is not here.
    """
    for git_dir in _places(repository, path, name):
        if (git_dir / "HEAD").is_file():
            module = Repository(repository.top / path, git_dir)
            if module.store("cat-file", "-e", f"{commit}^{{commit}}")[0] == 0:
                return module
            quoted = shlex.quote(str(git_dir))
            raise SubjectError(
                f"The submodule {path!r} lacks the commit {commit[:12]} that the base needs. "
                f"Fetch it: git --git-dir={quoted} --work-tree=. fetch origin {commit}"
            )
    raise SubjectError(
        f"The submodule {path!r} of the base is not in this clone. "
        f"Type: git submodule update --init --recursive -- {shlex.quote(path)}"
    )


def _places(repository: Repository, path: str, name: str | None) -> list[Path]:
    """Where the repository of a submodule may be: of this working tree, shared by all, or inside the submodule."""
    places = []
    # git itself refuses a name that climbs out of the folder of modules.
    if name and ".." not in PurePosixPath(name).parts and not name.startswith("/"):
        for word in ("--git-dir", "--git-common-dir"):
            _, out, _ = repository.store("rev-parse", word)
            found = repository.git_dir / os.fsdecode(out.removesuffix(b"\n"))
            places.append((found / "modules" / name).resolve())
    places.append(repository.top / path / ".git")
    return list(dict.fromkeys(places))

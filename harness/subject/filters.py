"""Content filters (Git LFS, encryption): named, kept from running, and made up for where that needs no code.

A smudge filter is a program of the user's configuration. It is not run: its file then lies in the base tree as git
stores it. Three rules give back what a checkout would hold, in this order: the working file, where the commit stores
the same content and the file is unmodified; the object of the local LFS store that a pointer names; the pointer itself,
where the working tree holds a pointer too. What none of them reaches is reported, never guessed.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from harness.subject import SubjectError
from harness.subject.git import Repository, names

__all__ = ["disarmed", "restore"]

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n"
)
_ENTRY = re.compile(
    rb"(?P<path>[^\0]+)\0  ctime: (?P<c>\d+):(?P<c_ns>\d+)\n  mtime: (?P<m>\d+):(?P<m_ns>\d+)\n(?:  .*\n){3}"
)
_IDENTITY = frozenset({"", "cat", "cat -"})


def disarmed(repository: Repository) -> tuple[Repository, frozenset[str]]:
    """The repository with every configured filter switched off, and the filters that would change a checkout.

    Raises:
        SubjectError: the name of a filter cannot be given on git's command line, so that it cannot be switched off.
    """
    drivers: dict[str, dict[str, str]] = {}
    for key, value in repository.config(r"^filter\..*\.(smudge|clean|process|required)$"):
        name, _, kind = key.removeprefix("filter.").rpartition(".")
        drivers.setdefault(name, {})[kind] = value
    options: list[str] = []
    for name in drivers:
        if "=" in name or "\n" in name:
            raise SubjectError(
                f"The content filter {name!r} has a name that keeps it from being switched off, and the gate runs no "
                f"filter. See where it is set: git config --show-origin --get-regexp filter"
            )
        for kind, value in (("smudge", ""), ("clean", ""), ("process", ""), ("required", "false")):
            options += ["-c", f"filter.{name}.{kind}={value}"]
    active = {
        name
        for name, kinds in drivers.items()
        if kinds.get("process") or kinds.get("smudge", "").strip() not in _IDENTITY
    }
    return dataclasses.replace(repository, options=tuple(options)), frozenset(active)


def restore(repository: Repository, tree: Path, index: Path, active: frozenset[str]) -> list[str]:
    """Give the filtered files of ``index``, checked out in ``tree``, the content that they have when worked with.

    Returns the paths that still lie there as git stores them although the working tree would hold something else.
    """
    if not active:
        return []
    stored = _blobs(names(repository.ask("ls-files", "-z", "--stage", tree=tree, index=index)))
    filtered = _filtered(repository, tree, index, stored, active)
    if not filtered:
        return []
    worked: dict[str, str] = {}
    written_at: dict[str, tuple[int, int]] = {}
    if repository.top.is_dir():
        worked = _blobs(names(repository.listed("--stage")))
        written_at = _times(repository.listed("--debug"))
    store = _lfs_store(repository)
    left = []
    for path in filtered:
        written, working = tree / path, repository.top / path
        here = working.is_file() and not working.is_symlink()
        if written.is_symlink():
            continue
        if here and worked.get(path) == stored[path] and written_at.get(path) == _now_at(working):
            shutil.copyfile(working, written)
        elif not (here and _pointer(working)) and not _from_store(store, written):
            left.append(path)
    return left


def _blobs(listing: list[str]) -> dict[str, str]:
    rows = (row.partition("\t") for row in listing)
    return {path: facts.split(" ")[1] for facts, _, path in rows}


def _times(listing: bytes) -> dict[str, tuple[int, int]]:
    """Path -> times of change and of writing in ns, as the index has them.

    git asks the filter about a file that was written in the second of the index. To the nanosecond, the time of change
    tells without asking: no program can set it.
    """
    return {
        os.fsdecode(found["path"]): (
            int(found["c"]) * 10**9 + int(found["c_ns"]),
            int(found["m"]) * 10**9 + int(found["m_ns"]),
        )
        for found in _ENTRY.finditer(listing)
    }


def _now_at(file: Path) -> tuple[int, int]:
    facts = file.stat()
    return facts.st_ctime_ns, facts.st_mtime_ns


def _filtered(
    repository: Repository, tree: Path, index: Path, paths: Iterable[str], active: frozenset[str]
) -> list[str]:
    feed = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
    out = repository.ask("check-attr", "-z", "--stdin", "filter", tree=tree, index=index, feed=feed).split(b"\0")
    values = {name.decode("utf-8", "surrogateescape"): value for name, value in zip(out[::3], out[2::3], strict=False)}
    return [path for path in paths if values.get(path, b"").decode("utf-8", "replace") in active]


def _pointer(file: Path) -> tuple[str, int] | None:
    with file.open("rb") as opened:
        found = _POINTER.fullmatch(opened.read(1024))
    return None if found is None else (found[1].decode("ascii"), int(found[2]))


def _lfs_store(repository: Repository) -> Path:
    _, out, _ = repository.store("rev-parse", "--git-common-dir")
    common = repository.git_dir / Path(out.decode("utf-8", "surrogateescape").removesuffix("\n"))
    named = [value for _, value in repository.config(r"^lfs\.storage$")]
    return common / (named[-1] if named else "lfs") / "objects"


def _from_store(store: Path, written: Path) -> bool:
    """Put the object that a pointer names in its place; whether it was there, whole."""
    pointer = _pointer(written)
    if pointer is None:
        return False
    digest, size = pointer
    held = store / digest[:2] / digest[2:4] / digest
    if not held.is_file() or held.stat().st_size != size:
        return False
    shutil.copyfile(held, written)
    return True

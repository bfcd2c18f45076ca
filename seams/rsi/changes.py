"""What a candidate changes in its tree: put there without following a link, and read back by content.

A candidate that is no candidate, by its name or its edits, is refused like one whose path leads out of the tree. What
it leaves where git would wait for ever, a pipe or a device, is named before git is asked.

Whether only the declared file changed is asked of git with an index of our own, which knows no file's dates: so every
file is read, and an edit that keeps size and second is seen as well. A tree without any change is not clean: to propose
what is there already is no proposal.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from seams.contract.rsi_loop import Candidate
from seams.engines.git import names
from seams.rsi.plain import read_plain
from seams.rsi.store import Store

__all__ = ["Refusal", "apply", "changed", "constant", "encodes", "lease_fault", "unaltered", "unreadable"]


class Refusal(Exception):  # noqa: N818 - a verdict on a candidate, not a fault of ours
    """The candidate cannot be tried; the sentence goes into its row."""


def lease_fault(path: object) -> str | None:
    """Why ``path`` is no path of a file inside a tree; None where it is one."""
    if not isinstance(path, str) or not encodes(path):
        return f"the path {path!r:.80} is none that a file can have"
    parts = PurePosixPath(path).parts
    if not path or "\0" in path or path.startswith("/") or str(PurePosixPath(path)) != path or not parts:
        return f"the path {path!r} is none inside the tree"
    if ".." in parts:
        return f"the path {path!r} leads out of the tree"
    if any(part.lower().rstrip(". ") in (".git", "git~1") for part in parts):
        return f"the path {path!r} leads among git's own files"
    return None


def encodes(text: str) -> bool:
    """Whether the system takes it as a name or a word."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _faults(candidate: object) -> Iterator[str]:
    """What makes it no candidate, whatever the tree."""
    if not isinstance(candidate, Candidate):
        yield f"it is {type(candidate).__name__}, and no Candidate"
        return
    name: object = candidate.name
    edits: object = candidate.edits
    if not isinstance(name, str) or "\0" in name or any("\ud800" <= sign <= "\udfff" for sign in name):
        yield f"the name {name!r:.80} cannot stand in the message of a commit"
    if not isinstance(edits, Mapping):
        yield f"the edits are {type(edits).__name__}, and have to map paths to contents"
        return
    for path, content in edits.items():
        if content is not None and not isinstance(content, bytes):
            yield f"the new content of {path!r:.80} is {type(content).__name__}, and has to be bytes"


def apply(tree: Path, candidate: Candidate) -> None:
    """Write the candidate's edits into ``tree``; a file keeps its mode.

    Raises:
        Refusal: it is no candidate; the lease or an edit does not lie in the tree, leads through a link, names what is
            no file, or cannot be written.
    """
    for fault in _faults(candidate):
        raise Refusal(fault)
    for named in (candidate.lease, *candidate.edits):
        if why := lease_fault(named):
            raise Refusal(why)
    for path in (candidate.lease, *candidate.edits):
        _require_plain(tree, path)
    for path, content in candidate.edits.items():
        place = tree / path
        try:
            if content is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            elif place.exists():
                place.unlink()
            else:
                raise Refusal(f"there is no {path} to remove")
        except OSError as error:  # one edit makes a file where another wants a folder, say
            raise Refusal(f"the path {path!r} cannot be written: {error.strerror}") from error


def _require_plain(tree: Path, path: str) -> None:
    """Folders on the way, and a file or nothing at the end. Nobody else writes into the tree yet."""
    place = tree
    parts = PurePosixPath(path).parts
    for number, part in enumerate(parts, start=1):
        place = place / part
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise Refusal(f"the path {path!r} cannot be followed: {error.strerror}") from error
        if stat.S_ISLNK(mode):
            raise Refusal(f"the path {path!r} leads through a link, which may lead out of the tree")
        if not (stat.S_ISREG(mode) if number == len(parts) else stat.S_ISDIR(mode)):
            raise Refusal(f"the path {path!r} names what is no file")


def unreadable(tree: Path) -> str | None:
    """What in ``tree`` cannot be looked through: a pipe or a device, which git would wait at, or a closed folder."""
    stack = [os.fspath(tree)]
    while stack:
        place = stack.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    mode = entry.stat(follow_symlinks=False).st_mode
                    if stat.S_ISDIR(mode):
                        stack.append(entry.path)
                    elif not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISSOCK(mode)):
                        return f"{os.path.relpath(entry.path, tree)[:80]} is a pipe or a device"
        except OSError as error:  # closed, or so deep that the system takes no such path
            return f"{os.path.relpath(place, tree)[:80]} cannot be looked into: {error.strerror}"
    return None


def changed(repository: Store, tree: Path, commit: str, index: Path, seconds: float | None = None) -> set[str]:
    """The paths of ``tree`` that are not as in ``commit``: changed, gone, or new and not ignored. Writes to ``index``.

    A file of rules for what is ignored that is new itself counts whatever it says. git has ``seconds`` for each of two
    looks, where they are given.

    Raises:
        LoopError: git cannot say.
    """
    repository.ask("read-tree", commit, tree=tree, index=index)
    words = ["ls-files", "-z", "--modified", "--deleted", "--others"]
    found = set(names(repository.ask(*words, "--exclude-standard", tree=tree, index=index, seconds=seconds)))
    others = names(repository.ask("ls-files", "-z", "--others", tree=tree, index=index, seconds=seconds))
    return found | {path for path in others if PurePosixPath(path).name == ".gitignore"}


def constant(text: str, name: str, value: int) -> str:
    """``text`` with the integer literal that is assigned to ``name`` replaced: one assignment, which has to be there.

    Raises:
        ValueError: ``name`` is assigned no integer literal, or more than one.
    """
    made, count = re.subn(rf"(?m)^(\s*{re.escape(name)}\s*=\s*)-?\d+(?![\w.])", rf"\g<1>{value}", text)
    if count != 1:
        raise ValueError(f"{name} is assigned an integer literal {count} times, and it has to be once")
    return made


def unaltered(tree: Path, edits: Mapping[str, bytes | None], lease: str) -> bool:
    """Whether the declared file still is what the candidate put there: what was measured is what would be kept."""
    content = edits.get(lease)
    if content is None:
        return lease in edits and not os.path.lexists(tree / lease)
    return read_plain(tree / lease, len(content)) == content

"""What a candidate changes in its tree: put there without following a link, and read back by content.

Whether only the declared file changed is asked of git with an index of our own, which knows no file's dates: so every
file is read, and an edit that keeps size and second is seen as well. A tree without any change is not clean: to propose
what is there already is no proposal.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from seams.contract.rsi_loop import Candidate
from seams.engines.git import names
from seams.rsi.store import Store

__all__ = ["Refusal", "apply", "changed", "constant", "lease_fault", "unaltered"]


class Refusal(Exception):  # noqa: N818 - a verdict on a candidate, not a fault of ours
    """The candidate cannot be tried; the sentence goes into its row."""


def lease_fault(path: str) -> str | None:
    """Why ``path`` is no path of a file inside a tree; None where it is one."""
    parts = PurePosixPath(path).parts
    if not path or "\0" in path or path.startswith("/") or str(PurePosixPath(path)) != path or not parts:
        return f"the path {path!r} is none inside the tree"
    if ".." in parts:
        return f"the path {path!r} leads out of the tree"
    if any(part.lower().rstrip(". ") in (".git", "git~1") for part in parts):
        return f"the path {path!r} leads among git's own files"
    return None


def apply(tree: Path, candidate: Candidate) -> None:
    """Write the candidate's edits into ``tree``; a file keeps its mode.

    Raises:
        Refusal: the lease or an edit does not lie in the tree, leads through a link, or names what is no file.
    """
    for path in (candidate.lease, *candidate.edits):
        if fault := lease_fault(path):
            raise Refusal(fault)
    for path in (candidate.lease, *candidate.edits):
        _require_plain(tree, path)
    for path, content in candidate.edits.items():
        place = tree / path
        if content is None:
            if not place.exists():
                raise Refusal(f"there is no {path} to remove")
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


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


def changed(repository: Store, tree: Path, commit: str, index: Path) -> set[str]:
    """The paths of ``tree`` that are not as in ``commit``: changed, gone, or new and not ignored. Writes to ``index``.

    A file of rules for what is ignored that is new itself counts whatever it says.
    """
    repository.ask("read-tree", commit, tree=tree, index=index)
    words = ["ls-files", "-z", "--modified", "--deleted", "--others"]
    found = set(names(repository.ask(*words, "--exclude-standard", tree=tree, index=index)))
    others = names(repository.ask("ls-files", "-z", "--others", tree=tree, index=index))
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
    try:
        return (tree / lease).read_bytes() == edits.get(lease)
    except FileNotFoundError:
        return lease in edits and edits[lease] is None
    except OSError:
        return False

"""Symbolic links of a tree: none may lead out of it, at any step of the way.

A link that leaves the tree is one file for both sides: a slice that reads it would measure the user's copy twice and
call it equal. Refuses by name; repairs nothing.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from harness.subject import SubjectError

__all__ = ["require_inner_links"]


def require_inner_links(tree: Path, side: str) -> None:
    """Check every link under ``tree``, which is a real path; ``side`` is the word for it in the sentence.

    Raises:
        SubjectError: a link leaves the tree, even if only on its way back into it.
    """
    for place, folders, files in os.walk(tree):
        for name in (*folders, *files):
            link = Path(place, name)
            if link.is_symlink() and not _stays(link, tree):
                shown = str(link.relative_to(tree))
                raise SubjectError(
                    f"The symbolic link {shown!r} of the {side} leads out of the tree to {str(link.readlink())!r}, "
                    f"so both sides would read one file. {_advice(shown, side)}"
                )


def _advice(shown: str, side: str) -> str:
    if side == "head":
        line = shlex.quote(f"/{shown}")
        return f"Make it relative, or, if it is untracked, leave it out: echo {line} >> .git/info/exclude"
    return f"Gate against a commit without it: git log --oneline -- {shlex.quote(shown)}"


def _stays(link: Path, tree: Path) -> bool:
    target = str(link.readlink())
    if target.startswith("/"):
        return False
    # Step by step, because each step may pass through another link, and the end alone does not tell the way.
    here = Path(os.path.realpath(link.parent))
    for step in target.split("/"):
        here = Path(os.path.realpath(here / step))
        if not here.is_relative_to(tree):
            return False
    return True

"""Four trees of one commit, two a side: nothing differs between the sides, or an edit that must not cost time does.

What a gate lays out of a base and a head is laid out here of HEAD alone. Refuses an edit that leaves no trace in the
head: it would be a comparison of two equal trees under another name.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.subject.build import build
from harness.subject.bytecode import compile_roots
from harness.subject.committed import check_out
from harness.subject.edits import LONGER_PATH, Inapplicable, edited
from harness.subject.git import Repository
from harness.subject.links import require_inner_links
from harness.subject.scratch import explained
from harness.subject.trees import Sides

__all__ = ["laid_out", "takes"]

_LONGER = "-and-its-name-is-a-good-deal-longer-than-that-of-the-other-side"


def takes(source: str, edit: str) -> bool:
    """Whether a module has a place for ``edit``."""
    try:
        return edit == LONGER_PATH or edited(source, edit) != source
    except Inapplicable:
        return False


@contextmanager
def laid_out(
    repository: Repository,
    commit: str,
    folder: Path,
    *,
    within: Path = Path(),
    edit: str | None = None,
    modules: Collection[str] = (),
    command: str | None = None,
) -> Iterator[Sides]:
    """Lay out ``commit`` in ``folder``, under names drawn anew; the trees are removed at the end.

    ``within`` is the project's folder in its repository, ``modules`` are the files, relative to it, that ``edit`` is
    made in on the head, and ``command`` builds a tree.

    Raises:
        SubjectError: the commit cannot be laid out or built.
        Inapplicable: a module has no place for the edit.
    """
    trees = [folder / letter for letter in random.sample("abcd", 4)]
    if edit == LONGER_PATH:
        trees[2:] = [tree.with_name(tree.name + _LONGER) for tree in trees[2:]]
    try:
        try:
            trees[0].mkdir()
            raw = check_out(repository, commit, trees[0], folder)
            require_inner_links(trees[0], "HEAD")
            for tree in trees[1:]:
                shutil.copytree(trees[0], tree, symlinks=True)
        except (OSError, shutil.Error) as error:
            raise explained(error) from error
        roots = [tree / within for tree in trees]
        if edit is not None:
            for file in (root / module for root in roots[2:] for module in modules):
                file.write_text(edited(file.read_text(encoding="utf-8"), edit), encoding="utf-8")
        if command:
            for root in roots:
                build(command, root)
        compile_roots(roots)
        unfiltered = tuple(path for path in raw if Path(path).is_relative_to(within))
        yield Sides(folder, (roots[0], roots[1]), (roots[2], roots[3]), unfiltered)
    finally:
        for tree in trees:
            shutil.rmtree(tree, ignore_errors=True)

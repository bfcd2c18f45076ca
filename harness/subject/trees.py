"""Both sides of a gate as four trees of equal name length in one temporary folder: each side, twice.

The base is a commit, the head is the working tree; the second tree of a side is a copy of its first, so that both
hold the same moment. Two places a side let a later run cross the paths at random: a path is then noise and no bias.
Decides nothing about instrument and subject, and writes nothing outside its folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.project import Project
from harness.subject import SubjectError
from harness.subject.committed import check_out
from harness.subject.git import find
from harness.subject.links import require_inner_links
from harness.subject.revisions import Base
from harness.subject.scratch import explained, scratch
from harness.subject.working import copy_working_tree

__all__ = ["Sides", "materialise"]


@dataclass(frozen=True, slots=True)
class Sides:
    """The project's root in each of the four trees, two a side; absolute, real paths of equal length.

    ``folder`` is the temporary folder around them. ``unfiltered`` names, relative to the project's root, the files of
    the base that lie there as git stores them because their content filter is not run: a slice that reads one of them
    cannot be compared. ``warnings`` are sentences that must be shown.
    """

    folder: Path
    base: tuple[Path, Path]
    head: tuple[Path, Path]
    unfiltered: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[Path, Path, Path, Path]:
        """All four, the base's first."""
        return (*self.base, *self.head)


@contextmanager
def materialise(project: Project, base: Base, *, letters: str = "abcd") -> Iterator[Sides]:
    """Lay out both sides of ``project``; everything is removed at the end.

    ``letters`` name the trees in the order base, base, head, head; a caller that shuffles them keeps a name from
    standing for a side over many runs.

    Raises:
        SubjectError: a side cannot be laid out whole; the sentence names what is in the way.
        ValueError: ``letters`` are not four different letters.
    """
    if len(letters) != 4 or len(set(letters)) != 4 or not letters.isalpha():
        raise ValueError(f"four different letters are needed to name the trees, not {letters!r}")
    with scratch() as folder:
        try:
            sides = _lay_out(project, base, folder, [folder / letter for letter in letters])
        except (OSError, shutil.Error) as error:
            raise explained(error) from error
        yield sides


def _lay_out(project: Project, base: Base, folder: Path, trees: list[Path]) -> Sides:
    repository = find(project.root)
    within = project.root.resolve().relative_to(repository.top.resolve())
    first_base, second_base, first_head, second_head = trees
    # The head first: it changes under the user's hands.
    first_head.mkdir()
    embedded = copy_working_tree(repository, first_head, folder)
    if not (first_head / within).is_dir() or not any((first_head / within).iterdir()):
        raise SubjectError(
            f"git ignores everything in {project.root}, so the head would be empty. Look with: git status --ignored"
        )
    first_base.mkdir()
    raw = check_out(repository, base.commit, first_base, folder)
    (first_base / within).mkdir(parents=True, exist_ok=True)
    for tree, side in ((first_head, "head"), (first_base, f"base {base.short}")):
        require_inner_links(tree, side)
    shutil.copytree(first_base, second_base, symlinks=True)
    shutil.copytree(first_head, second_head, symlinks=True)
    unfiltered = [os.path.relpath(path, within) for path in raw]
    return Sides(
        folder=folder,
        base=(first_base / within, second_base / within),
        head=(first_head / within, second_head / within),
        unfiltered=tuple(unfiltered),
        warnings=tuple(_warnings(raw, embedded, base)),
    )


def _warnings(raw: list[str], embedded: list[str], base: Base) -> Iterator[str]:
    if raw:
        yield (
            f"{_some(raw)} of the base {base.short} pass through a content filter, which the gate does not run: a "
            f"slice that reads them cannot be compared. For files of Git LFS, type: git lfs fetch origin {base.commit}"
        )
    if embedded:
        yield (
            f"{_some(embedded)} are repositories inside this one without being its submodules; neither side has them. "
            "Where they are needed, type: git submodule add"
        )


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return ", ".join(repr(path) for path in sorted(paths)[:5]) + more

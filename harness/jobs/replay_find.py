"""Finds the files that may be recordings: what a user names, and everything below the folders among it.

Links to folders are not followed, so that no walk runs in a circle, and a file that is reached twice counts once. A
pipe or a device is never opened. What cannot be read becomes an issue; the rest is found all the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.formats.limits import encodable, printable
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["Finding", "Found", "find", "is_small"]

_PASSED_OVER = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv"})
"""Folders of tools, which hold thousands of files and no recording."""

_FEW = 1_000
"""Files; a folder that holds more is not looked through twice."""


@dataclass(frozen=True, slots=True)
class Found:
    """One regular file. ``named``: it was given by name, not found below.

    ``name`` is the path as its user knows it, in characters that any file takes. Of ``mtime_ns`` and ``ctime_ns`` only
    the first can be put back by who changes a file in its place.
    """

    path: Path
    name: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    named: bool


@dataclass(slots=True)
class Finding:
    """What was found, and what could not be looked at."""

    files: list[Found] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def unreadable(self, name: str, why: str) -> None:
        """Note that ``name`` could not be read."""
        sentence = f"{printable(name, 200)} cannot be read: {why}."
        self.issues.append(Issue(Severity.ERROR, IssueCode.E_UNREADABLE, sentence, file=encodable(name)))

    def dangling(self, name: str) -> None:
        """Note that the link ``name`` leads nowhere: what it led to may be missed, and may have been no recording."""
        sentence = f"{printable(name, 200)} is a link that leads nowhere, and was passed over."
        self.issues.append(Issue(Severity.WARNING, IssueCode.E_UNREADABLE, sentence, file=encodable(name)))

    def add(self, path: str, facts: os.stat_result, *, named: bool) -> None:
        """Take one regular file, unless it is here already."""
        identity = (facts.st_dev, facts.st_ino)
        if identity not in self._seen:
            self._seen.add(identity)
            times = facts.st_mtime_ns, facts.st_ctime_ns
            place = facts.st_ino, facts.st_dev
            self.files.append(Found(Path(path), encodable(path), facts.st_size, *times, *place, named))


def find(paths: Sequence[str]) -> Finding:
    """Every regular file among ``paths`` and below the folders among them, by name in each folder."""
    found = Finding()
    for path in paths:
        try:
            facts = Path(path).stat()
        except (OSError, ValueError) as error:
            found.unreadable(path, getattr(error, "strerror", None) or "it is no name of a file")
            continue
        if stat.S_ISDIR(facts.st_mode):
            for below, its in _walk(path, found):
                found.add(below, its, named=False)
        elif stat.S_ISREG(facts.st_mode):
            found.add(path, facts, named=True)
        else:
            found.unreadable(path, "it is neither a file nor a folder")
    return found


def is_small(paths: Sequence[str], most: int) -> bool:
    """Whether everything among ``paths`` and below is a few files of at most ``most`` bytes together.

    It looks no further than that, so that a large tree is not walked for the answer.
    """
    unread, files, size = Finding(), 0, 0
    for path in paths:
        try:
            facts = Path(path).stat()
        except (OSError, ValueError):
            continue
        inside = _walk(path, unread) if stat.S_ISDIR(facts.st_mode) else [(path, facts)]
        for _, its in inside:
            files, size = files + 1, size + its.st_size
            if files > _FEW or size > most:
                return False
    return True


def _walk(top: str, found: Finding) -> Iterator[tuple[str, os.stat_result]]:
    """Every file below ``top`` with its facts; what cannot be looked at is noted in ``found``."""
    folders = [top]
    while folders:
        folder = folders.pop()
        below: list[str] = []
        for entry in _entries(folder, found):
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _PASSED_OVER:
                        below.append(entry.path)
                elif entry.is_file():
                    yield entry.path, entry.stat()
                elif entry.is_symlink() and not os.path.exists(entry.path):  # noqa: PTH110 a string is at hand
                    found.dangling(entry.path)
            except OSError as error:
                found.unreadable(entry.path, error.strerror or str(error))
        folders += reversed(below)


def _entries(folder: str, found: Finding) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        found.unreadable(folder, error.strerror or str(error))

"""What a candidate could reach and must not: a list of files and folders by their identity, before a trial and after.

The user's working tree, the repository's store and the journal are listed; nothing is read, so that an overnight loop
can afford it, and the time of the last change of state, which no program can set back, shows a change even where
everything was put back. What confinement does not cover is told apart from what it prevents: who may not write to a
file may still change its mode, its owner, its times and its attributes. What lies elsewhere is not listed: a loss there
is prevented where the kernel confines a candidate, and neither prevented nor seen where it does not; a change of mode,
owner, times or attributes there is seen nowhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

__all__ = ["Differences", "Manifest", "differences", "taken"]

Manifest = dict[str, tuple[int, int, int, int, int, int]]
"""Path -> (inode, mode, user, group, size, time of the last change of state in ns).

A folder's size is 0, and its time is 0 where that is a change of what is in it, since each entry is listed for itself.
"""


class Differences(NamedTuple):
    """The paths that differ, each list in order.

    ``written`` came, went, are another file or have another size: that takes a right to write. ``owned`` are as before
    but for their mode or owner, which takes none. ``stamped`` are as before but for the time of their last change of
    state: times or attributes were set, which takes none, or as many bytes were written in place.
    """

    written: list[str]
    owned: list[str]
    stamped: list[str]

    @property
    def every(self) -> list[str]:
        """All of them, in order."""
        return sorted((*self.written, *self.owned, *self.stamped))


def taken(roots: Iterable[Path], without: Path) -> Manifest:
    """What is below ``roots``, and they themselves, no link followed; a root may be a file, or not be.

    Of the folder ``without`` itself is listed, where it is met, and nothing in it that is no root.
    """
    skipped = os.fspath(without)
    found: Manifest = {}
    for root in roots:
        with suppress(OSError):
            _note(found, os.fspath(root), root.lstat())
        stack = [] if os.fspath(root) == skipped else [os.fspath(root)]
        while stack:
            with suppress(OSError), os.scandir(stack.pop()) as entries:
                for entry in entries:
                    _note(found, entry.path, entry.stat(follow_symlinks=False))
                    if entry.is_dir(follow_symlinks=False) and entry.path != skipped:
                        stack.append(entry.path)
    return found


def _note(found: Manifest, path: str, facts: os.stat_result) -> None:
    size, state = facts.st_size, facts.st_ctime_ns
    if stat.S_ISDIR(facts.st_mode):
        # An entry that comes or goes sets both times of its folder, and nothing else does but to set them to now.
        size, state = 0, 0 if state == facts.st_mtime_ns else state
    found[path] = (facts.st_ino, facts.st_mode, facts.st_uid, facts.st_gid, size, state)


def differences(before: Manifest, after: Manifest) -> Differences:
    """How two lists differ."""
    found = Differences([], [], [])
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if old is None or new is None or old[0] != new[0] or stat.S_IFMT(old[1]) != stat.S_IFMT(new[1]):
            found.written.append(path)
        elif old[1:4] != new[1:4]:
            found.owned.append(path)
        elif old[4] != new[4]:
            found.written.append(path)
        elif new[5]:
            found.stamped.append(path)
    # What lies in a folder that was closed is not there to be seen, and so it is not known to be gone.
    closed = tuple(f"{path}{os.sep}" for path in found.owned)
    return found._replace(written=[path for path in found.written if not path.startswith(closed)])

"""What a candidate could reach and must not: a list of files by their identity, taken before a trial and after it.

The user's working tree and the repository's store are listed, and the journal; nothing is read, so that an overnight
loop can afford it, and the time of a file's last change of state, which no program can set back, shows a change even
where its content was put back. What lies elsewhere is not listed: a loss there is prevented where the kernel confines a
candidate, and neither prevented nor seen where it does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["Manifest", "differences", "taken"]

Manifest = dict[str, tuple[int, int, int, int]]
"""Path -> (inode, mode, size, time of the last change of state in ns)."""


def taken(roots: Iterable[Path], without: Path) -> Manifest:
    """The files below ``roots`` but for the folder ``without``, no link followed; a root may be a file, or not be."""
    skipped = os.fspath(without)
    found: Manifest = {}
    for root in roots:
        with suppress(OSError):
            _note(found, os.fspath(root), root.lstat())
        stack = [os.fspath(root)]
        while stack:
            with suppress(OSError), os.scandir(stack.pop()) as entries:
                for entry in entries:
                    facts = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        if entry.path != skipped:
                            stack.append(entry.path)
                    else:
                        _note(found, entry.path, facts)
    return found


def _note(found: Manifest, path: str, facts: os.stat_result) -> None:
    found[path] = (facts.st_ino, facts.st_mode, facts.st_size, facts.st_ctime_ns)


def differences(before: Manifest, after: Manifest) -> list[str]:
    """The paths that came, went or changed, in order."""
    both = before.keys() | after.keys()
    return sorted(path for path in both if before.get(path) != after.get(path))

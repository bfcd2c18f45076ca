"""Where the files of a probe lie: a folder of its own, on a file system that is told, and gone when the probe is.

A time of files says nothing without it: a folder in memory and one on a disk differ, and a temporary folder may be
either. Nothing is timed here.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.measure.clock import Undefined

__all__ = ["Place", "file_system", "place"]

_MEMORY = ("tmpfs", "ramfs")


def file_system(folder: Path) -> str:
    """The type of the file system that holds ``folder``, as the kernel names it; unknown where it does not say."""
    real = os.path.realpath(folder)
    found, longest = "unknown", -1
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return found
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        point = left.split(" ")[4].encode().decode("unicode_escape")
        if len(point) >= longest and (real == point or real.startswith(point.rstrip("/") + "/")):
            found, longest = right.split(" ")[0], len(point)
    return found


class Place:
    """A new folder below ``above``. ``fs`` is the type of its file system."""

    __slots__ = ("fs", "path")

    def __init__(self, above: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="loopladder-", dir=above))
        self.fs = file_system(self.path)

    def close(self) -> None:
        """Delete it, with what is in it."""
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def place(kind: str | None) -> Place | Undefined:
    """A place where temporary files go, or the first one in memory (``tmpfs``) or not in memory (``disk``)."""
    if kind is None:
        return Place()
    if kind not in ("tmpfs", "disk"):
        return Undefined("bad-value", f"fs = {kind} is neither tmpfs nor disk.")
    for above in map(Path, ("/dev/shm", tempfile.gettempdir(), "/var/tmp", ".")):
        if above.is_dir() and os.access(above, os.W_OK) and (file_system(above) in _MEMORY) is (kind == "tmpfs"):
            return Place(above)
    return Undefined("not-installed", f"No folder for temporary files here is on {kind}.")

"""One temporary folder for the trees of a gate, and the end of those that a killed gate left behind.

A lock of the kernel on a file inside says that the owner lives; it ends with its process, however that ended. Refuses
to remove a folder of another user, one that is in use, and whatever does not hold the mark that is written here: a
folder that only has such a name is somebody's work.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.subject import SubjectError
from seams.engines.removal import removed

__all__ = ["LOCK", "MARK", "PREFIX", "explained", "prune", "scratch"]

PREFIX = "loopladder-scratch-"
LOCK = "lock"
MARK = b"loopladder made this folder for the trees of one gate and removes it\n"


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder of mode 0700 in the temporary folder (TMPDIR), removed at the end. Leftovers are pruned first.

    Raises:
        SubjectError: it cannot be made.
    """
    prune()
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        new = folder / f".{LOCK}"
        handle = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Locked under another name first: a lock file that is there and not held means a dead owner.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(handle, MARK)
        new.rename(folder / LOCK)
    except OSError as error:
        raise SubjectError(
            f"No folder can be made for the trees: {error}. Name another place: export TMPDIR=/path/with/room"
        ) from error
    try:
        yield folder
    finally:
        removed(folder, LOCK)
        os.close(handle)


def explained(error: object) -> SubjectError:
    """The sentence for a write into the folder that failed: mostly a full disk."""
    place = tempfile.gettempdir()
    if "No space left" in str(error) or "Disk quota" in str(error):
        return SubjectError(
            f"There is no room in {place} for four copies of the project. Free some, or type: "
            "export TMPDIR=/path/with/room"
        )
    return SubjectError(f"A tree of the gate cannot be written: {str(error)[:500]}. Look with: df -h {place}")


def prune() -> list[Path]:
    """Remove the folders of dead owners from the temporary folder; return them."""
    gone = []
    with suppress(OSError):
        for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
            with suppress(OSError):
                if _abandoned(folder):
                    gone.append(folder)
    return gone


def _abandoned(folder: Path) -> bool:
    """Remove ``folder`` if it bears our mark and nobody holds its lock; whether it is gone."""
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        return False
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode) or os.read(handle, len(MARK) + 1) != MARK:
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return removed(folder, LOCK)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)

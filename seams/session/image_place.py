"""The place of an image or of an archive: what is written stands hidden beside it and gets its name in one step.

The hidden names of a place are its own, and one writer at a time has them: the kernel holds its lock for as long as it
lives. So two writers take turns, and what bears those names without a lock was left by one that was killed; the next
one clears it away. An image that is replaced is exchanged for the new one in a single step, where the system can;
elsewhere it stands under a hidden name for a moment, and a kill in that moment leaves it for the next one to put back.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from seams.contract.image import HEADER, ImageRefusedError
from seams.session.image_files import ImageFolder, hidden, named
from seams.session.image_header import PARTS, is_header

__all__ = ["beside", "moved"]

_PATIENCE_S = 60.0
"""How long a writer waits for another one to the same place."""

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
"""Of renameat2(2): a path is taken as it stands, and the two names are exchanged."""


@contextlib.contextmanager
def beside(place: Path) -> Iterator[Path]:
    """A hidden path beside ``place`` on which nothing is; nothing is there afterwards either.

    Raises:
        ImageRefusedError: ``place`` names nothing that could be written, something of somebody else bears a hidden name
            of it, or another writer does not end.
        OSError: the disk fails, or there is no folder to put it into.
    """
    new, old, lock = hidden(named(place))
    fd = _locked(lock, place)
    try:
        if not os.path.lexists(place) and _is_image(old):
            old.rename(place)  # out of which it was taken for one that never came
        _removed(new)
        _removed(old)
        yield new
    finally:
        # What cannot be removed now is as good as left by a killed writer; what was written is in its place.
        with contextlib.suppress(OSError, ImageRefusedError):
            _removed(new)
            _removed(old)
        with contextlib.suppress(OSError):
            lock.unlink()
        os.close(fd)


def moved(folder: Path, place: Path, *, durable: bool) -> None:
    """Put ``folder``, which is beside ``place``, there; an image or an empty folder that is there goes.

    ``durable``: every file is on the disk, and so is the folder's list of them, before it gets its name, and the name
    is once it returns; a power cut leaves no name that leads to an image in part.

    Raises:
        ImageRefusedError: what is there is neither, and is somebody else's.
        OSError: the disk fails. What was there is there still.
    """
    if durable:
        for file in sorted(folder.iterdir()):
            _forced(file)
        _forced(folder)
    _put(folder, place)
    if durable:
        _forced(place.parent)


def _forced(place: Path) -> None:
    """Have the disk take what the system still holds of a file, or of a folder's list of names."""
    fd = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _put(new: Path, place: Path) -> None:
    try:
        new.rename(place)  # onto nothing, or onto an empty folder
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
    if not _is_image(place):
        raise ImageRefusedError(place.name, "is there already and is no image; name another folder, or remove it.")
    if _exchanged(new, place):
        return
    old = hidden(place).old
    place.rename(old)
    try:
        new.rename(place)
    except OSError:
        old.rename(place)
        raise


def _is_image(place: Path) -> bool:
    """Whether nothing but files of an image is there, whose header is one, of whatever version and however damaged.

    A name alone shows nothing: other people's data may well be called ``image.json``.
    """
    if place.is_symlink() or not place.is_dir():
        return False
    with os.scandir(place) as entries:
        if not all(entry.name in (HEADER, *PARTS) and entry.is_file(follow_symlinks=False) for entry in entries):
            return False
    try:
        with ImageFolder(place) as opened:
            return is_header(opened.header())
    except ImageRefusedError:
        return False


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in a single step; False where the C library or the file system has no such step."""
    import ctypes  # a dump onto a new name does without it

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), ctypes.c_uint(_RENAME_EXCHANGE)) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def _locked(lock: Path, place: Path) -> int:
    """Make the lock of ``place`` and take it, or wait until whoever has it ends; the descriptor that holds it."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        fd = _opened(lock, place)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(fd), lock.lstat()):
                return fd
        except (BlockingIOError, FileNotFoundError):  # held, or taken along by a writer that has just ended
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        if time.monotonic() > until:
            why = f"is being written by somebody else for over {_PATIENCE_S:.0f} s; end that or take another name."
            raise ImageRefusedError(place.name, why)
        time.sleep(0.002)


def _opened(lock: Path, place: Path) -> int:
    try:
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR):
            raise
        raise ImageRefusedError(place.name, f"cannot be written: {error.strerror}; take another name.") from error
    told = os.fstat(fd)
    if not stat.S_ISREG(told.st_mode) or told.st_size:  # a lock is empty
        os.close(fd)
        raise _somebodys(lock)
    return fd


def _removed(path: Path) -> None:
    """Remove what a writer left: a file, or a folder of nothing but files."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISREG(mode):
        path.unlink()
        return
    if stat.S_ISDIR(mode):
        with os.scandir(path) as entries:
            plain = all(entry.is_file(follow_symlinks=False) for entry in entries)
        if plain:
            shutil.rmtree(path)
            return
    raise _somebodys(path)


def _somebodys(path: Path) -> ImageRefusedError:
    return ImageRefusedError(path.name, "has the hidden name of a dump and is somebody's; move it, or name another.")

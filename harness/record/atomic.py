"""How a file is written so that a reader sees the old one or the new one, never a half, and what is said if it fails.

Refuses to delete anything but its own temporary files. A device or a pipe named as target is written through, never
replaced.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["StoreError", "explained", "require_inside", "sweep_dead", "sync_folder", "write_all", "write_atomic"]

_TEMPORARY = re.compile(r"\.([1-9]\d{0,9})-[0-9a-f]{8}\.tmp")
_DEAD_SECONDS = 60
"""A temporary file lives for one write. An older one is left over, unless its process goes on."""


class StoreError(OSError):
    """A file or folder of ours cannot be used; a full sentence with the next command to type."""

    def __str__(self) -> str:
        return str(self.args[0])


def explained(path: Path, error: OSError) -> StoreError:
    """The sentence for an operating system error met while writing ``path``."""
    folder = path.parent
    quoted, look = shlex.quote(str(folder)), f"ls -ld {shlex.quote(str(path))}"
    match error.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return StoreError(f"{path} cannot be written: {folder} is read-only for you; see `ls -ld {quoted}`.")
        case errno.ENOSPC | errno.EDQUOT:
            return StoreError(f"{path} cannot be written: the disk (or your quota) is full; see `df -h {quoted}`.")
        case errno.EFBIG:
            return StoreError(f"{path} cannot be written: it exceeds the file-size limit; see `ulimit -f`.")
        case errno.ENOENT if folder.is_dir():  # as /proc, where only the kernel makes names
            return StoreError(f"{path} cannot be written: {folder} takes no new files; choose another place for it.")
        case errno.ENOENT:
            return StoreError(f"{path} cannot be written: {folder} is missing; make it with `mkdir -p {quoted}`.")
        case errno.ENOTDIR:
            return StoreError(f"{path} cannot be written: {folder} is not a folder; see `ls -ld {quoted}`.")
        case errno.EEXIST:
            return StoreError(f"{path} cannot be made: something of that name is there; see `ls -ld {quoted}`.")
        case errno.EISDIR:
            return StoreError(f"{path} cannot be written: it is a folder; name a file inside it, or see `{look}`.")
        case errno.ENAMETOOLONG:
            return StoreError(f"{path} cannot be written: the name is too long; choose a shorter one.")
        case errno.ENXIO:
            quoted = shlex.quote(str(path))
            return StoreError(f"{path} cannot be written: it is a pipe that nobody reads; first type `cat {quoted} &`.")
        case errno.ELOOP:
            return StoreError(f"{path} cannot be written: it is a link, or links lead in a circle; see `{look}`.")
        case _:
            why = error.strerror or str(error)
            return StoreError(f"{path} cannot be written: {why}; see `ls -ld {quoted}`.")


def require_inside(path: Path, root: Path) -> None:
    """Require that no link on the way from the folder ``root`` to ``path``, which lies below it, leads out of it.

    Raises:
        StoreError: one does, and whatever lies there is not ours to write.
    """
    top = os.path.realpath(root)
    for each in (*reversed(path.parents), path):
        # realpath and not resolve(), which raises where links lead in a circle.
        if each.is_symlink() and each.is_relative_to(root) and not Path(os.path.realpath(each)).is_relative_to(top):
            raise StoreError(
                f"{each} is a link that leads out of the project, to {each.readlink()}, and nothing is written there; "
                f"see `ls -ld {shlex.quote(str(each))}`."
            )


def write_all(handle: int, blob: bytes) -> None:
    """Write every byte: one ``write`` may take a part only, and the next then says why."""
    view = memoryview(blob)
    while view:
        view = view[os.write(handle, view) :]


def sync_folder(folder: Path) -> None:
    """Make a rename or a removal in ``folder`` survive a power failure, where the file system can."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot, and say so
            raise
    finally:
        os.close(handle)


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None


def _write_through(path: Path, blob: bytes, mode: int) -> None:
    # Opening a pipe waits for its reader, who may never come; once there is one, the writing may take its time.
    waits = os.O_NONBLOCK if stat.S_ISFIFO(mode) else 0
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC | waits)
    try:
        os.set_blocking(handle, True)
        write_all(handle, blob)
    finally:
        os.close(handle)


def _replace(path: Path, blob: bytes, mode: int | None) -> None:
    temporary = path.with_name(f".{os.getpid()}-{os.urandom(4).hex()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            if mode is not None:
                os.fchmod(handle, stat.S_IMODE(mode))
            write_all(handle, blob)
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.replace(path)
    except BaseException:  # Ctrl-C included: nothing of ours stays behind
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sweep_dead(folder: Path) -> None:
    """Remove temporary files of ours in ``folder`` that were left when their process was killed.

    A process id says nothing of another machine that shares the folder, so a file must be old as well. What cannot be
    looked at or removed stays: it is only in the way.
    """
    with suppress(OSError):
        for each in folder.iterdir():
            found = _TEMPORARY.fullmatch(each.name)
            if found is not None and not _goes_on(int(found[1])):
                told = each.lstat()
                if stat.S_ISREG(told.st_mode) and time.time() - told.st_mtime > _DEAD_SECONDS:
                    each.unlink()


def _goes_on(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def write_atomic(path: Path, blob: bytes, *, within: Path | None = None) -> None:
    """Put ``blob`` at ``path``: a temporary file in the same folder, flushed to disk, then renamed over it.

    Missing folders are made. A link is followed, though not out of the folder ``within`` where one is given, in which
    ``path`` lies; the mode of an existing file is kept. A device or pipe is written through, since renaming over it
    would destroy it.

    Raises:
        StoreError: a link leads out of ``within``, the folder is read-only, the disk is full, a size limit was hit,
            ... ; the old file is untouched.
    """
    if within is not None:
        require_inside(path, within)
    try:
        path = Path(os.path.realpath(path))
        _make(path.parent)
        mode = _mode_of(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is None or stat.S_ISREG(mode):
            _replace(path, blob, mode)
        else:
            _write_through(path, blob, mode)
    except OSError as error:
        raise explained(path, error) from error

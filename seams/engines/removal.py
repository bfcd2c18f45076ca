"""Removes a folder whatever somebody left in it: nested as deep as may be, closed to its owner, linked to elsewhere.

Immutable and append-only attributes go first where this process may take them away. A file that has another name keeps
them, since that name may lie elsewhere.

What lies deeper than one folder is brought up to the top before it goes, so that neither the interpreter's stack nor
the system's longest path is a bound. No link is followed, and nothing outside the folder is touched. What cannot be
removed stays, and the caller is told so.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
import struct
from contextlib import suppress
from pathlib import Path

__all__ = ["removed"]

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FIXED = 0x10 | 0x20
"""FS_IMMUTABLE_FL and FS_APPEND_FL of linux/fs.h."""
_ASK = 2 << 30 | struct.calcsize("l") << 16 | ord("f") << 8 | 1
_SET = 1 << 30 | struct.calcsize("l") << 16 | ord("f") << 8 | 2
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS: declared for a long, and 32 bits are what is read and written."""


def removed(folder: Path, last: str | None = None) -> bool:
    """Remove ``folder`` and all that is in it; whether nothing is there any more. Raises no OSError.

    The file ``last`` in it, the mark of an owner perhaps, goes after everything else: it stays where anything stays.
    """
    with suppress(OSError):
        top = _opened(os.fspath(folder), None)
        try:
            _empty(top, last)
            if last is not None and os.listdir(top) == [last]:  # noqa: PTH208 - by its descriptor
                _unlink(last, top)
        finally:
            os.close(top)
    with suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            _unlink(os.fspath(folder), None)
        else:
            folder.rmdir()
    return not os.path.lexists(folder)


def _empty(top: int, last: str | None) -> None:
    token = secrets.token_hex(8)  # of the names that folders from deeper down are given: nobody else has them
    count = 0
    waiting = _stripped(top, last)
    while waiting:
        name = waiting.pop()
        with suppress(OSError):
            folder = _opened(name, top)
            try:
                for inner in _stripped(folder):
                    count += 1
                    if _raised(inner, folder, f"{token}-{count}", top):
                        waiting.append(f"{token}-{count}")
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)


def _stripped(folder: int, spared: str | None = None) -> list[str]:
    """The names of the folders in ``folder``, once all else in it but ``spared`` is gone."""
    with os.scandir(folder) as entries:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in listed:
        if not is_folder and name != spared:
            with suppress(OSError):
                _unlink(name, folder)
    return [name for name, is_folder in listed if is_folder]


def _raised(name: str, folder: int, new: str, top: int) -> bool:
    """Whether ``name`` in ``folder`` is ``new`` in ``top`` now."""
    try:
        try:
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
        except PermissionError:  # nobody may write to it, so its entry for the folder above cannot change
            _unlock(name, folder)
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
    except OSError:
        # A layered file system may not let a folder be moved that an older layer holds.
        with suppress(OSError, RecursionError):
            shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
        return False
    return True


def _opened(name: str, at: int | None) -> int:
    try:
        handle = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=at)
    except PermissionError:
        _unlock(name, at)
        return os.open(name, os.O_RDONLY | _FOLDER, dir_fd=at)
    with suppress(OSError):
        try:
            os.fchmod(handle, 0o700)
        except PermissionError:
            _loosen(handle)
            os.fchmod(handle, 0o700)
    return handle


def _unlock(name: str, at: int | None) -> None:
    """Let the owner of a folder do everything with it; a link in its place is not followed."""
    with suppress(OSError):  # its mode cannot change before its attributes do, and these are those of an open folder
        opened = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=at)
        try:
            _loosen(opened)
        finally:
            os.close(opened)
    handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=at)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)  # noqa: PTH101 - it cannot be opened for itself, so by its descriptor
    finally:
        os.close(handle)


def _unlink(name: str, at: int | None) -> None:
    """Remove what is no folder, whatever its attributes."""
    try:
        os.unlink(name, dir_fd=at)
    except PermissionError:
        # Only what can have attributes is opened: to open a device may do something already.
        if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            raise
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        try:
            held = _loosen(handle)
            if held is None:
                raise
            try:
                os.unlink(name, dir_fd=at)
            finally:
                if os.fstat(handle).st_nlink:
                    fcntl.ioctl(handle, _SET, held)
        finally:
            os.close(handle)


def _loosen(handle: int) -> bytes | None:
    """Take the attributes away that keep a file or a folder from changing; all that it had, None where it had neither.

    Raises:
        OSError: there are none of this kind here, or this process may not change them.
    """
    held = fcntl.ioctl(handle, _ASK, bytes(struct.calcsize("l")))
    (flags,) = struct.unpack_from("I", held)
    if not flags & _FIXED:
        return None
    fcntl.ioctl(handle, _SET, struct.pack("I", flags & ~_FIXED) + held[struct.calcsize("I") :])
    return held

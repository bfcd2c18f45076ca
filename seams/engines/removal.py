"""Removes a folder whatever somebody left in it: nested as deep as may be, closed to its owner, linked to elsewhere.

What lies deeper than one folder is brought up to the top before it goes, so that neither the interpreter's stack nor
the system's longest path is a bound. No link is followed, and nothing outside the folder is touched. What cannot be
removed stays, and the caller is told so.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["removed"]

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def removed(folder: Path, last: str | None = None) -> bool:
    """Remove ``folder`` and all that is in it; whether nothing is there any more. Raises no OSError.

    The file ``last`` in it, the mark of an owner perhaps, goes after everything else: it stays where anything stays.
    """
    with suppress(OSError):
        top = _opened(os.fspath(folder), None)
        try:
            _empty(top, last)
            if last is not None and os.listdir(top) == [last]:  # noqa: PTH208 - by its descriptor
                os.unlink(last, dir_fd=top)
        finally:
            os.close(top)
    with suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()
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
                os.unlink(name, dir_fd=folder)
    return [name for name, is_folder in listed if is_folder]


def _raised(name: str, folder: int, new: str, top: int) -> bool:
    """Whether ``name`` in ``folder`` is ``new`` in ``top`` now."""
    try:
        try:
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
        except PermissionError:  # its owner may not write to it, so its entry for the folder above cannot change
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
        os.fchmod(handle, 0o700)
    return handle


def _unlock(name: str, at: int | None) -> None:
    """Let the owner of a folder do everything with it; a link in its place is not followed."""
    handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=at)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)  # noqa: PTH101 - it cannot be opened for itself, so by its descriptor
    finally:
        os.close(handle)

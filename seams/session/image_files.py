"""Files of an image: written once under a new name, read once and never by their path.

A folder that is read is opened first, and every name is looked up in it and nowhere else, without following a link; so
a name cannot lead out of the folder, and the folder cannot be exchanged half-way. A part is read to the byte that its
size says and not beyond.
"""

from __future__ import annotations

import errno
import os
import stat
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from seams.contract.image import HEADER, ImageRefusedError, Part

__all__ = ["Hidden", "ImageFolder", "PartFile", "hidden", "named"]

_CHUNK = 1 << 16
_MOST_HEADER = 1 << 20
"""A header has some kilobytes; what is larger than this is none."""

_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES)
"""What the system says of a place that is not to be had; whatever else it says is a disk that fails."""


class PartFile:
    """A part that is being written; ``part`` says what it became once it is closed. Never over a file that is there."""

    __slots__ = ("_digest", "_file", "_pending", "_waiting", "name", "size")

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.size = 0
        self._digest = sha256()
        self._file = (folder / name).open("xb", buffering=0)
        self._pending: list[bytes] = []
        self._waiting = 0

    def write(self, data: bytes) -> None:
        """Add bytes; they are gathered, because a page is a few hundred."""
        self._pending.append(data)
        self._waiting += len(data)
        if self._waiting >= _CHUNK:
            self._flush()

    def close(self) -> Part:
        """Write the rest, and say what the file is."""
        try:
            self._flush()
        finally:
            self._file.close()
        return Part(self.name, self.size, self._digest.hexdigest())

    def _flush(self) -> None:
        data = b"".join(self._pending)
        self._pending, self._waiting = [], 0
        self._digest.update(data)
        self.size += len(data)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def named(place: Path) -> Path:
    """``place``, if it names something.

    Raises:
        ImageRefusedError: it ends in no name, or has a character that no path has.
        TypeError: it is no path.
    """
    _require_path(place)
    if place.name in ("", "..") or "\0" in str(place):
        raise ImageRefusedError(str(place), "names no file or folder; end it in a name.")
    return place


def _require_path(place: object) -> None:
    if not isinstance(place, Path):
        raise TypeError(f"The place {place!r:.80} is no path; give pathlib.Path of it.")


class Hidden(NamedTuple):
    """What is beside a place while that is written: what comes, what goes, and the lock of the writer."""

    new: Path
    old: Path
    lock: Path


def hidden(place: Path) -> Hidden:
    """The hidden names of ``place``."""
    return Hidden(*(place.with_name(f".{place.name}.dump-{each}") for each in Hidden._fields))


class ImageFolder:
    """A folder that is read as an image. To be entered.

    Raises:
        ImageRefusedError: there is no such folder, or none that may be looked into.
        TypeError: what is given is no path.
    """

    __slots__ = ("_fd", "_path")

    def __init__(self, path: Path) -> None:
        _require_path(path)
        self._path = path
        self._fd = -1

    def __enter__(self) -> Self:
        try:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        except ValueError as error:  # a character that no path has
            raise ImageRefusedError(HEADER, f"cannot be read: {self._path} is no path.") from error
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
            raise ImageRefusedError(HEADER, f"cannot be read: {self._told(error.errno)}.") from error
        return self

    def _told(self, code: int) -> str:
        if code not in (errno.ENOENT, errno.ENOTDIR):
            return f"{os.strerror(code)}: {self._path}"
        missing = f"{self._path} is no folder"
        if self._path.name and (left := hidden(self._path).old).is_dir():
            missing += f"; a dump that was cut off left the image of before as {left}, and the next one puts it back"
        return missing

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)

    def header(self) -> bytes:
        """The text of the header's file."""
        return self._read(HEADER, None, _MOST_HEADER)

    def part(self, part: Part) -> bytes:
        """The bytes of a part, which are what the header says of them.

        Raises:
            ImageRefusedError: it is missing, no regular file, a link, of another size, or other bytes.
        """
        data = self._read(part.name, part.size, part.size)
        if sha256(data).hexdigest() != part.digest:
            raise ImageRefusedError(part.name, "is not what its digest says.")
        return data

    def require_only(self, names: set[str]) -> None:
        """Refuse whatever is in the folder besides: a file that nobody listed is one that nobody proved."""
        for name in sorted(os.listdir(self._fd)):  # noqa: PTH208 - of what was opened
            if name not in names:
                raise ImageRefusedError(name, "is in the folder and not in the image.")

    def _read(self, name: str, size: int | None, most: int) -> bytes:
        try:
            # Without blocking: a pipe of that name would make the open wait for whoever writes into it.
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._fd)
        except FileNotFoundError as error:
            raise ImageRefusedError(name, "is missing.") from error
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise ImageRefusedError(name, "is no regular file.") from error
            raise ImageRefusedError(name, f"cannot be read: {error.strerror}.") from error
        try:
            told = os.fstat(fd)
            if not stat.S_ISREG(told.st_mode):
                raise ImageRefusedError(name, "is no regular file.")
            if size is not None and told.st_size != size:
                raise ImageRefusedError(name, f"has {told.st_size} bytes and not {size}.")
            if told.st_size > most:
                raise ImageRefusedError(name, f"has {told.st_size} bytes; {most} are the most.")
            # One byte more than there should be: a file that grows meanwhile is not read to its end.
            data = _all(fd, told.st_size + 1)
        finally:
            os.close(fd)
        if len(data) != told.st_size:
            raise ImageRefusedError(name, "changes while it is read.")
        return data


def _all(fd: int, most: int) -> bytes:
    """Up to ``most`` bytes. In one piece, where the system gives them so: two pieces would be held twice."""
    data = os.read(fd, most)
    while data and len(data) < most and (more := os.read(fd, most - len(data))):
        data += more
    return data

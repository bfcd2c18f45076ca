"""Files of an image: written beside their place and moved there whole, read once and never by their path.

A folder that is read is opened first, and every name is looked up in it and nowhere else, without following a link; so
a name cannot lead out of the folder, and the folder cannot be exchanged half-way. A part is read to the byte that its
size says and not beyond.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from seams.contract.image import HEADER, ImageRefusedError, Part

__all__ = ["ImageFolder", "PartFile", "beside", "moved"]

_CHUNK = 1 << 16
_MOST_HEADER = 1 << 20
"""A header has some kilobytes; what is larger than this is none."""


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


@contextlib.contextmanager
def beside(place: Path) -> Iterator[Path]:
    """A new folder beside ``place``, which is gone afterwards unless it was :func:`moved`."""
    folder = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        yield folder
    finally:
        if folder.exists():
            shutil.rmtree(folder)


def moved(folder: Path, place: Path, *, durable: bool) -> None:
    """Put ``folder`` in its ``place``, where there may be an image or an empty folder, which then goes.

    Between the two moves of a replacement the old image stands beside its place; should the second one fail, it goes
    back. ``durable``: every file is on the disk, and so is the folder's list of them, before the first move, and the
    moves are once it returns; a power cut leaves no name that leads to an image in part.

    Raises:
        ImageRefusedError: what is there is neither, and is somebody else's.
        OSError: the disk fails. Up to the moves nothing has changed.
    """
    folder.chmod(0o755)
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


def _put(folder: Path, place: Path) -> None:
    try:
        folder.rename(place)  # onto nothing, or onto an empty folder
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
    if place.is_symlink() or not place.is_dir() or not (place / HEADER).is_file():
        raise ImageRefusedError(place.name, "is there already and is no image; name another folder.")
    with beside(place) as old:
        place.rename(old / "image")
        try:
            folder.rename(place)
        except OSError:
            (old / "image").rename(place)
            raise


class ImageFolder:
    """A folder that is read as an image. To be entered.

    Raises:
        ImageRefusedError: there is no such folder.
    """

    __slots__ = ("_fd", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1

    def __enter__(self) -> Self:
        try:
            self._fd = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ImageRefusedError(HEADER, f"cannot be read: {self._path} is no folder.") from error
        return self

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

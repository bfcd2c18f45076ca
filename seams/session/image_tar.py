"""An image as a tar archive: the same image is the same bytes, and an archive from elsewhere is read with suspicion.

Only plain entries are read: a regular file under a plain name, sizes bounded, padding of zeros. What a tar can do
besides (links, devices, sparse files, long names in entries of their own) is refused by the name of the entry, so that
nothing has to be guarded against it. That the files are an image, loading proves.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from seams.contract.image import ImageRefusedError
from seams.session.image_header import MOST_BYTES

__all__ = ["MOST_ENTRIES", "packed", "unpacked"]

MOST_ENTRIES = 16

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 20
_SUM = slice(148, 156)
"""The place of an entry's checksum in its head, and how every tar writes it: six octal digits, a NUL, a blank."""
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)


def packed(files: Iterable[tuple[str, bytes]], when: int, file: BinaryIO) -> None:
    """Write ``files`` in their order, mode 0644, owner 0, all of them of the moment ``when``."""
    for name, data in files:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = len(data), max(when, 0), 0o644
        file.write(entry.tobuf(format=tarfile.USTAR_FORMAT))
        file.write(data)
        file.write(bytes(-len(data) % _BLOCK))
    file.write(bytes(2 * _BLOCK))


def unpacked(file: BinaryIO, folder: Path) -> None:
    """Write the entries of an archive into ``folder``, which is empty.

    Raises:
        ImageRefusedError: an entry is no regular file, has a name that is not plain, is there twice, is too large or
            smaller than nothing, the archive is cut, goes on behind its end, or has too many entries.
    """
    names: set[str] = set()
    total = 0
    while any(block := _read(file, _BLOCK, "the archive")):
        entry = _entry(block, len(names))
        name = entry.name
        if name in names:
            raise ImageRefusedError(name, "is in the archive twice.")
        if len(names) == MOST_ENTRIES:
            raise ImageRefusedError(name, f"is one entry too many; {MOST_ENTRIES} are the most.")
        total += entry.size
        if entry.size < 0:  # a tar can say so, and to read so many is to read all that is left
            raise ImageRefusedError(name, f"is said to have {entry.size} bytes, which no file has.")
        if total > MOST_BYTES:
            raise ImageRefusedError(name, f"has {entry.size} bytes, which is too much; {MOST_BYTES} are the most.")
        names.add(name)
        _copied(file, entry, folder / name)
    rest = file.read(tarfile.RECORDSIZE + 1)
    if len(rest) < _BLOCK or len(rest) > tarfile.RECORDSIZE or any(rest):
        raise ImageRefusedError("the archive", "does not end as an archive does.")


def _entry(block: bytes, number: int) -> tarfile.TarInfo:
    try:
        entry = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise ImageRefusedError("the archive", f"has an entry {number} whose head is damaged.") from error
    # The sum covers every byte but its own digits, which are read leniently: blanks, signs and what follows them.
    if block[_SUM] != b"%06o\0 " % entry.chksum:
        raise ImageRefusedError("the archive", f"has an entry {number} whose head is damaged.")
    name = entry.name
    if entry.type not in _PLAIN:
        raise ImageRefusedError(name or "the archive", "is no regular file.")
    if name in ("", ".", "..") or any(each in name for each in "/\\:\0") or not name.isprintable():
        raise ImageRefusedError(name or "the archive", "is no plain name of a file.")
    return entry


def _copied(file: BinaryIO, entry: tarfile.TarInfo, place: Path) -> None:
    left = entry.size
    with place.open("xb") as out:
        while left:
            data = _read(file, min(left, _CHUNK), entry.name)
            out.write(data)
            left -= len(data)
    if any(_read(file, -entry.size % _BLOCK, entry.name)):
        raise ImageRefusedError(entry.name, "has something behind its end.")


def _read(file: BinaryIO, size: int, name: str) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise ImageRefusedError(name, "is cut short.")
    return data

"""The recordings inside a zip archive, read without ever being unpacked to disk.

An archive is a stranger's: a member whose name leaves the archive, that is a link, that is encrypted, or that grows
beyond bounds when it is unpacked is left out as an issue; the others are read. Stored, deflated and Zstandard members
are unpacked, since nothing else writes recordings. This module refuses to write anything.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Final

from harness.formats.limits import FormatError, Limits, printable
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["MOST_MEMBERS", "MOST_RATIO", "Archive", "Member", "members", "open_member"]

MOST_MEMBERS = 50_000
MOST_RATIO = 250
"""Unpacked over packed bytes. Logs of agents shrink 4 to 60 times; what shrinks 250 times is made to fill a memory."""

_SMALL = 1 << 20
"""A member that unpacks to less than this is harmless whatever its ratio."""

_MOST_DIRECTORY = 1 << 24
"""Bytes of a directory of members: 300 for each of as many as are read. It is held in memory before it is counted."""

_ZSTD: Final = 93
_READ = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTD))
_WINDOW = 1 << 27
_FAULTS = (
    zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, KeyError, ValueError, OverflowError,
    NotImplementedError, RuntimeError,
)  # fmt: skip

_LOCAL = struct.Struct("<4s5H3L2H")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = 20


@dataclass(frozen=True, slots=True)
class Member:
    """One readable member: its name inside the archive, and how large it says that it is."""

    name: str
    size: int


class Archive:
    """An open archive. Reads from ``blob`` as long as it is used, and never closes it."""

    __slots__ = ("_blob", "_infos", "_limits", "_zip")

    def __init__(self, blob: BinaryIO, limits: Limits) -> None:
        """Read the directory of members.

        Raises:
            FormatError: it is no zip archive, is damaged, has more than :data:`MOST_MEMBERS` members, or has members
                that overlap.
        """
        self._blob = blob
        self._limits = limits
        try:
            size = blob.seek(0, 2)
            if _directory_bytes(blob, size) > _MOST_DIRECTORY:
                raise FormatError(f"The archive has far more than {MOST_MEMBERS:,} members and was not read.")
            self._zip = zipfile.ZipFile(blob)
        except FormatError:
            raise
        except _FAULTS as error:
            raise FormatError(
                f"The archive cannot be read: {printable(str(error))}. Test it with: unzip -t FILE"
            ) from None
        listed = self._zip.infolist()
        self._infos = {info.filename: info for info in listed if not info.filename.endswith("/")}
        if len(listed) > MOST_MEMBERS:
            raise FormatError(f"The archive has {len(listed):,} members, more than {MOST_MEMBERS:,}, and was not read.")
        if sum(info.compress_size for info in listed) > size:
            raise FormatError("The archive was not read: its members overlap, as only ones made to fill a memory do.")

    def members(self) -> Iterator[Member | Issue]:
        """The members that may be read; an issue for each that may not.

        Of members with one name the last counts, as an archive that was appended to means it.
        """
        for name, info in self._infos.items():
            fault = _fault(info, self._limits)
            if fault is not None:
                yield Issue(Severity.ERROR, IssueCode.E_ARCHIVE, f"A member of the archive was left out: {fault}.")
            else:
                yield Member(name, info.file_size)

    def read(self, name: str) -> bytes:
        """The bytes of one member, at most ``limits.max_bytes``: what a header says of its size is not believed.

        Raises:
            FormatError: there is none, it may not be read, is damaged, is larger than it says, or needs a decoder that
                is not installed.
        """
        info = self._infos.get(name)
        fault = "there is none of its name" if info is None else _fault(info, self._limits)
        if info is None or fault is not None:
            raise FormatError(f"A member of the archive cannot be unpacked: {fault}.")
        try:
            if info.compress_type == _ZSTD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
                return self._zstd(info)
            with self._zip.open(info) as file:
                return _bounded(file, self._limits)
        except FormatError:
            raise
        except _FAULTS as error:
            said = printable(str(error) or type(error).__name__)
            raise FormatError(f"A member of the archive cannot be unpacked: {said}.") from None

    def _zstd(self, info: zipfile.ZipInfo) -> bytes:
        """A member that Python's own zip reader knows of from 3.14 on only."""
        try:
            import zstandard  # an optional dependency, which such archives alone need
        except ImportError:
            raise FormatError(
                "A member of the archive is packed with Zstandard, which needs a decoder. Install it with:"
                " python -m pip install zstandard"
            ) from None
        self._blob.seek(info.header_offset)
        local = _LOCAL.unpack(self._blob.read(_LOCAL.size))
        if local[0] != b"PK\x03\x04":
            raise zipfile.BadZipFile("it does not begin where the directory says")
        self._blob.seek(local[9] + local[10], 1)
        packed = BytesIO(self._blob.read(min(info.compress_size, self._limits.max_bytes)))
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
        try:
            data = _bounded(unpacker.stream_reader(packed, read_across_frames=True), self._limits)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from None
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("its bytes are not those that the directory promises")
        return data


def members(blob: BinaryIO, limits: Limits) -> Iterator[Member | Issue]:
    """The members of the archive in ``blob`` that may be read; an issue for each that may not.

    Raises:
        FormatError: as :class:`Archive` does.
    """
    yield from Archive(blob, limits).members()


def open_member(blob: BinaryIO, name: str, limits: Limits) -> bytes:
    """The bytes of one member of the archive in ``blob``. For many members of one archive use :class:`Archive`.

    Raises:
        FormatError: as :meth:`Archive.read` does.
    """
    return Archive(blob, limits).read(name)


def _fault(info: zipfile.ZipInfo, limits: Limits) -> str | None:
    path = PurePosixPath(info.filename.replace("\\", "/"))
    if not path.parts:
        return "it has no name"
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        return "its name leaves the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.compress_type not in _READ:
        return "it is packed in a way that is not read here"
    if info.file_size > limits.max_bytes:
        return f"it unpacks to more than {limits.max_bytes:,} bytes"
    if info.file_size > _SMALL and info.file_size > MOST_RATIO * max(1, info.compress_size):
        return f"it unpacks to more than {MOST_RATIO} times its size"
    return None


def _directory_bytes(blob: BinaryIO, size: int) -> int:
    """How long the directory of members says that it is; 0 where no end of one is found."""
    blob.seek(max(0, size - (1 << 16) - _END.size - _LOCATOR_64 - _END_64.size))
    tail = blob.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _END.size > len(tail):
        return 0
    long = at - _LOCATOR_64 - _END_64.size
    if long >= 0 and tail.startswith(b"PK\x06\x06", long):
        return int(_END_64.unpack_from(tail, long)[8])
    return int(_END.unpack_from(tail, at)[5])


def _bounded(file: IO[bytes], limits: Limits) -> bytes:
    data = file.read(limits.max_bytes + 1)
    if len(data) > limits.max_bytes:
        raise FormatError(f"A member of the archive unpacks to more than {limits.max_bytes:,} bytes.")
    return data

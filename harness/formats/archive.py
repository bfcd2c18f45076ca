"""The recordings inside a zip archive, read without ever being unpacked to disk.

An archive is a stranger's: a member whose name leaves the archive, that is a link, that is encrypted, or that grows
beyond bounds when it is unpacked is left out as an issue; the others are read. This module refuses to write anything.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, BinaryIO

from harness.formats.limits import FormatError, Limits
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["MOST_MEMBERS", "MOST_RATIO", "Member", "members", "open_member"]

MOST_MEMBERS = 50_000
MOST_RATIO = 250
"""Unpacked over packed bytes. Logs of agents shrink 4 to 60 times; what shrinks 250 times is made to fill a memory."""

_SMALL = 1 << 20
"""A member that unpacks to less than this is harmless whatever its ratio."""


@dataclass(frozen=True, slots=True)
class Member:
    """One readable member: its name inside the archive, and how large it says that it is."""

    name: str
    size: int


def _fault(info: zipfile.ZipInfo, limits: Limits) -> str | None:
    path = PurePosixPath(info.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        return "its name leaves the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.file_size > limits.max_bytes:
        return f"it unpacks to more than {limits.max_bytes:,} bytes"
    if info.file_size > _SMALL and info.file_size > MOST_RATIO * max(1, info.compress_size):
        return f"it unpacks to more than {MOST_RATIO} times its size"
    return None


def members(blob: BinaryIO, limits: Limits) -> Iterator[Member | Issue]:
    """The members of the archive in ``blob`` that may be read; an issue for each that may not.

    Of members with one name the last counts, as an archive that was appended to means it.

    Raises:
        FormatError: it is no zip archive, is damaged, or has more than :data:`MOST_MEMBERS` members.
    """
    try:
        with zipfile.ZipFile(blob) as archive:
            infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"The archive cannot be read: {error}. Test it with: unzip -t FILE") from None
    if len(infos) > MOST_MEMBERS:
        raise FormatError(f"The archive has {len(infos):,} members, more than {MOST_MEMBERS:,}, and was not read.")
    for name, info in infos.items():
        fault = _fault(info, limits)
        if fault is not None:
            yield Issue(Severity.ERROR, IssueCode.E_ARCHIVE, f"A member of the archive was left out: {fault}.")
        else:
            yield Member(name, info.file_size)


def open_member(blob: BinaryIO, name: str, limits: Limits) -> bytes:
    """The bytes of one member, at most ``limits.max_bytes``: what a header says of its size is not believed.

    Raises:
        FormatError: the member is damaged, larger than it says, or packed in a way that is not known here.
    """
    try:
        with zipfile.ZipFile(blob) as archive, archive.open(name) as file:
            return _bounded(file, limits)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, KeyError, ValueError, NotImplementedError) as error:
        raise FormatError(f"A member of the archive cannot be unpacked: {error}.") from None


def _bounded(file: IO[bytes], limits: Limits) -> bytes:
    data = file.read(limits.max_bytes + 1)
    if len(data) > limits.max_bytes:
        raise FormatError(f"A member of the archive unpacks to more than {limits.max_bytes:,} bytes.")
    return data

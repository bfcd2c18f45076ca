"""Opens recordings: files, and members of archives. The archive that was opened last stays open for its next member.

An archive of thousands of sessions is asked for one after the other, and its directory is read once, not once a member.
This module refuses to wait: what was a file when it was found may be a pipe by now.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from harness.formats.archive import Archive
from harness.formats.limits import Limits
from harness.jobs.replay_find import Found

__all__ = ["Piece", "archives_closed", "open_piece"]

_Identity = tuple[int, int, int, int, Limits]
_kept: list[tuple[_Identity, BinaryIO, Archive]] = []


@dataclass(frozen=True, slots=True)
class Piece:
    """One recording: a file, or a ``member`` of an archive."""

    found: Found
    member: str | None = None
    size: int = 0

    @property
    def name(self) -> str:
        """How its user knows it."""
        return self.found.name if self.member is None else f"{self.found.name}/{self.member}"


def open_piece(piece: Piece, limits: Limits, ahead: int = 1 << 18) -> BinaryIO:
    """The bytes of ``piece``, of a file read ``ahead`` by as many; the caller closes it.

    Raises:
        OSError: it cannot be opened, or is no regular file any more.
        FormatError: a member of an archive that cannot be unpacked.
    """
    handle = os.open(piece.found.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(0, "it is no regular file any more")
        blob = os.fdopen(handle, "rb", buffering=ahead)
    except BaseException:
        os.close(handle)
        raise
    if piece.member is None:
        return blob
    identity = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, limits)
    return BytesIO(_archive(identity, blob, limits).read(piece.member))


def _archive(identity: _Identity, blob: BinaryIO, limits: Limits) -> Archive:
    if _kept and _kept[0][0] == identity:
        blob.close()
        return _kept[0][2]
    _let_go()
    try:
        archive = Archive(blob, limits)
    except BaseException:
        blob.close()
        raise
    _kept.append((identity, blob, archive))
    return archive


@contextmanager
def archives_closed() -> Iterator[None]:
    """Close at the end whatever archive was opened last."""
    try:
        yield
    finally:
        _let_go()


def _let_go() -> None:
    for _, blob, _ in _kept:
        blob.close()
    _kept.clear()

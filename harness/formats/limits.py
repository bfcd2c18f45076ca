"""How much of a stranger's file is read: bounded size, bounded line, bounded nesting.

Refuses before parsing: a parser that recurses is never handed a document that is deeper than the limit. Every refusal
is a :class:`FormatError`, the only exception that a reader lets out.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

__all__ = ["FormatError", "Limits", "check_depth", "encodable", "printable", "read_bounded", "regular_bytes"]

MIB = 1 << 20


class FormatError(ValueError):
    """A recorded input cannot be read. Its text is one sentence for people, with the next command where one helps."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds in bytes and levels. Image blocks make lines of 20 MB in healthy sessions, hence ``max_line``."""

    max_bytes: int = 64 * MIB
    max_line: int = 32 * MIB
    max_depth: int = 64


# Always matches from a quote on, closed or not, and never backtracks: the scan stays linear on hostile input.
_STRING = re.compile(rb'"(?>[^"\\]+|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def check_depth(data: bytes, limits: Limits, where: str) -> None:
    """Refuse JSON ``data`` that nests deeper than ``limits.max_depth``, in time linear in its length.

    Brackets inside strings do not count. ``where`` names the input in the sentence.

    Raises:
        FormatError: too deep.
    """
    # Counting all opening brackets bounds the depth from above and runs at memory speed: most lines end here.
    if data.count(b"[") + data.count(b"{") <= limits.max_depth:
        return
    skeleton = _STRING.sub(b"", data).translate(None, _NOT_BRACKETS)
    if max(accumulate(map(_STEP.__getitem__, skeleton)), default=0) > limits.max_depth:
        raise FormatError(f"{where} nests deeper than {limits.max_depth} levels and was not read.")


def read_bounded(blob: BinaryIO, limits: Limits) -> bytes:
    """All bytes of ``blob``.

    Raises:
        FormatError: there are more than ``limits.max_bytes``.
    """
    data = blob.read(limits.max_bytes + 1)
    if len(data) > limits.max_bytes:
        raise FormatError(f"The input is larger than {limits.max_bytes:,} bytes and was not read.")
    return data


def regular_bytes(path: Path, most: int = 64 * MIB) -> bytes:
    """The bytes of a regular file of at most ``most``. A pipe or a device is never read: it may never end.

    Raises:
        OSError: it is something else, is larger, or cannot be read; ``strerror`` says which.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # before it is opened, since opening alone can move a device
        raise OSError(errno.EINVAL, "it is no regular file")
    # Not blocking, in case a pipe has taken its place since.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if os.fstat(file.fileno()).st_size <= most:
            data = file.read(most + 1)  # it may be growing
            if len(data) <= most:
                return data
    raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")


def printable(text: str, most: int = 80) -> str:
    """``text`` for a message: one line, no control character, at most ``most`` characters.

    File names and field values come from strangers; an escape sequence in one must not reach a terminal.
    """
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def encodable(text: str) -> str:
    """``text`` with an escape for each half of a surrogate pair: so a name that is no UTF-8 reaches us, and no JSON."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

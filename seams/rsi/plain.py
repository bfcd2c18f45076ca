"""Reads a file that a candidate may have replaced by something else, and waits for none: a pipe, a device, a link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["read_plain"]


def read_plain(path: Path, most: int) -> bytes | None:
    """The bytes of a regular file that holds no more than ``most``; None of anything else, and of what is not there."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # before it is opened: to open a device may do something already
            return None
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
                return None
            held = file.read(most + 1)
    except (OSError, ValueError):  # a ValueError where the path holds a NUL
        return None
    return held if len(held) <= most else None

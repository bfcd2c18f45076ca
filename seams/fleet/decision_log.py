"""The decisions of a gate, one line of JSON each, in a file that is appended to and does not grow without end.

Several gates may write into one file: each line goes in with one write, under a lock. A line that a crash cut off stays
alone and spoils no other. Where the file has become too long it makes room: what it held becomes ``<name>.1``, in place
of what was there. It judges nothing, and reads back what it can.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["LONGEST", "DecisionLog"]

LONGEST = 4 * 1024 * 1024
"""Bytes of a file, some 30,000 decisions; with the one before it twice as many are kept."""


class DecisionLog:
    """A log at ``path``, which is made with the first line; ``longest`` are the bytes beyond which it makes room."""

    def __init__(self, path: Path, longest: int = LONGEST) -> None:
        self._path = path
        self._longest = longest

    @property
    def _before(self) -> Path:
        return self._path.with_name(f"{self._path.name}.1")

    def append(self, row: Mapping[str, Any]) -> None:
        """Write ``row``, and before its keys ``ts``: now, in UTC.

        Raises:
            OSError: it cannot be written.
        """
        line = json.dumps({"ts": datetime.now(UTC).isoformat(timespec="milliseconds"), **row}).encode() + b"\n"
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise _no_file(self._path)
                fcntl.flock(handle, fcntl.LOCK_EX)
                size = os.fstat(handle).st_size
                if not self._is(handle):  # another has made room while we waited
                    continue
                if size and size + 1 + len(line) > self._longest:
                    os.replace(self._path, self._before)  # noqa: PTH105 - beside the other calls of os
                    continue
                torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
                os.write(handle, (b"\n" if torn else b"") + line)
                return
            finally:
                os.close(handle)

    def _is(self, handle: int) -> bool:
        """Whether the open file is the one that bears the name."""
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False

    def read(self) -> tuple[list[dict[str, Any]], int]:
        """(all rows that are kept, oldest first; lines that are none).

        Raises:
            OSError: a file is there and cannot be read.
        """
        rows: list[dict[str, Any]] = []
        torn = 0
        for path in (self._before, self._path):
            if not path.exists():
                continue
            if not path.is_file():  # a pipe would be waited for
                raise _no_file(path)
            for line in path.read_bytes().splitlines():
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                if isinstance(row, dict):
                    rows.append(row)
                else:
                    torn += 1
        return rows, torn


def _no_file(path: Path) -> OSError:
    return OSError(errno.EINVAL, "it is no regular file", str(path))

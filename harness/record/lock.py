"""One measurement at a time: two runs side by side on one machine would measure each other.

The lock belongs to the kernel, so a run that was killed leaves none behind. Refuses to wait and to break a lock.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import stat
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from harness.record.store import StoreError, explained, state_dir, write_all

__all__ = ["Busy", "RunLock"]


_SINCE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Busy(Exception):  # noqa: N818 - a state of the world, not a fault
    """Somebody else is measuring. ``pid`` and ``since`` (UTC) are None while they have not written them yet."""

    def __init__(self, path: Path, pid: int | None, since: str | None) -> None:
        self.pid = pid
        self.since = since
        who = "Another run" if pid is None else f"Another run (process {pid}, since {since})"
        look = f"`fuser -v {shlex.quote(str(path))}`" if pid is None else f"`ps -p {pid}`"
        super().__init__(f"{who} is measuring in this project; repeat the command when it has ended, see {look}.")


def _holder(handle: int) -> tuple[int | None, str | None]:
    try:
        record = json.loads(os.pread(handle, 4096, 0))
        pid, since = record["pid"], record["since"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # they are writing it at this moment
        return None, None
    return (pid, since) if isinstance(pid, int) and isinstance(since, str) and _SINCE.fullmatch(since) else (None, None)


class RunLock:
    """A context manager around ``.harness/lock`` of the project at ``root``.

    Raises:
        Busy: on entering, while another process (or another lock of this one) holds it.
        StoreError: the lock file cannot be opened.
    """

    __slots__ = ("_handle", "path", "root")

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / ".harness" / "lock"
        self._handle: int | None = None

    def __enter__(self) -> RunLock:
        state_dir(self.root)
        try:
            # What is written there replaces what the file held: a link would have us overwrite somebody's own.
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            raise explained(self.path, error) from error
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise StoreError(f"{self.path} is no regular file; remove it with `rm {shlex.quote(str(self.path))}`.")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid, since = _holder(handle)
            os.close(handle)
            raise Busy(self.path, pid, since) from None
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        record = {"pid": os.getpid(), "since": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        try:
            os.ftruncate(handle, 0)
            write_all(handle, json.dumps(record).encode("ascii"))
        except OSError as error:
            self._release()
            raise explained(self.path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        # The file stays: whoever removed it could remove the one that the next holder has just locked.
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

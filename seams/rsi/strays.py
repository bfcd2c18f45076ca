"""Ends what a trial left running once its warden is gone, and with it the kernel's word on whose children they are.

Only the warden of a candidate that may signal it can be killed by it, so this is for where the kernel does not keep
signals in; and for a warden that somebody else ended. A process is one of the trial's where its environment names the
home that was made for this trial alone, or its working directory lies in the folders of the trial. One that has put off
both, or lets nobody look, is not found. Never signals a process by a number that may have become another's.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["ended"]

_GIVE_UP_S = 10.0
_DEAD_S = 1.0
"""For one process to be gone that was killed."""


def ended(home: Path, folders: Sequence[Path]) -> int:
    """End every process of a trial, those too that come meanwhile; how many there were.

    ``home`` is the trial's own home; ``folders`` are where its commands began and may have gone to.
    """
    began, count = time.monotonic(), 0
    marks = tuple(os.fsencode(folder) for folder in folders)
    while time.monotonic() - began < _GIVE_UP_S:
        found = sum(_end(pid, os.fsencode(home), marks) for pid in _others())
        if not found:
            break
        count += found
    return count


def _others() -> list[int]:
    """Every process but this one."""
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit() and int(entry.name) != os.getpid()]


def _end(pid: int, home: bytes, folders: tuple[bytes, ...]) -> bool:
    """Whether ``pid`` is one of the trial's, and has been ended."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # After it was opened: were this another process by now, the one that would be signalled is dead.
        if not _belongs(Path(f"/proc/{pid}"), home, folders):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [], _DEAD_S)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _belongs(process: Path, home: bytes, folders: tuple[bytes, ...]) -> bool:
    # Neither can be read of a process of another user.
    with suppress(OSError):
        values = [entry.partition(b"=")[2] for entry in (process / "environ").read_bytes().split(b"\0")]
        if any(value == home or value.startswith(home + b"/") for value in values):
            return True
    with suppress(OSError):
        # One that is gone has more behind its name.
        return os.fsencode((process / "cwd").readlink()).startswith(folders)
    return False

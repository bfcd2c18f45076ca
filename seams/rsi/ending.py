"""Ends a command and whatever it started, in a process to which the children of dead processes fall.

Only children of this process are ended, one generation after the other: a child keeps its number until it is waited
for, so that nobody else can be hit. Standard library only: the warden imports it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["end"]

_SETTLE_S = 0.1
"""Helpers that end once their parent is gone are given this long."""
_GIVE_UP_S = 10.0


def end(process: subprocess.Popen[bytes], *, settle: bool) -> int:
    """End the command's group, then all that falls to this process as it dies; how many had to be ended besides it."""
    began = time.monotonic()
    if not settle:
        # Before it is waited for: until then nobody else can have the number of its group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    ended: set[int] = set()
    while (children := _children()) and time.monotonic() - began < _GIVE_UP_S:
        for pid, state in children:
            if state not in "ZX" and (not settle or time.monotonic() - began > _SETTLE_S):
                # A child of ours keeps its number until we wait for it: no other process can be hit.
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                    ended.add(pid)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)
    return len(ended)


def _children() -> list[tuple[int, str]]:
    """(process id, state) of each child."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return []  # one system call in the usual case
    ours, found = str(os.getpid()), []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                # "pid (name) state parent ...": the name may hold anything, parentheses too.
                facts = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
                if facts[1].decode() == ours:
                    found.append((int(entry.name), facts[0].decode()))
    return found

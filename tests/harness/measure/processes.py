"""Which processes are alive, by what is on their command lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def workers_on(folder: Path) -> list[int]:
    """Living processes whose command line names a job file in ``folder``."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, IndexError):
            continue
        if str(folder).encode() in command and state != "Z":
            found.append(int(entry.name))
    return found


def running(word: str) -> list[int]:
    """Processes with this word on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.02)
    return False

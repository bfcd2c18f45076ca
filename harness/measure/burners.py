"""Keeps cores busy on purpose: processes of our own that only spin, and that end with whoever wanted them.

Each is ended by its own handle. One that outlives this process, because it was killed, notices that its parent has
changed and ends by itself. Refuses to raise the priority of anything.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Burners", "burning"]

_SPIN = """\
import os, sys
parent = int(sys.argv[1])
while os.getppid() == parent:
    for _ in range(100_000):
        pass
"""


class Burners:
    """The processes that were started, in order."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def pids(self) -> tuple[int, ...]:
        """Their process ids."""
        return tuple(process.pid for process in self._processes)

    @property
    def alive(self) -> bool:
        """Whether all of them still spin: with one gone, the load is not the one that was asked for."""
        return all(process.poll() is None for process in self._processes)

    def start(self) -> None:
        """Start one more. It leads a session of its own, so that Ctrl-C reaches us and not it."""
        self._processes.append(
            subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _SPIN, str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def end(self) -> None:
        """End all of them and wait until they are gone."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()


@contextmanager
def burning(count: int) -> Iterator[Burners]:
    """Keep ``count`` cores busy; whatever happens, the processes are gone at the end.

    Raises:
        OSError: a process cannot be started.
    """
    burners = Burners()
    try:
        for _ in range(count):
            burners.start()
        yield burners
    finally:
        burners.end()

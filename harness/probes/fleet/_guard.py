"""The client that must not be called: it counts whoever comes by, raises, and sees who dials past it.

A replay is handed the guard as its only way to a model. One that goes another way has to open a connection, or to
start a process that does, which the interpreter announces; within a watch such announcements count as calls too. What a
process or a thread asks that was there before the watch, through a connection that was, is not seen. Nothing is judged
here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Guard", "ModelCalledError"]

_DIALS = frozenset({"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"})
_STARTS = frozenset(
    {"subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.spawn", "pty.spawn"}
)


class ModelCalledError(RuntimeError):
    """Somebody asked the model in a replay."""


class Guard:
    """``calls`` counts what came to the client.

    ``dials`` are the connections, ``starts`` the processes that were begun while it watched; of one that is begun by
    way of another call, both are.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.dials = 0
        self.starts = 0
        self._watching = False
        # A hook cannot be taken off again, so each guard has one for good, which is idle outside its watch.
        sys.addaudithook(self._heard)

    def complete(self, prompt: str) -> str:
        """Count, and raise.

        Raises:
            ModelCalledError: always.
        """
        self.calls += 1
        raise ModelCalledError(f"A replay asked a model for {len(prompt)} characters' worth, and must ask for none.")

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Count connections and processes that are begun inside."""
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:  # noqa: ARG002 - what an audit hook is handed
        if self._watching:
            self.dials += event in _DIALS
            self.starts += event in _STARTS

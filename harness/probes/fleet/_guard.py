"""The client that must not be called: it counts whoever comes by, raises, and sees who dials past it.

A replay is handed the guard as its only way to a model. One that goes another way has to open a connection, which the
interpreter announces; within a watch such announcements count as calls too. Nothing is judged here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Guard", "ModelCalledError"]

_DIALS = frozenset({"socket.connect", "socket.getaddrinfo", "socket.sendto"})


class ModelCalledError(RuntimeError):
    """Somebody asked the model in a replay."""


class Guard:
    """``calls`` counts what came to the client, ``dials`` the connections that were begun while it watched."""

    def __init__(self) -> None:
        self.calls = 0
        self.dials = 0
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
        """Count connections that are begun inside."""
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:  # noqa: ARG002 - what an audit hook is handed
        if self._watching and event in _DIALS:
            self.dials += 1

"""The seam ``session/checkpoint``: a session written into an SQLite file after every turn, and read back from it.

The shape is that of agent runtimes' checkpointers: a row for the state after a turn, and rows for what the turn wrote.
The file is SQLite's, so that whoever measures counts its rows without asking. Records and Protocols only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from seams.contract.turn import Message

__all__ = ["Checkpointer", "Checkpoints", "Restored"]


class Restored(NamedTuple):
    """The newest state of a thread: the turn after which it was written, and every message up to then.

    What is restored is this very record with a plain list, all of it read by then.
    """

    turn: int
    messages: list[Message]


class Checkpointer(Protocol):
    """One open file. The methods may be coroutine functions."""

    def put(self, thread: str, turn: int, messages: Sequence[Message], added: int) -> None:
        """Write the state after ``turn``, the last ``added`` messages being what the turn wrote; safe on return.

        Turns of a thread come in order, each once, and leave the messages before as they were. A thread may begin at
        any turn, with the whole history that leads to it: all of its messages are then ``added``.
        """
        ...

    def restore(self, thread: str) -> Restored | None:
        """The state of the highest turn of ``thread``; None where it has none."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class Checkpoints(Protocol):
    """``session/checkpoint``. ``open`` answers at once, being set-up of a measurement."""

    def open(self, file: Path) -> Checkpointer:
        """Open the file, which is made where it is missing."""
        ...

"""The seam ``session/lifecycle``: a live session of a runtime, from its opening over its turns to its closing.

The model is cut out, since what it answered is given with each turn, and so are the tools, which whoever opens the
session brings along. So what a session holds, and what it leaves behind, is the runtime's own. Records and Protocols
only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from seams.contract.syscall import ToolCall, ToolEngine
from seams.contract.turn import Message

__all__ = ["Given", "Lifecycle", "LiveSession", "Register"]


class Given(NamedTuple):
    """What comes into a turn from outside: the user's words, the model's, and the calls that the model wants made."""

    asked: str
    answered: str
    calls: Sequence[ToolCall]


class LiveSession(Protocol):
    """One open session. The methods may be coroutine functions."""

    def run_turn(self, given: Given) -> Sequence[Message]:
        """Run one turn; the window that the next one is spawned from.

        Each call goes to the tools once, unless the same read was answered before. In the window are the system prompt
        and the whole of this turn: what was asked, what was answered, and one message of the role ``tool`` for each
        result, in the order of the calls. Of earlier turns there is as much as the runtime keeps; together that is at
        least half of ``DEFAULT_BUDGET`` tokens once so much was said. A tool that raises is a result like another, and
        the session goes on.
        """
        ...

    def close(self) -> None:
        """End the session: on return nothing of it runs or is held open. Closing again does nothing."""
        ...


class Lifecycle(Protocol):
    """``session/lifecycle``. ``open`` may be a coroutine function, and is one where a method of its session is."""

    def open(self, system: str, tools: ToolEngine, folder: Path) -> LiveSession:
        """Open a session with ``system`` as its prompt; what it writes to files goes into ``folder``, an empty one."""
        ...


@runtime_checkable
class Register(Protocol):
    """What a runtime that keeps a book of its sessions has besides; the method may be a coroutine function."""

    def registered(self) -> int:
        """Sessions that are in the book."""
        ...

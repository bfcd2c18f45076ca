"""The seam ``session/lifecycle``: a session put together from the parts that ship, within bounded memory.

A turn passes a kernel of the session's own, call by call; its window is what the planner's view keeps, and what it
elides has been written to SQLite before. The answers that the fast path remembers are bounded in number and in bytes.
So a session that goes on holds no more than one that has filled its window; its file grows with every turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from seams.contract import Engine
from seams.contract.lifecycle import Given
from seams.contract.syscall import ToolEngine
from seams.contract.turn import Message
from seams.session.checkpoint import SqliteCheckpointer
from seams.syscall.kernel import fresh_kernel
from seams.syscall.resolver import MemoryStore
from seams.syscall.vdso import Vdso
from seams.turn.view import ContextView

__all__ = ["ANSWERS", "ANSWER_BYTES", "DeskSession", "SessionClosedError", "SessionDesk", "offer"]

ANSWERS = 64
"""Reads that one session remembers."""

ANSWER_BYTES = 1 << 17
"""Bytes of bodies that the store of those answers holds, after which the oldest that is no answer any more goes."""

_FILE = "session.db"


class SessionClosedError(RuntimeError):
    """A turn was given to a session that is closed."""


class DeskSession:
    """One open session, in the book of ``desk`` until it is closed. One thread owns it.

    Raises:
        sqlite3.DatabaseError: its file cannot be written; it is then in no book.
    """

    def __init__(self, desk: SessionDesk, name: str, system: str, tools: ToolEngine, folder: Path) -> None:
        self.name = name
        self._desk = desk
        self._turns = 0
        self._window = [Message("system", system)]
        self._view = ContextView()
        answers = Vdso(ANSWERS, store=MemoryStore(ANSWER_BYTES))
        self._kernel = fresh_kernel("default", tools, fast_path=answers)
        self._store: SqliteCheckpointer | None = SqliteCheckpointer(folder / _FILE)

    def run_turn(self, given: Given) -> Sequence[Message]:
        """As :meth:`seams.contract.lifecycle.LiveSession.run_turn`.

        Raises:
            SessionClosedError: it is closed.
            sqlite3.DatabaseError: the turn could not be written; the session is where it was before it.
        """
        if self._store is None:
            raise SessionClosedError(f"The session {self.name} is closed and takes no turn; open another one.")
        spawned = self._view.render_turn([*self._window, Message("user", given.asked)])
        came = [(call, self._kernel.syscall(call)[0]) for call in given.calls]
        added = [
            Message("assistant", given.answered),
            *(Message("tool", result.payload.decode("utf-8", "replace"), call.tool) for call, result in came),
        ]
        window = [*spawned, *added]
        self._store.put(self.name, self._turns + 1, window, len(added) + 1)
        self._turns += 1
        self._window = window
        return list(window)

    def close(self) -> None:
        """Let go of the file and of the place in the book; again, nothing."""
        store, self._store = self._store, None
        if store is not None:
            self._desk.strike(self.name)
            store.close()


class SessionDesk:
    """Opens sessions and keeps the book of those that are open."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._open: dict[str, DeskSession] = {}

    def open(self, system: str, tools: ToolEngine, folder: Path) -> DeskSession:
        """As :meth:`seams.contract.lifecycle.Lifecycle.open`.

        Raises:
            sqlite3.DatabaseError: the file in ``folder`` cannot be written.
        """
        name = f"desk-{next(self._numbers)}"
        session = DeskSession(self, name, system, tools, folder)
        self._open[name] = session
        return session

    def registered(self) -> int:
        """Sessions that are open."""
        return len(self._open)

    def strike(self, name: str) -> None:
        """Take the session of that name out of the book."""
        self._open.pop(name, None)


def offer(engine: Engine) -> SessionDesk | None:
    """A desk with an empty book; tools are brought by whoever opens a session, so only ``none`` is answered."""
    return SessionDesk() if engine == "none" else None

"""The slice of a restore from SQLite: threads of a file that was copied to another place, each read once a batch.

A runtime that remembers what it read, or what it wrote, by the name of a thread or of a file has nothing to remember
here: each call reads another thread, each batch is of a copy in a folder of its own, and what was added to the last
copy is not in it. Turns come in order, each once, and nothing that was put before becomes another.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from harness.measure.clock import Engine, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes._history import MESSAGES_A_TURN
from harness.probes._set_up import now
from harness.probes.session._drawn import CHANCE, Drawn
from harness.probes.session._places import Place
from seams.contract.checkpoint import Checkpoints, Restored
from seams.contract.turn import Message

__all__ = ["Restores", "verify_restored"]

_FILE = "session.db"


def verify_restored(restored: Any, history: Sequence[Message], turns: int) -> None:
    """The newest state is that of ``turns``, with every message as it was.

    Raises:
        WorkNotDoneError: it is not, or it is no plain record and may become one only where it is looked at.
    """
    if restored is None:
        raise WorkNotDoneError(f"the state after turn {turns} did not come back as it was written: there is none")
    messages = restored.messages if type(restored) is Restored else None
    if type(messages) is not list or any(type(each) is not Message for each in messages):
        raise WorkNotDoneError(f"a {type(restored).__name__} came back in the place of a plain list of messages")
    if restored.turn != turns or messages != list(history):
        raise WorkNotDoneError(f"the state after turn {turns} did not come back as it was written")


class Restores:
    """One call reads the newest state of a thread that no other call of the batch reads, from a file opened before.

    After the clock a turn is added beside the open file, which then has to be read.
    """

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, checkpoints: Checkpoints, history: Sequence[Message], turns: int, place: Place) -> None:
        self._checkpoints = checkpoints
        self._history = history
        self._turns = turns
        self._place = place
        self._written = place.path / "written"
        self._written.mkdir()
        self._threads = 0
        self._copies = count(1)
        self._added = 0
        size = sum(len(each.content.encode()) for each in history)
        self.work = {"messages": len(history), f"bytes of text on {place.fs}": size}

    async def write(self, threads: int) -> None:
        """Write as many threads as there have to be; each begins with a history that no other has."""
        if self._threads >= threads:
            return
        store = await settled(self._checkpoints.open(self._written / _FILE))
        try:
            while self._threads < threads:
                state = self._state(self._threads)
                await settled(store.put(_named(self._threads), self._turns, state, len(state)))
                self._threads += 1
        finally:
            await settled(store.close())

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` threads in an order of their own, in a copy of the file that was opened just now."""
        now(self.write(loops))
        self._copy = self._place.path / f"copy-{next(self._copies)}"
        shutil.copytree(self._written, self._copy)
        self._store = now(self._checkpoints.open(self._copy / _FILE))
        self._given = CHANCE.sample(range(self._threads), loops)
        self._drawn = Drawn(self._store.restore, [_named(each) for each in self._given])
        return self._drawn.calls()

    def check(self, result: Any) -> None:  # noqa: ARG002 - the one that was drawn is looked at
        """Raise WorkNotDoneError unless the state is the one that was written, and the next turn is seen as well."""
        drawn = self._given[self._drawn.at]
        verify_restored(self._drawn.result, self._state(drawn), self._turns)
        verify_restored(now(self._store.restore(_named(self._added))), self._state(self._added), self._turns)
        self._added = drawn
        more = [*self._state(drawn), *self._history[-MESSAGES_A_TURN:]]
        now(_put(self._checkpoints, self._copy / _FILE, drawn, self._turns + 1, more))
        try:
            verify_restored(now(self._store.restore(_named(drawn))), more, self._turns + 1)
        finally:
            now(self._store.close())
        shutil.rmtree(self._copy)

    def close(self) -> None:
        """Delete the files."""
        self._place.close()

    def _state(self, thread: int) -> list[Message]:
        first, *others = self._history
        return [first._replace(content=f"{first.content[:-8]}{thread:08}"), *others]


def _named(thread: int) -> str:
    return f"desk-{thread:04}"


async def _put(checkpoints: Checkpoints, file: Path, thread: int, turn: int, messages: Sequence[Message]) -> None:
    """Add one turn to a file that somebody else has open."""
    store = await settled(checkpoints.open(file))
    try:
        await settled(store.put(_named(thread), turn, messages, MESSAGES_A_TURN))
    finally:
        await settled(store.close())

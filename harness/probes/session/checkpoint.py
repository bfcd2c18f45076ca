"""Drives checkpoints in SQLite: what one more turn adds to the file, and what it takes to read the newest state back.

The same history goes into an image beside it, which is written whole each time. Bytes are counted by this probe in the
tables themselves, whatever they are called, and in the files of the image; what came back is held against the history.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Tally, Undefined, Workload, WorkNotDoneError, is_async, repeat
from harness.probes._awaiting import finish, settled
from harness.probes._history import MESSAGES_A_TURN, messages, turns_of
from harness.probes._set_up import now
from harness.probes.session._pages import NOW, grown, recorded, session_of
from harness.probes.session._places import Place
from seams.contract.checkpoint import Checkpoints
from seams.contract.turn import Message

__all__ = ["TURNS", "Probe", "Restores", "column_bytes"]

TURNS = "100"
"""Turns of the session where no other length is asked for."""

_THREAD = "desk"


def column_bytes(file: Path) -> int:
    """Bytes of all values in all tables of an SQLite file; pages, indexes and free space are not among them."""
    with closing(sqlite3.connect(file)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        total = 0
        for table in tables:
            columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
            sizes = " + ".join(f'coalesce(length(CAST("{name}" AS BLOB)), 0)' for name in columns)
            total += db.execute(f'SELECT coalesce(sum({sizes}), 0) FROM "{table}"').fetchone()[0]
    return total


class Probe:
    """Opens the KPIs of ``session/checkpoint``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"checkpoint_bytes_per_turn", "sqlite_restore_ns"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice, a Tally or Undefined; of an asynchronous runtime, the coroutine that returns it."""
        turns = turns_of(params.get("history", TURNS))
        if isinstance(turns, Undefined):
            return turns
        if params.get("store") == "image":
            images, recall = (runtime.offer(f"session/{room}", "none") for room in ("image", "recall"))
            if images is None or recall is None:
                return Undefined("not-offered", f"The runtime {runtime.name} offers no image of a session with pages.")
            return finish(_in_an_image(images, recall, turns), recall.core().record, images.dump)
        checkpoints: Checkpoints | None = runtime.offer("session/checkpoint", "none")
        if checkpoints is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no checkpoints in SQLite.")
        timed = kpi == "sqlite_restore_ns"
        with Place() as place:  # for the methods of an open file: whether one of them waits is seen on it alone
            store = now(checkpoints.open(place.path / "empty.db"))
            steps = (checkpoints.open, store.put, store.restore, store.close)
            now(store.close())
        return finish((_restored if timed else _added)(checkpoints, turns), *steps)


def _history(turns: int) -> list[Message]:
    return [Message(role, text) for role, text in messages(turns)]


async def _put(store: Any, history: Sequence[Message], turn: int) -> None:
    """The state after ``turn``, counted from 1; the first one brings the system prompt as well."""
    held = 1 + turn * MESSAGES_A_TURN
    added = MESSAGES_A_TURN if turn > 1 else held
    await settled(store.put(_THREAD, turn, history[:held], added))


async def _added(checkpoints: Checkpoints, turns: int) -> Tally:
    """What the last turn adds; of the turns before it only the next to last is written, on which none depends.

    Raises:
        WorkNotDoneError: it adds less than the turn wrote, or the state does not come back.
    """
    history = _history(turns)
    with Place() as place:
        file = place.path / "session.db"
        store = await settled(checkpoints.open(file))
        try:
            if turns > 1:
                await _put(store, history, turns - 1)
            before, size = column_bytes(file), file.stat().st_size
            await _put(store, history, turns)
            added, grew = column_bytes(file) - before, file.stat().st_size - size
            verify_restored(await settled(store.restore(_THREAD)), history, turns)
        finally:
            await settled(store.close())
    return _told(added, turns, history, f"the file grew by {grew:,} bytes, in pages")


async def _in_an_image(images: Any, recall: Any, turns: int) -> Tally:
    history = _history(turns)
    with Place() as place:
        folder = place.path / "image"
        core = await recorded(recall.core(), grown(turns))
        await settled(images.dump(session_of(core), folder, now=NOW, durable=False))
        written = sum(each.stat().st_size for each in folder.iterdir())
    return _told(written, turns, history, "an image is written whole: header, pages, bodies and index")


def _told(added: int, turns: int, history: Sequence[Message], how: str) -> Tally:
    own = sum(len(each.content.encode()) for each in history[-MESSAGES_A_TURN:])
    if added < own:
        raise WorkNotDoneError(f"a turn of {own} bytes added {added}")
    whole = sum(len(each.content.encode()) for each in history)
    said = f"turn {turns} wrote {own:,} bytes of text, after which the session has {whole:,}"
    return Tally(added, source="synthetic", evidence=(said, how))


def verify_restored(restored: Any, history: Sequence[Message], turns: int) -> None:
    """The newest state is that of ``turns``, with every message as it was.

    Raises:
        WorkNotDoneError: it is not.
    """
    if restored is None or restored.turn != turns or list(restored.messages) != list(history):
        raise WorkNotDoneError(f"the state after turn {turns} did not come back as it was written")


async def _restored(checkpoints: Checkpoints, turns: int) -> Slice:
    slice_ = Restores(checkpoints, _history(turns), turns, Place())
    try:
        await slice_.write()
    except BaseException:
        slice_.close()
        raise
    return slice_


class Restores:
    """One call reads the newest state of the session, from a file that each batch opens for itself.

    After the clock another state is written beside the open file, which then has to be the one that is read: a store
    that remembers what it read would have had nothing to do.
    """

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, checkpoints: Checkpoints, history: list[Message], turns: int, place: Place) -> None:
        self._checkpoints = checkpoints
        self._history = history
        self._turns = turns
        self._place = place
        self._numbers = count(1)
        self._file = place.path / "session.db"
        size = sum(len(each.content.encode()) for each in history)
        self.work = {"messages": len(history), f"bytes of text on {place.fs}": size}

    async def write(self) -> None:
        """Write the newest state, with a system prompt that no state had before."""
        first = self._history[0]
        self._history[0] = first._replace(content=f"{first.content[:-8]}{next(self._numbers):08}")
        store = await settled(self._checkpoints.open(self._file))
        try:
            await _put(store, self._history, self._turns)
        finally:
            await settled(store.close())

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` times the same state, which was written just now."""
        now(self.write())
        self._store = store = now(self._checkpoints.open(self._file))
        read: Callable[[str], Any] = store.restore
        if is_async(read):

            async def one_async() -> object:
                return await read(_THREAD)

            return repeat(one_async, loops)
        return repeat(lambda: read(_THREAD), loops)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the state is the one that was written, and the next one is seen as well."""
        verify_restored(result, self._history, self._turns)
        now(self.write())
        try:
            verify_restored(now(self._store.restore(_THREAD)), self._history, self._turns)
        finally:
            now(self._store.close())

    def close(self) -> None:
        """Delete the file."""
        self._place.close()

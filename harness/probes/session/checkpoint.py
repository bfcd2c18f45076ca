"""Drives checkpoints in SQLite: what one more turn adds to the file, and what it takes to read the newest state back.

The same history goes into an image beside it, which is written whole each time. Bytes are counted by this probe in the
tables themselves, whatever they are called, and in the files of the image; what came back is held against the history.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes._history import MESSAGES_A_TURN, messages, turns_of
from harness.probes._set_up import now
from harness.probes.session._desk import files_in, require_plain, verify_files, verify_resumed
from harness.probes.session._pages import NOW, grown, recorded, session_of
from harness.probes.session._places import Place
from harness.probes.session._restores import Restores, verify_restored
from seams.contract.checkpoint import Checkpoints
from seams.contract.turn import Message

__all__ = ["TURNS", "Probe", "column_bytes"]

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
            steps = (images.dump, images.load, images.rehydrate)
            return finish(_in_an_image(images, recall, turns), recall.core().record, *steps)
        checkpoints: Checkpoints | None = runtime.offer("session/checkpoint", "none")
        if checkpoints is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no checkpoints in SQLite.")
        timed = kpi == "sqlite_restore_ns"
        with Place() as place:  # for the methods of an open file: whether one of them waits is seen on it alone
            store = now(checkpoints.open(place.path / "empty.db"))
            methods = (checkpoints.open, store.put, store.restore, store.close)
            now(store.close())
        return finish((_restored if timed else _added)(checkpoints, turns), *methods)


def _history(turns: int) -> list[Message]:
    return [Message(role, text) for role, text in messages(turns)]


async def _added(checkpoints: Checkpoints, turns: int) -> Tally:
    """What the last turn adds to a thread that begins with the turns before it, all written at once.

    Raises:
        WorkNotDoneError: it adds less than the turn wrote, or the state does not come back.
    """
    history = _history(turns)
    with Place() as place:
        file = place.path / "session.db"
        store = await settled(checkpoints.open(file))
        try:
            earlier = history[:-MESSAGES_A_TURN] if turns > 1 else []
            if earlier:
                await settled(store.put(_THREAD, turns - 1, earlier, len(earlier)))
            before, size = column_bytes(file), file.stat().st_size
            await settled(store.put(_THREAD, turns, history, len(history) - len(earlier)))
            added, grew = column_bytes(file) - before, file.stat().st_size - size
            verify_restored(await settled(store.restore(_THREAD)), history, turns)
        finally:
            await settled(store.close())
    return _told(added, turns, history, f"the file grew by {grew:,} bytes, in pages")


async def _in_an_image(images: Any, recall: Any, turns: int) -> Tally:
    """What an image of the session weighs, which then comes back out of it.

    Raises:
        WorkNotDoneError: it does not, or it weighs less than the turn.
    """
    history, bodies = _history(turns), grown(turns)
    with Place() as place:
        folder = place.path / "image"
        session = session_of(await recorded(recall.core(), bodies))
        header = await settled(images.dump(session, folder, now=NOW, durable=False))
        files = files_in(folder)
        require_plain(header)
        verify_files(files, header)
        written = sum(map(len, files.values()))
        # Read from another place, so that nothing comes back from where the dump was asked to put it.
        loaded = await settled(images.load(folder.rename(place.path / "moved")))
        await verify_resumed(await settled(images.rehydrate(loaded, now=NOW)), session, bodies, "warm")
    return _told(written, turns, history, "an image is written whole: header, pages, bodies and index")


def _told(added: int, turns: int, history: Sequence[Message], how: str) -> Tally:
    own = sum(len(each.content.encode()) for each in history[-MESSAGES_A_TURN:])
    if added < own:
        raise WorkNotDoneError(f"a turn of {own} bytes added {added}")
    whole = sum(len(each.content.encode()) for each in history)
    said = f"turn {turns} wrote {own:,} bytes of text, after which the session has {whole:,}"
    return Tally(added, source="synthetic", evidence=(said, how))


async def _restored(checkpoints: Checkpoints, turns: int) -> Slice:
    slice_ = Restores(checkpoints, _history(turns), turns, Place())
    try:
        await slice_.write(1)
    except BaseException:
        slice_.close()
        raise
    return slice_

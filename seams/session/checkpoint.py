"""The seam ``session/checkpoint``: a session in SQLite, in the two tables that agent runtimes keep.

``checkpoints`` has the whole state after each turn, ``writes`` what the turn added to it. So a turn of a long session
costs what the session weighs, which is the point of measuring it; nothing is shared between two states, and no older
one is deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from seams.contract import Engine
from seams.contract.checkpoint import Restored
from seams.contract.turn import Message
from seams.syscall.canonical import canonical

__all__ = ["SqliteCheckpointer", "SqliteCheckpoints", "offer"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT NOT NULL, checkpoint BLOB NOT NULL, metadata BLOB NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE IF NOT EXISTS writes (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""
_CHANNEL, _TYPE = "messages", "json"


def _key(turn: int) -> str:
    """An id that sorts as its turn does."""
    return f"{turn:020d}"


class SqliteCheckpointer:
    """An open file. To be closed.

    Raises:
        sqlite3.DatabaseError: the file is not SQLite's, or cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file)
        try:
            self._db.executescript(_SCHEMA)
        except BaseException:
            self._db.close()
            raise

    def put(self, thread: str, turn: int, messages: Sequence[Message], added: int) -> None:
        """As :meth:`seams.contract.checkpoint.Checkpointer.put`, in one transaction.

        Raises:
            ValueError: the turn is negative, or adds more messages than there are.
        """
        if turn < 0 or not 0 <= added <= len(messages):
            raise ValueError(f"Turn {turn} cannot add {added} of {len(messages)} messages.")
        key = _key(turn)
        parent = self._newest(thread, below=key)
        state = canonical({"v": 1, "id": key, "channel_values": {_CHANNEL: messages}})
        about = canonical({"source": "loop", "step": turn, "writes": added})
        written = messages[len(messages) - added :]
        rows = [(thread, key, "turn", at, _CHANNEL, _TYPE, canonical(each)) for at, each in enumerate(written)]
        with self._db as db:
            db.execute("DELETE FROM writes WHERE thread_id = ? AND checkpoint_id = ?", (thread, key))
            db.executemany(
                "INSERT INTO writes (thread_id, checkpoint_id, task_id, idx, channel, type, value) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            db.execute(
                "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_id, parent_checkpoint_id, type, checkpoint, "
                "metadata) VALUES (?, ?, ?, ?, ?, ?)",
                (thread, key, parent, _TYPE, state, about),
            )

    def restore(self, thread: str) -> Restored | None:
        """As :meth:`seams.contract.checkpoint.Checkpointer.restore`.

        Raises:
            ValueError: the newest row is no state; an older one in its place would be another session.
        """
        key = self._newest(thread)
        if key is None:
            return None
        found = self._db.execute(
            "SELECT checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?", (thread, key)
        ).fetchone()
        try:
            told = json.loads(found[0].decode("utf-8", "surrogatepass"))
            return Restored(int(key), [Message(*each) for each in told["channel_values"][_CHANNEL]])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise ValueError(f"The checkpoint {key} of thread {thread} is no state; delete its row.") from error

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _newest(self, thread: str, below: str = ":") -> str | None:
        """The highest id of ``thread`` that sorts before ``below``; a colon comes after all digits."""
        ask = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_id < ?"
        with closing(self._db.execute(ask, (thread, below))) as rows:
            newest: str | None = rows.fetchone()[0]
        return newest


class SqliteCheckpoints:
    """What ``session/checkpoint`` offers."""

    def open(self, file: Path) -> SqliteCheckpointer:
        """Open the file, which is made where it is missing."""
        return SqliteCheckpointer(file)


def offer(engine: Engine) -> SqliteCheckpoints | None:
    """Checkpoints in SQLite; there is no engine to cut, so only ``none`` is answered."""
    return SqliteCheckpoints() if engine == "none" else None

"""Checkpoints in SQLite: what goes in comes out, the newest first."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.checkpoint import Restored
from seams.contract.turn import Message
from seams.session.checkpoint import SqliteCheckpointer, SqliteCheckpoints, offer

TALK = [Message("system", "You file claims."), Message("user", "hello"), Message("tool", "\ud800 é", "look")]
MESSAGES = st.lists(st.builds(Message, st.text(max_size=5), st.text(max_size=20), st.text(max_size=5)), max_size=6)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.db"


@pytest.fixture
def store(file: Path):
    with closing(SqliteCheckpoints().open(file)) as opened:
        yield opened


def test_the_highest_turn_is_the_state_whoever_opens_the_file(store: SqliteCheckpointer, file: Path) -> None:
    assert store.restore("a") is None
    store.put("a", 10, TALK, 1)
    store.put("a", 9, TALK[:2], 2)
    store.put("b", 11, [], 0)
    with closing(SqliteCheckpoints().open(file)) as other:
        assert other.restore("a") == Restored(10, TALK)
        assert other.restore("b") == Restored(11, [])


def test_a_turn_has_the_whole_state_and_a_row_for_each_of_its_messages(store, file: Path) -> None:
    store.put("a", 1, TALK[:1], 1)
    store.put("a", 2, TALK, 2)
    store.put("a", 2, TALK, 2)  # once more: the same turn is one turn
    with closing(sqlite3.connect(file)) as db:
        rows = db.execute("SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints ORDER BY 1").fetchall()
        written = db.execute("SELECT checkpoint_id, idx, value FROM writes ORDER BY 1, 2").fetchall()
        sizes = [size for (size,) in db.execute("SELECT length(checkpoint) FROM checkpoints ORDER BY checkpoint_id")]
    assert [(int(key), parent and int(parent)) for key, parent in rows] == [(1, None), (2, 1)]
    assert [(int(key), number) for key, number, _ in written] == [(1, 0), (2, 0), (2, 1)]
    assert written[1][2] == b'["user","hello",""]'
    assert sizes[1] > sizes[0] + len(b'["user","hello",""]')


@given(messages=MESSAGES, turn=st.integers(0, 10**15))
def test_whatever_was_put_comes_back(messages, turn: int) -> None:
    with closing(SqliteCheckpointer(Path(":memory:"))) as store:
        store.put("thread", turn, messages, len(messages))
        assert store.restore("thread") == Restored(turn, messages)


@pytest.mark.parametrize(("turn", "added"), [(-1, 0), (1, 4), (1, -1)])
def test_a_turn_that_cannot_be_is_refused(turn: int, added: int, store) -> None:
    with pytest.raises(ValueError, match=f"Turn {turn} cannot add {added} of 3 messages"):
        store.put("a", turn, TALK, added)
    assert store.restore("a") is None


def test_a_put_that_fails_leaves_the_state_before(store) -> None:
    store.put("a", 1, TALK, 1)
    with pytest.raises(TypeError):
        store.put("a", 2, [*TALK, object()], 1)
    assert store.restore("a") == Restored(1, TALK)


@pytest.mark.parametrize("state", ["", "{}", "null", '{"channel_values":{"messages":[["a"]]}}', "[" * 100_000])
def test_a_newest_row_that_is_no_state_is_an_error_and_not_an_older_one(state: str, store, file: Path) -> None:
    store.put("a", 1, TALK, 1)
    store.put("a", 2, TALK, 1)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id LIKE '%2'", (state.encode(),))
    with pytest.raises(ValueError, match=r"The checkpoint 0+2 of thread a is no state; delete its row"):
        store.restore("a")


def test_a_file_that_is_not_sqlites_is_refused(file: Path) -> None:
    file.write_bytes(b"a diary" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        SqliteCheckpointer(file)


def test_it_is_offered_without_an_engine_and_no_other() -> None:
    assert isinstance(offer("none"), SqliteCheckpoints)
    assert offer("mock") is None

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.session.checkpoint import TURNS, Probe, column_bytes
from kpis.formulas.growth import slope
from seams.contract.checkpoint import Restored
from seams.contract.turn import Message
from seams.runtimes.reference import make
from seams.session.checkpoint import SqliteCheckpointer
from seams.session.image import SessionImages
from seams.session.recall import CoreImage
from tests.harness.probes.session.desks import Desk, slow

SQLITE, IMAGE = {"store": "sqlite"}, {"store": "image"}


@pytest.fixture(autouse=True)
def place_of_its_own(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def opened(kpi: str, params=None, runtime=None):
    return Probe().open(kpi, runtime or make(), None, params or {})


def checkpoints(kind):
    return Desk(checkpoint=type("Kept", (), {"open": staticmethod(kind)}))


def test_the_bytes_of_a_turn_are_counted_in_the_tables(tmp_path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
        db.execute("CREATE TABLE one (a TEXT, b BLOB, c INTEGER)")
        db.execute("CREATE TABLE other (d TEXT PRIMARY KEY)")
        db.execute("INSERT INTO one VALUES ('é', x'0001', NULL), ('', x'', 12)")
        db.execute("INSERT INTO other VALUES ('abc')")
    assert column_bytes(tmp_path / "a.db") == 2 + 2 + 2 + 3


@pytest.mark.parametrize("params", [SQLITE, IMAGE])
def test_a_turn_of_a_long_session_costs_the_session(params, tmp_path) -> None:
    lengths = (10, 40, 160)
    found = [opened("checkpoint_bytes_per_turn", {**params, "history": str(turns)}) for turns in lengths]
    bytes_ = [each.numerator for each in found]
    assert 0.9 < slope(lengths, bytes_) < 1.02
    assert all("wrote 5,580 bytes of text" in each.evidence[0] for each in found)
    assert found[0] == opened("checkpoint_bytes_per_turn", {**params, "history": "10"})
    assert found[0].denominator is None
    assert list(tmp_path.iterdir()) == []


def test_without_a_history_it_is_a_hundred_turns() -> None:
    assert TURNS == "100"
    assert opened("checkpoint_bytes_per_turn", SQLITE) == opened(
        "checkpoint_bytes_per_turn", {**SQLITE, "history": "100"}
    )
    assert opened("checkpoint_bytes_per_turn", {**SQLITE, "history": "1"}).numerator > 5_580
    assert opened("checkpoint_bytes_per_turn", {**SQLITE, "history": "-1"}).reason == "bad-value"


def test_a_restore_is_timed_from_a_state_of_its_own(tmp_path) -> None:
    found = opened("sqlite_restore_ns", {"history": "3"})
    assert (found.engine, found.source) == ("none", "synthetic")
    assert found.work["messages"] == 13
    places = set()
    for _ in range(3):
        batch = found.batch(4)
        assert len(set(found._given)) == 4
        places.add(found._copy)
        found.check(batch())
        assert not found._copy.exists()
    assert len(places) == 3
    assert len({found._state(each)[0] for each in range(4)}) == 4
    found.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("params", "parts", "lacking"),
    [
        (SQLITE, {"checkpoint": None}, "checkpoints in SQLite"),
        (IMAGE, {"image": None}, "image of a session with pages"),
        (IMAGE, {"recall": None}, "image of a session with pages"),
    ],
)
def test_a_runtime_without_it_is_undefined(params, parts, lacking: str) -> None:
    found = opened("checkpoint_bytes_per_turn", params, Desk(**parts))
    assert found == Undefined("not-offered", f"The runtime stub offers no {lacking}.")


class Remembers(SqliteCheckpointer):
    """Reads the file once."""

    known = None

    def restore(self, thread):
        self.known = self.known or super().restore(thread)
        return self.known


class RemembersWhatItWrote(SqliteCheckpointer):
    """Answers by the name of the thread, whatever is in the file."""

    known: ClassVar[dict] = {}

    def put(self, thread, turn, messages, added):
        super().put(thread, turn, messages, added)
        self.known[thread] = Restored(turn, list(messages))

    def restore(self, thread):
        return self.known[thread]


class RemembersByVersion(SqliteCheckpointer):
    """Remembers the state for as long as nobody else wrote, and takes every thread for that one."""

    known = (None, None)

    def restore(self, thread):
        version = self._db.execute("PRAGMA data_version").fetchone()
        if self.known[0] != version:
            self.known = (version, super().restore(thread))
        return self.known[1]


class Later(list):
    """Messages that are read when somebody looks at them."""

    def __init__(self, read) -> None:
        super().__init__()
        self._read = read

    def __iter__(self):
        return iter(self._read().messages)


class PutsOff(SqliteCheckpointer):
    def restore(self, thread):
        return Restored(self.turn_of(thread), Later(lambda: SqliteCheckpointer.restore(self, thread)))

    def turn_of(self, thread):
        return int(self._newest(thread))


class KeepsNothing(SqliteCheckpointer):
    def put(self, thread, turn, messages, added): ...


class KeepsTheTurn(SqliteCheckpointer):
    """Writes what the turn wrote, and calls that the state."""

    def put(self, thread, turn, messages, added):
        super().put(thread, turn, messages[-added:], added)


class Truncates(SqliteCheckpointer):
    def put(self, thread, turn, messages, added):
        super().put(thread, turn, [each._replace(content=each.content[:10]) for each in messages], added)


@pytest.mark.parametrize(
    "kind",
    [Remembers, RemembersWhatItWrote, RemembersByVersion, PutsOff, KeepsNothing, KeepsTheTurn, Truncates],
)
def test_a_restore_that_reads_less_is_found_out(kind, tmp_path) -> None:
    with pytest.raises(WorkNotDoneError, match=r"did not come back as it was written|in the place of a plain list"):
        found = opened("sqlite_restore_ns", {"history": "2"}, checkpoints(kind))
        for _ in range(4):  # one call of eight is drawn each time: by chance alone a cheat passes once in millions
            found.check(found.batch(8)())


class KeepsTurns:
    """Keeps of each turn what that turn wrote, and nothing else: the state is all turns one behind the other."""

    def __init__(self, file) -> None:
        self._db = sqlite3.connect(file)
        self._db.execute("CREATE TABLE IF NOT EXISTS said (thread TEXT, turn INTEGER, role TEXT, content TEXT)")

    def put(self, thread, turn, messages, added):
        newest = self.restore(thread)
        assert len(messages) - added == (0 if newest is None else len(newest.messages))
        assert newest is None or turn == newest.turn + 1
        with self._db as db:
            rows = [(thread, turn, each.role, each.content) for each in messages[len(messages) - added :]]
            db.executemany("INSERT INTO said VALUES (?, ?, ?, ?)", rows)

    def restore(self, thread):
        found = self._db.execute("SELECT turn, role, content FROM said WHERE thread = ? ORDER BY rowid", (thread,))
        rows = found.fetchall()
        return Restored(rows[-1][0], [Message(*each) for _, *each in rows]) if rows else None

    def close(self):
        self._db.close()


@pytest.mark.parametrize("history", ["1", "2", "5"])
def test_a_store_that_keeps_only_what_each_turn_wrote_does_its_work(history) -> None:
    params = {"history": history}
    added = opened("checkpoint_bytes_per_turn", {**SQLITE, **params}, checkpoints(KeepsTurns)).numerator
    assert 5_580 < added < 8_000
    found = opened("sqlite_restore_ns", params, checkpoints(KeepsTurns))
    for _ in range(3):
        found.check(found.batch(2)())
    found.close()


class WithoutPages(SessionImages):
    """Holds as many bytes as the turn has, and none of the session's pages."""

    def dump(self, session, folder, **more):
        return super().dump(replace(session, core=CoreImage(), trajectory=("x" * 6_000,)), folder, **more)


class PutsOffTheImage(SessionImages):
    def dump(self, session, folder, **more):
        return partial(super().dump, session, folder, **more)


@pytest.mark.parametrize("kind", [WithoutPages, PutsOffTheImage])
def test_an_image_that_is_weighed_comes_back_out_of_its_files(kind, tmp_path) -> None:
    with pytest.raises((WorkNotDoneError, FileNotFoundError)):
        opened("checkpoint_bytes_per_turn", {**IMAGE, "history": "2"}, Desk(image=kind))
    assert list(tmp_path.iterdir()) == []


def test_the_numbers_of_the_reference_stand() -> None:
    assert opened("checkpoint_bytes_per_turn", SQLITE).numerator == 579_512
    assert opened("checkpoint_bytes_per_turn", IMAGE).numerator == 663_345


@pytest.mark.parametrize("kind", [KeepsNothing, KeepsTheTurn, Truncates])
def test_a_turn_that_is_not_kept_is_found_out(kind, tmp_path) -> None:
    with pytest.raises(WorkNotDoneError):
        opened("checkpoint_bytes_per_turn", {**SQLITE, "history": "2"}, checkpoints(kind))
    assert list(tmp_path.iterdir()) == []


def test_an_asynchronous_store_is_awaited() -> None:
    kind = slow(SqliteCheckpointer, "put", "restore")
    found = asyncio.run(opened("checkpoint_bytes_per_turn", {**SQLITE, "history": "2"}, checkpoints(kind)))
    assert found.numerator == opened("checkpoint_bytes_per_turn", {**SQLITE, "history": "2"}).numerator

    class Reads(SqliteCheckpointer):
        async def restore(self, thread):
            return SqliteCheckpointer.restore(self, thread)

    async def measured() -> None:
        sliced = await opened("sqlite_restore_ns", {"history": "2"}, checkpoints(Reads))
        batch = sliced.batch(2)
        assert asyncio.iscoroutinefunction(batch)
        sliced.check(await batch())
        sliced.close()

    asyncio.run(measured())

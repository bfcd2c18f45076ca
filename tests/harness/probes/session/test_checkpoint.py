from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.session.checkpoint import TURNS, Probe, column_bytes
from kpis.formulas.growth import slope
from seams.runtimes.reference import make
from seams.session.checkpoint import SqliteCheckpointer
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
    states = set()
    for _ in range(3):
        result = found.batch(3)()
        states.add(result.messages[0])
        found.check(result)
    assert len(states) == 3
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


class KeepsNothing(SqliteCheckpointer):
    def put(self, thread, turn, messages, added): ...


class KeepsTheTurn(SqliteCheckpointer):
    """Writes what the turn wrote, and calls that the state."""

    def put(self, thread, turn, messages, added):
        super().put(thread, turn, messages[-added:], added)


class Truncates(SqliteCheckpointer):
    def put(self, thread, turn, messages, added):
        super().put(thread, turn, [each._replace(content=each.content[:10]) for each in messages], added)


@pytest.mark.parametrize("kind", [Remembers, KeepsNothing, KeepsTheTurn, Truncates])
def test_a_restore_that_reads_less_is_found_out(kind, tmp_path) -> None:
    with pytest.raises(WorkNotDoneError, match="did not come back as it was written"):
        found = opened("sqlite_restore_ns", {"history": "2"}, checkpoints(kind))
        found.check(found.batch(2)())


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

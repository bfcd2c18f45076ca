"""The sidecar: its times are told to people, torn lines are left out, and the journal knows nothing of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seams.contract.rsi_clock import Elapsed
from seams.rsi.clock import ReferenceClock, offer
from seams.rsi.loop import ReferenceLoop
from tests.seams.rsi.repository import Repo, metric

CLOCK = ReferenceClock()


def test_each_cycle_has_its_lap_and_the_journal_has_none(repo_of_one: Repo) -> None:
    charge = repo_of_one.charge()
    result = ReferenceLoop().run(charge, [metric(2), metric(1)], CLOCK.beside(charge.journal))
    assert [lap.cycle for lap in CLOCK.laps(charge.journal)] == [row.cycle for row in result.rows] == [1, 2]
    assert CLOCK.sidecar(charge.journal) != charge.journal
    assert b"elapsed" not in charge.journal.read_bytes()


def test_the_rows_are_the_same_with_a_clock_and_without(repo_of_one: Repo) -> None:
    charge = repo_of_one.charge()
    ReferenceLoop().run(charge, [metric(2)], CLOCK.beside(charge.journal))
    timed = charge.journal.read_bytes()
    charge.journal.unlink()
    repo_of_one.git("branch", "--quiet", "-D", "rsi")
    ReferenceLoop().run(charge, [metric(2)])
    assert charge.journal.read_bytes() == timed


def test_torn_lines_are_left_out(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    assert CLOCK.laps(journal) == ()
    lines = ['{"cycle": 1, "elapsed_ns": 5}', "{}", "[]", '{"cycle": true, "elapsed_ns": 5}', '{"cycle": 2, "el']
    CLOCK.sidecar(journal).write_text("\n".join(lines))
    (lap,) = CLOCK.laps(journal)
    assert (lap.cycle, lap.elapsed.shown()) == (1, "5 ns")


def test_what_never_began_is_no_lap(tmp_path: Path) -> None:
    stamps = CLOCK.beside(tmp_path / "journal")
    stamps.decided(3)
    assert CLOCK.laps(tmp_path / "journal") == ()


@pytest.mark.timeout(60)
def test_a_pipe_in_its_place_is_not_waited_at(tmp_path: Path) -> None:
    os.mkfifo(CLOCK.sidecar(tmp_path / "journal"))
    stamps = CLOCK.beside(tmp_path / "journal")
    stamps.proposed(1)
    with pytest.raises(OSError, match="No such device"):
        stamps.decided(1)
    assert CLOCK.laps(tmp_path / "journal") == ()


@pytest.mark.parametrize(
    "use",
    [
        lambda time: time < Elapsed(6),
        lambda time: time > 1,
        lambda time: time == Elapsed(5),
        bool,
        float,
        lambda time: time - time,
        lambda time: time + 1,
        lambda time: max(time, 1.0),
        lambda time: {time: 1},
        int,
    ],
)
def test_a_time_is_good_for_nothing_but_to_be_shown(use) -> None:
    with pytest.raises(TypeError):
        use(Elapsed(5))
    assert repr(Elapsed(5)) == "Elapsed(5 ns)"


def test_it_has_no_engine() -> None:
    assert offer("mock") is None
    assert isinstance(offer("none"), ReferenceClock)

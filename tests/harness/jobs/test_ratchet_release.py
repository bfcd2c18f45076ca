"""The release as an anchor: what was accepted step by step is held against it in one."""

from __future__ import annotations

from pathlib import Path

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.jobs.ratchet_conditions import Held
from harness.jobs.ratchet_release import against_release
from harness.record.ratchet import RatchetFile
from kpis.terms.comparison import State
from kpis.terms.kpi import Layer
from tests.harness.jobs.recorded import Lab, row_of

SPAWN = "turn_spawn_ns[phase=all]"


def code(file: RatchetFile) -> Exit:
    return exit_code(file, strict=False)


def test_steps_that_were_each_accepted_fail_together_against_the_release(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.sessions(8)
    lab.accept(lab.run(8), release="v1")
    file = lab.check(lab.run(9))
    assert file.release == "v1"
    assert row_of(file, SPAWN, "v1").state in (State.OK, State.WITHIN)
    assert code(file) is Exit.OK
    for step, cost in ((9, 5600.0), (15, 6300.0)):
        lab.accept(lab.run(step, {SPAWN: cost}), SPAWN, why="it does more")
        for session in range(step + 1, step + 6):
            lab.accept(lab.run(session, {SPAWN: cost + session}))
    crept = lab.check(lab.run(21, {SPAWN: 6310.0}))
    assert row_of(crept, SPAWN).state in (State.OK, State.WITHIN)
    assert crept.verdict.by == (f"{SPAWN} since v1",)
    assert code(crept) is Exit.FAILED


def test_a_release_is_held_against_each_session_since_once(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.sessions(6)
    lab.accept(lab.run(6), release="v1")
    lab.accept(lab.run(7))
    lab.accept(lab.run(8))
    release = lab.record().release
    assert release is not None
    held = Held(lab.record().layers[Layer.TURN], SPAWN, lab.row(SPAWN))
    run = lab.run(8)  # it is on record itself
    reading = next(each for each in run.readings if lab.names.of_reading(each) == SPAWN)
    row = against_release(release.rows[SPAWN], held, run, reading)
    assert row.sessions == release.rows[SPAWN].medians
    assert row.now == (lab.row(SPAWN).medians[7], reading.value)


def test_a_count_may_be_worse_than_the_release_by_five_percent(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.accept(lab.run(0, {"engine_calls": 100}), release="v1")
    lab.accept(lab.run(1, {"engine_calls": 105}), "engine_calls", why="one call more a turn")
    file = lab.check(lab.run(2, {"engine_calls": 105}))
    assert row_of(file, "engine_calls", "v1").state is State.OK
    assert code(file) is Exit.OK
    lab.accept(lab.run(3, {"engine_calls": 106}), "engine_calls", why="and another")
    file = lab.check(lab.run(4, {"engine_calls": 106}))
    assert row_of(file, "engine_calls").state is State.OK
    assert row_of(file, "engine_calls", "v1").state is State.REGRESSED
    assert code(file) is Exit.FAILED


def test_a_release_of_another_kernel_is_told_and_decides_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.accept(lab.run(0), release="v1")
    lab.accept(lab.run(1, facts={"kernel": "6.2"}), afresh=True, why="a new kernel")
    file = lab.check(lab.run(2, facts={"kernel": "6.2"}))
    row = row_of(file, SPAWN, "v1")
    assert (row.state, row.decides) == (State.NO_BASELINE, False)
    assert code(file) is Exit.OK

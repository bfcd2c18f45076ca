"""Loops on record: what they are kept for, when they say that a record describes another measurement, and old files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.jobs.ratchet_accept import Asked, accept
from harness.jobs.ratchet_layers import Accepted
from harness.jobs.ratchet_move import Refusal
from harness.judge.loops import MOST
from harness.record.baseline_read import BaselineError
from harness.record.run import Run, encode
from kpis.terms.comparison import State
from kpis.terms.kpi import Layer
from tests.harness.jobs.recorded import DAY, SLUG, Lab, row_of

SPAWN = "turn_spawn_ns[phase=all]"
AGAIN = "begin the row again with: python -m harness ratchet accept turn_spawn_ns --why TEXT"


def looped(run: Run, loops: int | None = 1024, values: int | None = 5, *, spawn: int | None = None) -> Run:
    """``run`` with the loops of its times; ``spawn`` of the spawn alone."""
    readings = []
    for reading in run.readings:
        taken = reading.distribution
        if taken is not None:
            at = spawn if spawn is not None and reading.kpi == "turn_spawn_ns" else loops
            reading = replace(reading, distribution=replace(taken, loops=at, values=values))  # noqa: PLW2901
        readings.append(reading)
    return replace(run, readings=readings)


def stripped(run: Run) -> bytes:
    """The file of ``run`` as it was written before loops and touched sets were noted."""
    document = json.loads(encode(run))
    del document["source"]["sets"]
    for reading in document["readings"]:
        del reading["touched"]
        if reading["distribution"] is not None:
            del reading["distribution"]["loops"], reading["distribution"]["values"]
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A project whose record has six sessions with their loops."""
    made = Lab(tmp_path)
    for session in range(6):
        made.accept(looped(made.run(session)))
    return made


def test_a_row_keeps_the_loops_of_its_newest_session(lab: Lab) -> None:
    row = lab.row(SPAWN)
    assert (row.loops, row.values, len(row.sessions)) == (1024, 5, 6)
    lab.accept(looped(lab.run(6), 2048))
    assert (lab.row(SPAWN).loops, len(lab.row(SPAWN).sessions)) == (2048, 7)
    assert (lab.row("denies").loops, lab.row("denies").values) == (None, None)


def test_accepting_what_is_there_writes_nothing(lab: Lab) -> None:
    before = lab.bytes()
    assert lab.accept(looped(lab.run(5)), today=DAY + timedelta(days=9)).written == []
    assert lab.accept(looped(lab.run(5), 4096)).written == []  # no new draw, so not its loops either
    assert lab.bytes() == before


@pytest.mark.parametrize("loops", [1024 // 8, 512, 1024, 2048, 1024 * 8])
def test_what_calibration_does_is_no_difference(lab: Lab, loops: int) -> None:
    row = row_of(lab.check(looped(lab.run(7), spawn=loops)), SPAWN)
    assert row.state in (State.OK, State.WITHIN)


@pytest.mark.parametrize(("loops", "few"), [(1024 * 16, "more"), (1024 // 16, "fewer"), (2**24, "more"), (1, "fewer")])
def test_other_loops_at_the_same_time_are_another_measurement(lab: Lab, loops: int, few: str) -> None:
    file = lab.check(looped(lab.run(7), spawn=loops))
    row = row_of(file, SPAWN)
    assert row.state is State.NO_BASELINE
    (said,) = row.evidence
    assert said.startswith("it was recorded with other loops: a value took 1024 calls of ")
    assert f"takes {loops} of " in said
    assert f"times {few} than the time of a call explains ({MOST:g} are the most" in said
    assert said.endswith(AGAIN)
    assert exit_code(file, strict=False) is Exit.NO_BASELINE
    assert {each.name for each in file.rows if each.state is State.NO_BASELINE} == {SPAWN}


def test_loops_that_follow_the_time_of_a_call_are_none_of_it(lab: Lab) -> None:
    slow = lab.check(looped(lab.run(7, {SPAWN: 5000.0 * 40}), spawn=1024 // 32))
    assert row_of(slow, SPAWN).state is State.REGRESSED
    fast = row_of(lab.check(looped(lab.run(7, {SPAWN: 5000.0 / 40}), spawn=1024 * 32)), SPAWN)
    assert "times looser" in fast.evidence[0]  # what an improvement of that size is called


def test_a_call_that_outlasts_a_value_cannot_have_fewer_than_one_loop(lab: Lab) -> None:
    assert row_of(lab.check(looped(lab.run(7, {SPAWN: 1e9}), spawn=1)), SPAWN).state is State.REGRESSED


def test_other_values_in_a_process_are_another_measurement(lab: Lab) -> None:
    row = row_of(lab.check(looped(lab.run(7), values=3)), SPAWN)
    assert row.state is State.NO_BASELINE
    assert row.evidence == [f"it was recorded with other loops: 5 values a process on record, 3 in this run; {AGAIN}"]


def test_another_isolation_says_how_to_go_on_and_leaves_its_loops_out(lab: Lab) -> None:
    run = looped(lab.run(7, changed={SPAWN: {"isolation": "mock"}}), spawn=2**20)
    (said,) = row_of(lab.check(run), SPAWN).evidence
    assert said == f"it was recorded with another isolation: the engine was noop then and is mock now; {AGAIN}"


def test_the_row_is_begun_again_by_whoever_names_it(lab: Lab) -> None:
    run = looped(lab.run(7), spawn=1024 * 64)
    refused = {name: (said, why) for name, said, why in lab.accept(run).refused}
    assert refused[SPAWN][1] is Refusal.UNLIKE
    assert refused[SPAWN][0].endswith(AGAIN)
    assert lab.row(SPAWN).loops == 1024
    lab.accept(run, "turn_spawn_ns", why="values last longer")
    row = lab.row(SPAWN)
    assert (row.loops, len(row.sessions)) == (1024 * 64, 1)
    assert row.moved is not None
    assert row_of(lab.check(looped(lab.run(8), spawn=1024 * 64)), SPAWN).state is State.THIN


@pytest.mark.parametrize(("loops", "values"), [(2048, 5), (None, 5), (1024, 3), (1024, None)])
def test_loops_that_the_newest_run_does_not_bear_out_were_edited(
    lab: Lab, loops: int | None, values: int | None
) -> None:
    path = lab.root / "baselines" / SLUG / f"{Layer.TURN.value}.toml"
    head, found, rest = path.read_text().partition(f'[kpi."{SPAWN}"]')
    lines = {"loops": loops, "values": values}
    for part, was in (("loops", 1024), ("values", 5)):
        now = "" if lines[part] is None else f"{part} = {lines[part]}\n"
        rest = rest.replace(f"{part} = {was}\n", now, 1)
    path.write_text(head + found + rest)
    with pytest.raises(BaselineError, match=r"was edited by hand: it says (loops|values) .* and its run (1024|5)"):
        lab.check(looped(lab.run(7)))


# Files of before


def held(lab: Lab, blob: bytes, today: date) -> Accepted:
    """Accept a run file by its bytes."""
    path = lab.root / "old.json"
    path.write_bytes(blob)
    return accept(lab.project, lab.catalog, Asked(), file=path, today=today)


def test_records_and_runs_of_before_stay_what_they_are(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    for session in range(6):
        held(lab, stripped(lab.run(session)), today=DAY + timedelta(days=session))
    before = lab.bytes()
    assert b"loops" not in before[f"{SLUG}/turn.toml"]
    assert held(lab, stripped(lab.run(5)), today=DAY + timedelta(days=9)).written == []
    assert lab.bytes() == before
    assert row_of(lab.check(lab.run(7)), SPAWN).state in (State.OK, State.WITHIN)
    # Whatever its loops are, there are none to hold them against.
    assert row_of(lab.check(looped(lab.run(7), 2**24)), SPAWN).state in (State.OK, State.WITHIN)


def test_a_run_of_before_that_lies_on_record_as_it_was_written_is_read(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    for session in range(2):
        held(lab, stripped(lab.run(session)), today=DAY + timedelta(days=session))
    # The names of those days: digests of what was written then, without the keys of now.
    folder = lab.root / "baselines" / SLUG
    for session in range(2):
        run = lab.run(session)
        now, then = encode(run), stripped(run)
        names = [hashlib.sha256(blob).hexdigest()[:16] for blob in (now, then)]
        (folder / "runs" / f"{names[0]}.json").unlink()
        (folder / "runs" / f"{names[1]}.json").write_bytes(then)
        for layer in folder.glob("*.toml"):
            layer.write_text(layer.read_text().replace(names[0], names[1]))
    before = lab.bytes()
    assert held(lab, stripped(lab.run(1)), today=DAY + timedelta(days=9)).written == []
    assert lab.bytes() == before
    assert exit_code(lab.check(lab.run(3)), strict=False) is Exit.OK


def test_the_first_session_that_says_its_loops_puts_them_on_record(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.sessions(6)
    assert lab.row(SPAWN).loops is None
    lab.accept(looped(lab.run(6)))
    assert (lab.row(SPAWN).loops, len(lab.row(SPAWN).sessions)) == (1024, 7)
    assert row_of(lab.check(looped(lab.run(7), spawn=2**20)), SPAWN).state is State.NO_BASELINE


def test_a_release_holds_its_loops(lab: Lab) -> None:
    lab.accept(looped(lab.run(6)), release="v1")
    file = lab.check(looped(lab.run(7), spawn=2**20))
    assert row_of(file, SPAWN, "v1").state is State.NO_BASELINE
    assert "other loops" in row_of(file, SPAWN, "v1").evidence[0]

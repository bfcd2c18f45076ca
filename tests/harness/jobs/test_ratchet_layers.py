"""Which rows may stand in one file, where the machine has changed; and what an anchor holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.jobs.ratchet_move import Refusal
from harness.record.baseline import Moved
from kpis.terms.comparison import State
from kpis.terms.kpi import Layer
from tests.harness.jobs.recorded import DAY, Lab, row_of

SPAWN = "turn_spawn_ns[phase=all]"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_new_kernel_begins_times_again_and_leaves_counts(lab: Lab) -> None:
    lab.sessions(3)
    before = lab.row("denies")
    moved_on = lab.run(3, facts={"kernel": "6.2"})
    assert {kind for _, _, kind in lab.accept(moved_on).refused} == {Refusal.UNLIKE}
    assert lab.record().layers[Layer.TURN].time["kernel"] == "6.1"
    done = lab.accept(moved_on, afresh=True, why="a new kernel")
    assert done.refused == []
    assert lab.record().layers[Layer.TURN].time["kernel"] == "6.2"
    assert len(lab.row(SPAWN).sessions) == 1
    assert lab.row(SPAWN).moved == Moved("a new kernel", DAY + timedelta(days=3))
    assert lab.row("denies") == before
    assert exit_code(lab.check(lab.run(4, facts={"kernel": "6.2"})), strict=False) is Exit.OK


def test_a_new_interpreter_begins_everything_again(lab: Lab) -> None:
    lab.sessions(3)
    newer = lab.run(3, {"engine_calls": 13}, facts={"python": "3.12.1"})
    lab.accept(newer, afresh=True, why="the new interpreter")
    assert {len(row.sessions) for _, _, row in lab.record().rows} == {1}
    assert lab.record().layers[Layer.SYSCALL].exact["python"] == "3.12.1"
    assert lab.row("engine_calls").limit == 13


def test_afresh_does_not_excuse_what_can_be_compared(lab: Lab) -> None:
    lab.sessions(3)
    newer = lab.run(3, {"engine_calls": 13}, facts={"kernel": "6.2"})
    done = lab.accept(newer, afresh=True, why="a new kernel")
    assert [(name, kind) for name, _, kind in done.refused] == [("engine_calls", Refusal.WORSE)]


def test_rows_of_two_machines_do_not_share_a_file(lab: Lab) -> None:
    lab.sessions(3)
    newer = lab.run(3, facts={"kernel": "6.2"})
    before = lab.bytes()
    done = lab.accept(newer, SPAWN, why="only this one")
    assert ("layer turn", Refusal.UNLIKE) in {(name, kind) for name, _, kind in done.refused}
    assert {name: blob for name, blob in lab.bytes().items() if name.endswith("toml")} == {
        name: blob for name, blob in before.items() if name.endswith("toml")
    }


def test_better_counts_on_a_new_kernel_leave_the_times_their_facts(lab: Lab) -> None:
    lab.sessions(3)
    lab.accept(lab.run(3, {"turns_saved[kind=all]": 13}, facts={"kernel": "6.2"}))
    assert lab.row("turns_saved[kind=all]").limit == 13
    assert lab.record().layers[Layer.TURN].time["kernel"] == "6.1"
    assert row_of(lab.check(lab.run(4)), SPAWN).state is State.THIN


def test_an_anchor_is_the_record_as_it_stands(lab: Lab) -> None:
    lab.sessions(6)
    lab.accept(lab.run(6), release="v1")
    record = lab.record()
    assert record.release is not None
    assert record.release.tag == "v1"
    assert record.release.rows == {
        name: replace(row, pending=None, waiver=None, moved=None) for _, name, row in record.rows
    }
    before = lab.bytes()
    lab.accept(lab.run(6), release="v1")
    assert lab.bytes() == before


def test_no_anchor_while_rows_are_refused(lab: Lab) -> None:
    lab.sessions(2)
    done = lab.accept(lab.run(2, {"engine_calls": 13}), release="v1")
    assert "release v1" in {name for name, _, _ in done.refused}
    assert lab.record().release is None

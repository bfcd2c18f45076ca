"""A check as a person reads it: what failed first, waivers always, rows that say the same on one line."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console

from harness.jobs.ratchet_waive import waive
from harness.record.ratchet import RatchetFile
from harness.report.ratchet_page import render_ratchet, sentence_of
from kpis.terms.comparison import State
from tests.harness.jobs.recorded import DAY, SLUG, Lab, row_of

SPAWN = "turn_spawn_ns[phase=all]"


def page(file: RatchetFile, width: int = 100, *, verbose: bool = False) -> str:
    out = io.StringIO()
    render_ratchet(file, Console(file=out, width=width), verbose=verbose)
    return out.getvalue()


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    made = Lab(tmp_path)
    made.sessions(6)
    return made


@pytest.mark.parametrize("width", [40, 80, 160])
def test_what_failed_comes_first_and_the_verdict_last(lab: Lab, width: int) -> None:
    lines = page(lab.check(lab.run(8, {SPAWN: 9000.0, "engine_calls": 13})), width).splitlines()
    words = [line.partition(":")[0] for line in lines if ":" in line and not line.startswith(" ")]
    assert words.index("regressed") < words.index("within") < words.index("ok")
    assert words[-1] == "fail"
    assert all(line == line.rstrip() for line in lines)
    assert all(len(line) <= width for line in lines if " " in line.strip() and width > 40)


def test_a_timed_row_says_what_it_gates_beyond(lab: Lab) -> None:
    file = lab.check(lab.run(8))
    row = row_of(file, SPAWN)
    assert row.beyond is not None
    assert f"gates beyond {100 * row.beyond:.1f} %" in sentence_of(row)
    assert "against 6 sessions" in sentence_of(row)
    assert f"beyond {100 * (row_of(lab.check(lab.run(8, {SPAWN: 9e3})), SPAWN).beyond or 0):.1f} %" in sentence_of(
        row_of(lab.check(lab.run(8, {SPAWN: 9e3})), SPAWN)
    )


def test_quiet_rows_are_counted_and_named_on_request(lab: Lab) -> None:
    file = lab.check(lab.run(8))
    alike = sum(not point.kpi.estimand.timed for point in lab.points.values())
    assert f"ok: {alike} rows (named with --verbose): the same as on record" in page(file)
    assert "engine_calls" not in page(file)
    assert "engine_calls" in page(file, verbose=True)


def test_a_slow_machine_is_said_once(lab: Lab) -> None:
    text = page(lab.check(lab.run(8, factor=1.4, ruler=6e6)), 1000)
    assert text.count("inconclusive:") == 1
    assert "The ruler: at the start of the run" in text


def test_a_waived_row_is_in_every_report(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.measure.machine.slug", lambda _facts: SLUG)
    last = DAY + timedelta(days=20)
    waive(lab.project, lab.catalog, ["engine_calls"], why="a known fault", until=last, today=DAY)
    assert f"waived: engine_calls: until {last}: a known fault" in page(lab.check(lab.run(8)))
    ended = page(lab.check(lab.run(8), today=last + timedelta(days=1)))
    assert f"waiver ended: engine_calls: until {last}: a known fault" in ended
    assert "fail: policy_gate by waiver of engine_calls" in ended


def test_every_state_of_a_row_has_words(lab: Lab) -> None:
    row = row_of(lab.check(lab.run(8)), SPAWN)
    for state in State:
        bare = replace(row, state=state, beyond=None, evidence=[], warnings=[])
        assert sentence_of(bare)
        assert state.value in page(replace(lab.check(lab.run(8)), rows=[bare])) or state is State.UNCHANGED

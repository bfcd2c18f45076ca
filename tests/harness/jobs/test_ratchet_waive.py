"""Waivers: a row that does not fail until a day, is shown all the same, and fails from then on."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.jobs.ratchet_waive import waive
from harness.record.ratchet import RatchetFile
from kpis.errors import SelectionError
from kpis.terms.comparison import State
from tests.harness.jobs.recorded import DAY, SLUG, Lab, row_of


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A project whose record has one session."""
    made = Lab(tmp_path)
    made.sessions(1)
    return made


def code(file: RatchetFile) -> Exit:
    return exit_code(file, strict=False)


def until(lab: Lab, monkeypatch: pytest.MonkeyPatch, name: str, day: date) -> None:
    monkeypatch.setattr("harness.measure.machine.slug", lambda _facts: SLUG)
    waive(lab.project, lab.catalog, [name], why="a known fault", until=day, today=DAY)


def test_a_waived_row_does_not_fail_and_is_shown(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    until(lab, monkeypatch, "engine_calls", DAY + timedelta(days=5))
    file = lab.check(lab.run(1, {"engine_calls": 13}))
    row = row_of(file, "engine_calls")
    assert (row.state, row.decides) == (State.REGRESSED, False)
    assert row.waiver is not None
    assert (row.waiver.why, row.waiver.expired) == ("a known fault", False)
    assert code(file) is Exit.OK
    assert row_of(lab.check(lab.run(1)), "engine_calls").waiver is not None  # whether or not it is needed
    assert code(lab.check(lab.run(1, {"engine_calls": 13, "denies": 13}))) is Exit.FAILED  # for this row alone


def test_a_waiver_holds_to_the_end_of_its_last_day_and_then_fails(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    last = DAY + timedelta(days=5)
    until(lab, monkeypatch, "engine_calls", last)
    assert code(lab.check(lab.run(1), today=last)) is Exit.OK
    file = lab.check(lab.run(1), today=last + timedelta(days=1))
    assert file.verdict.by == ("waiver of engine_calls",)
    assert code(file) is Exit.FAILED


def test_a_waiver_needs_a_reason_a_future_day_and_a_row(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.measure.machine.slug", lambda _facts: SLUG)
    day = DAY + timedelta(days=5)
    for kpis, why, end, said in (
        (["denies"], " ", day, "--why is given without a text"),
        (["denies"], "so", DAY, "not in the future"),
        (["denise"], "so", day, r"denise is not on record \(did you mean denies\?\)"),
    ):
        with pytest.raises(SelectionError, match=said):
            waive(lab.project, lab.catalog, kpis, why=why, until=end, today=DAY)

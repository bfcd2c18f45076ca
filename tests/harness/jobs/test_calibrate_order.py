"""What is recorded next: a function of the record, and fair to every kind, load, edit, factor and point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from harness.jobs.calibrate_batch import batch_after
from harness.jobs.calibrate_ground import Tried, Whom, said_of
from harness.jobs.calibrate_order import CELLS, FACTORS, edit_of, in_turn, next_cell, next_edit
from harness.jobs.calibrate_recorder import Batch
from harness.record.trials import Kind, LoadState, Trial
from harness.subject.edits import EDITS, LONGER_PATH

POINTS = ("a", "b", "c")


def whom(points: tuple[str, ...] = POINTS) -> Whom:
    """Points that bear their label for a point; all edits fit all, but a moved function is for ``a`` alone."""
    takes = {edit: frozenset(() if edit == LONGER_PATH else (f"{name}.py" for name in points)) for edit in EDITS}
    takes["moved function"] = frozenset({"a.py"})
    return Whom({name: Tried(cast("Any", name), (f"{name}.py",)) for name in points}, (), takes)


def made(batch: Batch, seed: int, first: int | None = None) -> list[Trial]:
    load = "0.1 to 0.2 on 2 cores"
    pairs = ((100.0, 100.0),)
    return [
        Trial(
            cast("str", asked.point), batch.kind, 1.0, seed, "m", load, pairs,
            asked=asked.factor, edit=asked.said, state=batch.state, suite=asked.suite,
        )
        for asked in batch.asked[:first]
    ]  # fmt: skip


def recorded(batches: int, first: int | None = None) -> list[Trial]:
    done: list[Trial] = []
    for seed in range(batches):
        done += made(batch_after(whom(), done, {}), seed, first)
    return done


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


def test_the_first_batches_are_all_kinds_on_the_idle_machine() -> None:
    done: list[Trial] = []
    found = []
    for seed in range(len(CELLS)):
        batch = batch_after(whom(), done, {})
        found.append((batch.kind, batch.state))
        done += made(batch, seed)
    assert tuple(found) == CELLS
    assert {state for _, state in found[: len(Kind)]} == {LoadState.IDLE}


@pytest.mark.parametrize("first", [None, 1, 2])
def test_every_cell_factor_edit_and_point_gets_its_share(first: int | None) -> None:
    """Also where each call of the command ends after one or two trials of a batch."""
    done = recorded(400, first)
    cells = Counter((trial.kind, trial.state) for trial in done)
    assert set(cells) == set(CELLS)
    assert max(cells.values()) - min(cells.values()) <= len(POINTS)
    for cell in CELLS:
        of = [trial for trial in done if (trial.kind, trial.state) == cell]
        if cell[0] is Kind.INJECTED:
            factors = Counter((trial.kpi, trial.asked) for trial in of)
            assert {factor for _, factor in factors} == set(FACTORS)
            assert max(factors.values()) - min(factors.values()) <= 1
        if cell[0] is Kind.NEUTRAL:
            edits = Counter((trial.kpi, edit_of(trial)) for trial in of)
            assert len(edits) == len(POINTS) * (len(EDITS) - 1) + 1
            assert max(edits.values()) - min(edits.values()) <= 2
        if cell[0] is Kind.NULL:
            points = Counter(trial.kpi for trial in of)
            assert max(points.values()) - min(points.values()) <= 1


def test_an_interrupted_batch_is_made_up_for() -> None:
    """The next batch of that edit holds those points only whose turn it still is."""
    done = made(batch_after(whom(), [], {}), 0)
    while (batch := batch_after(whom(), done, {})).kind is not Kind.NEUTRAL:
        done += made(batch, 1)
    done += made(batch, 2, 1)
    again = next(
        later
        for later in _batches(done)
        if later.kind is Kind.NEUTRAL and (later.state, later.edit) == (batch.state, batch.edit)
    )
    assert [asked.point for asked in again.asked] == ["b", "c"]


def _batches(done: list[Trial]) -> Iterator[Batch]:
    done = list(done)
    for seed in range(3, 200):
        batch = batch_after(whom(), done, {})
        yield batch
        done += made(batch, seed)


def test_the_order_of_the_record_does_not_matter() -> None:
    done = recorded(40)
    assert batch_after(whom(), done[::-1], {}) == batch_after(whom(), done, {})


def test_what_was_recorded_under_no_load_of_ours_does_not_count() -> None:
    old = [replace(trial, state=None) for trial in recorded(9)]
    first = batch_after(whom(), old, {})
    assert (first.kind, first.state) == CELLS[0]


def test_an_edit_that_is_nowhere_on_record_comes_before_one_that_is() -> None:
    fits = {edit: list(POINTS) for edit in EDITS}
    first, second = list(EDITS)[:2]
    old = [replace(trial, state=None) for trial in recorded(9) if edit_of(trial) == first]
    assert old
    assert next_edit(fits, [], LoadState.ONE) == first
    assert next_edit(fits, old, LoadState.ONE) == second
    assert next_edit({**fits, second: []}, old, LoadState.ONE) == list(EDITS)[2], "one that fits nothing is passed over"


def test_a_suite_has_a_window_of_every_point_and_says_how_many() -> None:
    batch = batch_after(whom(), [], {"a": 0.004})
    assert [(asked.point, asked.suite, asked.floor) for asked in batch.asked] == [
        ("a", 3, 0.004),
        ("b", 3, None),
        ("c", 3, None),
    ]


def test_an_edit_names_the_modules_that_its_point_touches() -> None:
    """Of many, their number and a digest: other modules are another edit."""
    neutral = next(batch for batch in _batches([]) if batch.kind is Kind.NEUTRAL)
    assert (neutral.edit, neutral.modules) == ("docstring", ("a.py", "b.py", "c.py"))
    assert [asked.said for asked in neutral.asked] == [f"docstring in {name}.py" for name in POINTS]
    assert said_of("comment", ["a.py"]) == "comment in a.py"
    assert said_of(LONGER_PATH, []) == LONGER_PATH
    many, others = said_of("comment", ["a.py", "b.py", "c.py"]), said_of("comment", ["a.py", "b.py", "d.py"])
    assert many.startswith("comment in 3 modules (")
    assert many != others


def test_one_core_is_all_of_them_where_there_is_but_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    assert {trial.state for trial in recorded(12)} == {LoadState.IDLE, LoadState.ALL}


def test_in_turn_keeps_the_order_of_equals() -> None:
    assert in_turn(["c", "a", "b"], []) == ["c", "a", "b"]
    assert next_cell(POINTS, [], [LoadState.ALL])[1] is LoadState.ALL

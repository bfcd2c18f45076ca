"""Counts against those on record: any worse one regressed, and an equal total may differ all the same."""

from __future__ import annotations

import pytest

from harness.judge.ratchet import BUDGET
from harness.judge.ratchet_counts import compare_counts
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction
from tests.harness.judge.sessions import HIGHER, LOWER, NEUTRAL


@pytest.mark.parametrize(
    ("limit", "now", "direction", "expected"),
    [
        (10, 11, LOWER, State.REGRESSED),
        (10, 9, LOWER, State.IMPROVED),
        (10, 10, LOWER, State.OK),
        (10, 9, HIGHER, State.REGRESSED),
        (10, 9, NEUTRAL, State.REGRESSED),
        (10, 11, NEUTRAL, State.REGRESSED),
        (0, 1, LOWER, State.REGRESSED),
        (0.75, 0.7500001, LOWER, State.REGRESSED),
    ],
)
def test_any_worse_count_regressed(limit: float, now: float, direction: Direction, expected: State) -> None:
    assert compare_counts(limit, now, direction).state is expected


def test_an_invariant_has_to_hold() -> None:
    assert compare_counts(1, 0, HIGHER, holds=True).state is State.REGRESSED
    assert compare_counts(0, 0, HIGHER, holds=True).state is State.REGRESSED
    assert compare_counts(1, 1, HIGHER, holds=True).state is State.OK


def test_a_histogram_of_the_same_total_is_told_apart() -> None:
    found = compare_counts(12, 12, NEUTRAL, histograms=({"allow": 8, "deny": 4}, {"allow": 7, "deny": 5}))
    assert found.state is State.REGRESSED
    assert "allow 8 -> 7, deny 4 -> 5" in found.evidence[-1]


def test_a_count_may_use_up_a_budget() -> None:
    assert compare_counts(100, 105, LOWER, budget=BUDGET).state is State.OK
    assert compare_counts(100, 106, LOWER, budget=BUDGET).state is State.REGRESSED

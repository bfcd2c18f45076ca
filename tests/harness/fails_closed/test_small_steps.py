"""Steps that are each too small to alarm add up, and a base that stays where the release was sees the sum."""

from __future__ import annotations

import pytest

from ci.gatebench.generate import stream
from ci.gatebench.rules import judge_in_order
from harness.judge.rule import DELTA
from kpis.terms.comparison import State

STEP = 1.019
RELEASES = 8


# https://github.com/microsoft/mssql-rs/pull/367: each step was accepted into the base of the next.
def test_no_step_is_a_regression_against_the_commit_before_it() -> None:
    """This is the gap, not a merit: under the margin nobody is asked."""
    assert STEP - 1 < DELTA
    steps = [stream("iid", STEP, seed=seed).pairs for seed in range(RELEASES)]
    assert State.REGRESSED not in {found.state for found in judge_in_order(steps)}


@pytest.mark.parametrize("steps", [4, RELEASES])
def test_the_sum_of_the_steps_is_a_regression_against_the_release(steps: int) -> None:
    summed = [stream("iid", STEP**steps, seed=seed).pairs for seed in range(RELEASES)]
    found = judge_in_order(summed)
    assert {each.state for each in found} == {State.REGRESSED}
    for each in found:
        assert each.low is not None
        assert each.high is not None
        assert each.low < STEP**steps < each.high or each.low == pytest.approx(STEP**steps, rel=0.01)

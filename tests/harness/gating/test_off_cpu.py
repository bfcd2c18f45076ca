"""Time that the wall clock sees and the CPU does not: told from the pairs in which both sides took CPU time."""

from __future__ import annotations

from typing import Any, cast

import pytest

from harness.gating.timed import TimedPoint, off_cpu
from harness.judge.rule import Rule
from harness.judge.sequence import PointJudge
from kpis.terms.kpi import Direction

SLOWER = (100.0, 200.0)


def seen(pairs: list[tuple[float, float]], cpu: list[tuple[float, float]]) -> bool:
    point = TimedPoint(cast("Any", None), PointJudge(Direction.LOWER), pairs=pairs, cpu=cpu)
    return off_cpu(point, Rule())


@pytest.mark.parametrize("zero", [(0.0, 200.0), (100.0, 0.0), (0.0, 0.0)])
def test_one_pair_without_cpu_time_does_not_decide(zero: tuple[float, float]) -> None:
    assert seen([SLOWER] * 5, [SLOWER] * 4 + [zero]) is False
    assert seen([SLOWER] * 5, [(90.0, 90.0)] * 4 + [zero]) is True


def test_the_wall_is_asked_of_the_same_pairs() -> None:
    still = (100.0, 100.0)
    assert seen([still, still, SLOWER, SLOWER, SLOWER], [still, still, *[(0.0, 0.0)] * 3]) is False


def test_where_no_pair_took_cpu_time_all_of_it_was_waiting_and_without_pairs_nothing_was() -> None:
    assert seen([SLOWER] * 3, [(0.0, 0.0)] * 3) is True
    assert seen([], []) is False

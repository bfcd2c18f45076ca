"""The growth row of a gate: steeper, flatter or the same, from the pairs of its points; it never decides."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from harness.gating.growth import compare_growth, growth_of
from harness.gating.timed import TimedPoint
from harness.jobs.plan import PlannedPoint
from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.sequence import PointJudge
from kpis.registry import load
from kpis.terms.claim import VerdictState
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction, Gate

KPI = replace(load().get("planner_optimize_ns"), sweep={"history": ("10", "100", "1000")})
POINTS = [PlannedPoint(KPI, at, ("reference", "x:y"), None, "p:P") for at in KPI.swept()]


def timed(power: float, pairs: int = 16) -> dict[str, TimedPoint]:
    rng = Random(5)
    found = {}
    for point in POINTS:
        length = float(point.params["history"])
        each = TimedPoint(point, PointJudge(Direction.LOWER))
        for _ in range(pairs):
            base = 1e3 * length * rng.gauss(1, 0.01)
            each.pairs.append((base, base * 1.01 * (length / 10) ** power * rng.gauss(1, 0.01)))
        found[point.key] = each
    return found


def test_the_row_needs_every_length() -> None:
    assert list(growth_of(POINTS)) == ["planner_optimize_ns"]
    assert growth_of(POINTS[:2]) == {}
    row, lengths = growth_of(POINTS)["planner_optimize_ns"]
    assert row.kpi.id == "planner_optimize_ns_growth"
    assert lengths == POINTS


def test_linear_that_turns_quadratic_is_regressed_although_the_shortest_moved_by_one_per_cent() -> None:
    found = compare_growth(POINTS, timed(0.9))
    assert found.state is State.REGRESSED
    assert "slope 1.00 on the base and 1.90 on the head" in found.evidence[0]
    assert found.low is not None
    assert found.low > 10**0.15


def test_the_same_growth_is_ok_and_a_flatter_one_improved() -> None:
    assert compare_growth(POINTS, timed(0.0)).state is State.OK
    assert compare_growth(POINTS, timed(-0.5)).state is State.IMPROVED


def test_a_length_that_was_not_timed_leaves_it_open() -> None:
    assert compare_growth(POINTS, timed(0.9, pairs=8)).state is State.INCONCLUSIVE
    lacking = timed(0.9)
    del lacking[POINTS[1].key]
    assert compare_growth(POINTS, lacking).state is State.INCONCLUSIVE


def test_a_steeper_slope_decides_nothing() -> None:
    steeper = compare_growth(POINTS, timed(0.9))
    row = growth_of(POINTS)["planner_optimize_ns"][0].kpi
    assert row.gate is Gate.REPORT
    quiet = compare_growth(POINTS, timed(0.0))
    claims = [
        claim_of(row.id, steeper, row.gate, row.direction),
        claim_of("other", quiet, Gate.TIMED, Direction.LOWER),
    ]
    assert compose(claims, coverage_of({row.id: steeper, "other": quiet})).state is VerdictState.PASS

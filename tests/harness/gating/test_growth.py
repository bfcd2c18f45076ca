"""The growth row of a gate: steeper, flatter or the same, from the pairs of its points; it never decides."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from harness.gating.growth import compare_growth, growth_of
from harness.gating.options import GateOptions
from harness.gating.points import gate_points, lengths_left
from harness.gating.rows import label
from harness.gating.timed import TimedPoint
from harness.jobs.plan import PlannedPoint
from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.sequence import PointJudge
from harness.measure.pairs import Load
from kpis.registry import load
from kpis.terms.claim import VerdictState
from kpis.terms.comparison import Comparison, ComparisonWarn, State
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
    found = compare_growth(POINTS, timed(0.9), {})
    assert found.state is State.REGRESSED
    assert "slope 1.00 on the base and 1.90 on the head" in found.evidence[0]
    assert found.low is not None
    assert found.low > 10**0.15


def test_the_same_growth_is_ok_and_a_flatter_one_improved() -> None:
    assert compare_growth(POINTS, timed(0.0), {}).state is State.OK
    assert compare_growth(POINTS, timed(-0.5), {}).state is State.IMPROVED


def test_a_length_that_was_not_timed_leaves_it_open_and_is_named_with_the_reason() -> None:
    lacking = timed(0.9)
    del lacking[POINTS[1].key]
    lacking[POINTS[2].key].pairs[8:] = []
    ends = {label(POINTS[1]): Comparison(State.UNCHANGED), label(POINTS[2]): Comparison(State.INCONCLUSIVE)}
    found = compare_growth(POINTS, lacking, ends)
    assert found.state is State.INCONCLUSIVE
    assert found.evidence[0] == (
        "a slope needs 16 pairs at every length of history: 100 is unchanged, 1000 is inconclusive with 8 of them"
    )
    assert "10 is" not in found.evidence[0]


def test_what_a_suspect_gets_besides_its_screen_is_not_read() -> None:
    """Whether a point gets more pairs depends on its first ones, so that a bound over all of them would not hold."""
    steep, plain = timed(0.9, pairs=112), timed(0.9)
    for key, point in steep.items():
        point.pairs[16:] = [(base, base) for base, _ in point.pairs[16:]]
        point.pairs[:16] = plain[key].pairs
    assert compare_growth(POINTS, steep, {}) == compare_growth(POINTS, plain, {})


def test_a_slope_over_an_injected_point_is_marked() -> None:
    slowed = timed(0.0)
    slowed[POINTS[2].key].load = Load(100, means=True, inject=1.5)
    found = compare_growth(POINTS, slowed, {})
    assert found.evidence[1] == "injected at history 1000: this row is a self-test"
    assert not any("injected" in said for said in compare_growth(POINTS, timed(0.0), {}).evidence)


def test_a_steeper_slope_decides_nothing() -> None:
    steeper = compare_growth(POINTS, timed(0.9), {})
    row = growth_of(POINTS)["planner_optimize_ns"][0].kpi
    assert row.gate is Gate.REPORT
    quiet = compare_growth(POINTS, timed(0.0), {})
    claims = [
        claim_of(row.id, steeper, row.gate, row.direction),
        claim_of("other", quiet, Gate.TIMED, Direction.LOWER),
    ]
    owed = coverage_of({row.id: steeper, "other": quiet}, reported={row.id})
    assert (owed.wanted, owed.seen) == (1, 1)
    assert compose(claims, owed).state is VerdictState.PASS
    assert [notice.code for notice in steeper.warnings] == [ComparisonWarn.REPORTED]


def test_a_growth_row_that_is_named_brings_its_lengths() -> None:
    runtimes = [("reference", "seams.runtimes.reference:make")]
    alone = gate_points(load(), runtimes, GateOptions(against="HEAD", kpis=("turn_reap_ns",)))
    assert [point.params.get("history") for point in alone.timed] == [None]
    said = lengths_left(alone)
    assert said is not None
    assert said.endswith("--kpi turn_reap_ns_growth")
    named = gate_points(load(), runtimes, GateOptions(against="HEAD", kpis=("turn_reap_ns_growth",)))
    assert [point.params["history"] for point in named.timed] == ["10", "100", "1000"]
    assert list(growth_of(named.timed)) == ["turn_reap_ns"]
    assert lengths_left(named) is None
    every = gate_points(load(), runtimes, GateOptions(against="HEAD", kpis=("turn_reap_ns",), all_params=True))
    assert lengths_left(every) is None
    assert lengths_left(gate_points(load(), runtimes, GateOptions(against="HEAD", kpis=("denies",)))) is None

"""Growth rows: who has one, what it is read from, and the slope itself."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.growth import slope, weights
from kpis.growth import growth_points, growth_row, with_growth
from kpis.registry import load
from kpis.terms.kpi import Direction, Gate, Takes
from kpis.terms.quantity import Unit

TIMED = replace(load().get("planner_optimize_ns"), sweep={}, sweep_at={})
LENGTHS = ("10", "100", "1000")


def test_the_name_of_the_parameter_makes_the_row() -> None:
    swept = replace(TIMED, sweep={"history": LENGTHS})
    row = growth_row(swept)
    assert row is not None
    assert (row.id, row.unit, row.gate, row.direction) == (
        "planner_optimize_ns_growth",
        Unit.RATIO,
        Gate.REPORT,
        Direction.LOWER,
    )
    assert row.derived
    assert growth_points(swept) == [{**TIMED.gate_point, "history": length} for length in LENGTHS]
    elsewhere = replace(swept, sweep_at={"objective": "exact"})
    assert growth_points(elsewhere)[0] == {"objective": "exact", "history": "10"} == elsewhere.swept()[0]
    as_param = replace(TIMED, params={"history": ("1000", "10", "100")}, gate_point={"history": "10"})
    assert [point["history"] for point in growth_points(as_param)] == list(LENGTHS)
    assert [kpi.id for kpi in with_growth([TIMED, swept])] == [TIMED.id, swept.id, row.id]


def test_a_history_beside_a_workload_has_a_slope_for_each_and_a_swept_one_names_none() -> None:
    params = {"history": LENGTHS, "size": ("1", "2")}
    beside = replace(TIMED, params=params, gate_point={"history": "10", "size": "2"}, default_workload=False)
    row = growth_row(beside)
    assert row is not None
    assert (row.takes, row.default_workload) == (Takes.SESSION, False)
    swept = growth_row(replace(TIMED, sweep={"history": LENGTHS}))
    assert swept is not None
    assert (swept.takes, swept.default_workload) == (Takes.NONE, True)
    # What else is swept is swept elsewhere: the lengths in `params` are points of the product.
    both = replace(beside, sweep={"depth": ("1", "2")}, sweep_at={"size": "1"})
    assert growth_points(both) == [{"history": length, "size": "2"} for length in LENGTHS]


def test_a_count_has_a_slope_as_well_and_its_fence_knows_no_clock() -> None:
    row = growth_row(replace(load().get("denies"), sweep={"history": LENGTHS}))
    assert row is not None
    assert (row.gate, row.unit) == (Gate.REPORT, Unit.RATIO)
    assert "exact counts, with no clock" in row.fence
    assert "were timed" not in row.fence


def test_what_is_kept_of_a_session_grows_beside_what_it_takes_to_restore_it() -> None:
    for name in ("checkpoint_bytes_per_turn", "sqlite_restore_ns", "session_restore_ns"):
        kpi = load().get(f"{name}_growth")
        assert kpi.inputs == (name,)
        assert [point["history"] for point in growth_points(load().get(name))] == list(LENGTHS)


def test_two_spellings_of_one_length_are_one_length() -> None:
    spelt = replace(TIMED, sweep={"history": ("010", "10", "100", "1000")})
    assert [point["history"] for point in growth_points(spelt)] == ["010", "100", "1000"]
    assert growth_points(replace(TIMED, sweep={"history": ("10", "010", "100")})) == []


@pytest.mark.parametrize(
    "kpi",
    [
        TIMED,
        replace(TIMED, sweep={"history": ("10", "100")}),
        replace(TIMED, sweep={"history": ("10", "100", "many")}),
        replace(TIMED, sweep={"history": ("10", "10", "0", "-1")}),
        replace(TIMED, sweep={"size": LENGTHS}),
        replace(load().get("denies"), sweep={"history": LENGTHS[:2]}),
        replace(load().get("cache_hit_rate"), sweep={"history": LENGTHS}),
        replace(load().get("tamper_fail_closed"), sweep={"history": LENGTHS}),
        replace(load().get("fold_turns"), sweep={"history": LENGTHS}),
    ],
    ids=["none", "two", "a word", "one length", "another key", "two counts", "a share", "an invariant", "a model"],
)
def test_what_makes_no_slope_has_no_row(kpi) -> None:
    assert growth_row(kpi) is None


@given(
    power=st.floats(-1, 3),
    factor=st.floats(1e-3, 1e6),
    lengths=st.lists(st.integers(1, 10**6), min_size=3, max_size=6, unique=True),
)
def test_a_power_law_has_its_power_as_slope(power: float, factor: float, lengths: list[int]) -> None:
    assert slope(lengths, [factor * length**power for length in lengths]) == pytest.approx(power, abs=1e-6)
    assert math.fsum(weights(lengths)) == pytest.approx(0, abs=1e-9)


def test_one_length_or_no_cost_has_no_slope() -> None:
    with pytest.raises(ValueError, match="no slope"):
        slope([10, 10], [1, 2])
    with pytest.raises(ValueError, match=r"."):
        slope([10, 100], [0, 2])

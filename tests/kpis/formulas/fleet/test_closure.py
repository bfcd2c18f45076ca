"""The rates of closed work."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.fleet.closure import closure_rate, honest_close_rate
from kpis.registry import load
from seams.contract.fleet_closure import Bucket

COUNTS = st.integers(0, 10_000)


def test_one_of_three() -> None:
    assert closure_rate(1, 2) == 0.3333


def test_data_counts_for_the_wider_rate_alone() -> None:
    assert closure_rate(1, 1) == 0.5
    assert honest_close_rate(1, 1, 1) == 0.6667


def test_nothing_closed_is_no_rate() -> None:
    assert closure_rate(0, 0) is None
    assert honest_close_rate(0, 0, 0) is None
    assert honest_close_rate(0, 1, 0) == 1.0


@given(COUNTS, COUNTS, COUNTS)
def test_the_wider_rate_is_never_below(resolved: int, by_data: int, claimed: int) -> None:
    narrow, wide = closure_rate(resolved, claimed), honest_close_rate(resolved, by_data, claimed)
    assert narrow is None or (wide is not None and 0 <= narrow <= wide <= 1)


def test_the_histogram_of_both_rows_has_the_seams_buckets() -> None:
    for kpi in ("closure_rate", "honest_close_rate"):
        assert load().get(kpi).reasons == tuple(each.value for each in Bucket)

"""Credited and refused tokens of siblings; collisions; shapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.fleet.arbiter import collisions
from kpis.formulas.fleet.fanout import prefix_tokens
from kpis.formulas.fleet.topology import BASELINE, Shape, search, valued


@pytest.mark.parametrize(
    ("siblings", "saved"), [(1, 0), (2, 2048), (4, 6144), (16, 30720), (64, 129024), (256, 522240), (1024, 2095104)]
)
def test_siblings_that_were_all_shown(siblings: int, saved: int) -> None:
    assert prefix_tokens(siblings, 2048, siblings) == (saved, 0)


def test_beyond_what_was_shown_the_rest_is_refused() -> None:
    assert prefix_tokens(1024, 2048, 16) == (30720, 2064384)


@given(st.integers(1, 5000), st.integers(0, 5000), st.integers(0, 5000))
def test_both_parts_make_up_the_whole(siblings: int, prefix: int, shown: int) -> None:
    found = prefix_tokens(siblings, prefix, shown)
    assert found.credited + found.refused == (siblings - 1) * prefix
    assert min(found) >= 0
    assert prefix_tokens(siblings, prefix, shown + 1).credited >= found.credited
    if shown <= 1:
        assert found.credited == 0


@pytest.mark.parametrize("given_", [(0, 1, 1), (1, -1, 1), (1, 1, -1)])
def test_what_is_no_fan_out(given_: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no fan-out"):
        prefix_tokens(*given_)


@pytest.mark.parametrize(("workers", "pairs"), [(1, 0), (2, 1), (4, 6), (8, 28), (16, 120)])
def test_one_lane_for_all_and_one_for_each(workers: int, pairs: int) -> None:
    assert collisions(workers, 1) == pairs
    assert collisions(workers, workers) == collisions(workers, workers + 5) == 0


def test_sixteen_workers_on_four_lanes() -> None:
    assert collisions(16, 4) == 24
    assert collisions(0, 0) == collisions(-3, 2) == 0


@given(st.integers(1, 200), st.integers(1, 200))
def test_one_more_lane_is_never_worse_and_counts_what_is_dealt(workers: int, lanes: int) -> None:
    assert collisions(workers, lanes + 1) <= collisions(workers, lanes)
    dealt = [worker % lanes for worker in range(workers)]
    assert collisions(workers, lanes) == sum(dealt[:at].count(lane) for at, lane in enumerate(dealt))


GRID = (1, 2, 4, 8, 16)


def test_the_best_shape_has_all_that_was_shown_and_nobody_in_the_way() -> None:
    found = search(GRID, GRID, 16, 2048, lambda width: 3 * width)
    assert BASELINE.name == "topo-w0004-l001"
    assert len(found.shapes) == 25  # the baseline is on the grid, once
    base = found.shapes[0]
    assert (base.shape, base.collisions, base.credited) == (BASELINE, 6, 3 * 2048 + 12)
    assert found.best.shape == Shape(16, 4, 16)
    assert found.best in found.frontier
    assert found.best.credited > base.credited
    assert (found.best.collisions, found.best.bounded, found.best.refused) == (0, False, 0)


def test_a_wider_shape_is_credited_like_the_widest_that_was_shown() -> None:
    wide = valued(Shape(64, 4, 64), 16, 2048, lambda width: 10 * width)
    shown = valued(Shape(16, 4, 16), 16, 2048, lambda width: 10 * width)
    assert wide.credited == shown.credited == 15 * 2048 + 160
    assert (wide.measured, wide.refused, wide.bounded) == (63 * 2048 + 640, 48 * 2048 + 480, True)


def test_of_equals_the_fewest_collisions_then_the_narrowest() -> None:
    found = search((16, 32), (1, 16), 16, 100, lambda _: 0)
    assert found.best.shape == Shape(16, 4, 16)
    # 32 on 16 lanes saves as much and has collisions: it is dominated, and so is either width on one lane.
    assert [each.shape.name for each in found.frontier] == ["topo-w0016-l016"]


def test_an_empty_grid_and_a_width_that_nobody_showed() -> None:
    for widths, lanes in (((), GRID), (GRID, ())):
        with pytest.raises(ValueError, match="at least one of each"):
            search(widths, lanes, 16, 2048, lambda _: 0)
    with pytest.raises(ValueError, match="nothing can be credited"):
        search(GRID, GRID, 0, 2048, lambda _: 0)

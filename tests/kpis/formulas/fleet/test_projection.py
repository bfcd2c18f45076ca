"""The cost model of a fan-out, row by row."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.fleet.projection import KNOBS, break_even, fold_join_ns, fold_turns, limits, project

ROWS = [
    # agents, uplift, naive, reuse, clawed back, critical, total, speed-up, turns a second, dedup tokens, net tokens
    (1, 0, 1.0718, 1.2557, 0, 6, 6, 1.0, 0.6667, 0, -512),
    (2, 0, 2.1437, 1.6655, 0.4181, 6, 10, 1.667, 1.1111, 0, 1331),
    (4, 2, 4.2874, 2.4851, 0.5483, 6, 18, 3.0, 2.0, 752, 5769),
    (16, 12, 17.1494, 7.4023, 0.6036, 6, 66, 11.0, 7.3333, 4512, 31648),
    (100, 93, 107.1839, 41.8230, 0.6155, 10, 406, 40.6, 27.0667, 34968, 216932),
    (1000, 990, 1071.8391, 410.6161, 0.6175, 55, 4051, 73.655, 49.103, 372240, 2213084),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"agents={row[0]}")
def test_golden_rows(row: tuple[float, ...]) -> None:
    found = project(int(row[0]), int(row[1]))
    assert (found.naive, found.reuse, found.clawed_back) == pytest.approx(row[2:5], abs=5.1e-5)
    assert (found.critical, found.total) == row[5:7]
    assert found.speedup == pytest.approx(row[7], abs=5e-4)
    assert found.turns_per_s == pytest.approx(row[8], abs=5e-4)
    assert (found.dedup_tokens, found.net_tokens) == row[9:]
    assert found.net_usd == pytest.approx(row[10] * 3e-6)


def test_the_row_of_256_agents() -> None:
    found = project(256)
    assert (round(found.clawed_back, 4), round(found.speedup, 3), found.fold_turns) == (0.6169, 57.667, 13)


def test_a_fold_is_in_whole_turns() -> None:
    assert [fold_turns(agents) for agents in (1, 16, 20, 21, 100, 1000)] == [1, 1, 1, 2, 5, 50]
    assert fold_join_ns(100) == 5 * 1_500_000_000
    assert fold_join_ns(16) == 1_500_000_000
    assert fold_turns(7, {**KNOBS, "fold_budget": 0}) == 7 * 200


@pytest.mark.parametrize(("agents", "more", "over"), [(100, 4, 0.667), (500, 24, 4.0), (1000, 49, 8.1667)])
def test_what_the_fold_adds_to_the_longest_path(agents: int, more: int, over: float) -> None:
    assert project(agents).overhead == more
    assert more / project(1).critical == pytest.approx(over, abs=5e-4)


def test_the_speed_up_is_not_monotone() -> None:
    assert project(1000).speedup == pytest.approx(73.655, abs=5e-4)
    assert project(1024).speedup == pytest.approx(72.789, abs=5e-4)


def test_where_it_goes_without_end() -> None:
    clawed, speedup = limits()
    assert clawed == pytest.approx(0.617694, abs=5e-7)
    assert speedup == pytest.approx(81)
    many = project(10_000_000)
    assert (many.clawed_back, many.speedup) == pytest.approx((clawed, speedup), rel=1e-4)
    assert limits({**KNOBS, "fold_tokens_per_result": 0})[1] == float("inf")


def test_two_agents_break_even() -> None:
    assert break_even() == 2
    assert [project(agents).net_tokens > 0 for agents in (1, 2)] == [False, True]
    assert break_even({**KNOBS, "cache_read": 1.0}) is None
    assert break_even({**KNOBS, "prefix_tokens": 0}) is None


@given(st.floats(0, 0.95), st.floats(0, 40), st.integers(1, 5000))
def test_the_break_even_is_the_first_that_saves(read: float, write: float, prefix: int) -> None:
    knobs = {**KNOBS, "cache_read": read, "cache_write": write, "prefix_tokens": prefix}
    found = break_even(knobs)
    assert found is not None
    assert project(found, knobs=knobs).net_tokens > 0
    assert found == 1 or project(found - 1, knobs=knobs).net_tokens <= 0


def test_fewer_than_one_agent_are_one() -> None:
    assert project(0) == project(-5) == project(1)
    assert fold_turns(0) == 1


def test_net_tokens_are_cut_toward_zero_and_a_negative_uplift_counts() -> None:
    assert project(1).net_tokens == -512
    odd = {**KNOBS, "cache_write": 1.2503}
    assert project(1, knobs=odd).net_tokens == -512  # -512.6
    assert project(16, -3).dedup_tokens == -3 * 376


@given(st.integers(1, 3000))
def test_the_clawed_back_share_is_one(agents: int) -> None:
    found = project(agents)
    assert 0 <= found.clawed_back <= 1
    assert found.total / found.critical == found.speedup
    assert found.speedup <= agents * KNOBS["sub_turns"]


def test_a_missing_knob_is_named() -> None:
    with pytest.raises(KeyError, match="cache_read"):
        project(2, knobs=MappingProxyType({name: value for name, value in KNOBS.items() if name != "cache_read"}))

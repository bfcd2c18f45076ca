"""The reference metric: its trace, its curve, and the price that keeps bigger from always being better."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.rsi.lru import ENTRIES, SLOT_COST, TRACE_LENGTH, WORKING_SET, hits, objective, reference_trace

TRACE = reference_trace()
CURVE = [hits(TRACE, size) for size in range(ENTRIES + 3)]


def best(cost: float) -> int:
    return max(range(len(CURVE)), key=lambda size: objective(CURVE[size], len(TRACE), size, cost))


def test_the_trace_to_the_byte():
    assert len(TRACE) == TRACE_LENGTH == sum(6 * (distance + 2) for distance in range(1, 12))
    assert len(set(TRACE)) == ENTRIES
    assert TRACE[:10] == (7, 101, 7, 8, 102, 8, 9, 103, 9, 10)
    digest = sha256(",".join(map(str, TRACE)).encode()).hexdigest()
    assert digest == "bd3700e4433b78ad7f65f48ed55fae039e25cd4efee683dd248621b7eb5523ff"


def test_the_curve():
    assert [CURVE[size] for size in (1, 2, 4, 6, 8, 10, 12)] == [0, 6, 36, 83, 150, 247, 373]
    assert [round(CURVE[size] / 528, 6) for size in (4, 6, 8, 12)] == [0.068182, 0.157197, 0.284091, 0.706439]
    assert hits(TRACE, 0) == hits(TRACE, -5) == 0


def test_the_curve_goes_on_beyond_the_working_set_and_ends_at_all_keys():
    assert CURVE[WORKING_SET] < CURVE[WORKING_SET + 1] < CURVE[ENTRIES]
    assert CURVE[ENTRIES] == CURVE[ENTRIES + 1] == TRACE_LENGTH - ENTRIES == hits(TRACE, 10**9)


def test_bigger_is_not_always_better_and_the_cost_is_what_makes_it_so():
    assert best(0) == ENTRIES
    assert best(SLOT_COST) == WORKING_SET
    assert best(50) == 0


def test_the_costs_at_which_the_working_set_is_best():
    # Two slots more bring 36 hits, and the working set brings 373 in all.
    assert CURVE[14] - CURVE[12] == 36
    assert (best(17.9), best(18.1), best(373 / 12 - 0.1), best(373 / 12 + 0.1)) == (14, 12, 12, 0)
    assert 36 / 2 < SLOT_COST < 373 / 12


def test_a_rate_over_no_request_is_refused():
    with pytest.raises(ValueError, match=r"no request.*Run: "):
        objective(0, 0, 4)


def test_a_size_below_zero_earns_nothing():
    assert objective(0, 528, 0) == 0
    with pytest.raises(ValueError, match=r"-3 slots.*Run: "):
        objective(0, 528, -3)


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(0, 12))
def test_a_hit_is_a_key_whose_last_request_has_fewer_than_size_others_after_it(trace, size):
    found = 0
    for at, key in enumerate(trace):
        before = [place for place in range(at) if trace[place] == key]
        found += bool(before) and len(set(trace[before[-1] + 1 : at])) < size
    assert hits(trace, size) == found

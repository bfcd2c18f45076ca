from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.session.radix import (
    budget_of,
    common_prefix,
    declared_once,
    distinct_tokens,
    hit_rate,
    most_reused,
    speedup,
)

REQUESTS = st.lists(st.lists(st.integers(0, 2), max_size=6), max_size=8)


@pytest.mark.parametrize(
    ("requests", "shared", "saved"),
    [
        ([], 0, 0),
        ([[1, 2, 3, 4]], 4, 0),
        ([[9, 8, 7, 1], [9, 8, 7, 2, 2], [9, 8, 7]], 3, 6),
        ([[1], [2]], 0, 0),
    ],
)
def test_what_all_requests_begin_with(requests, shared, saved) -> None:
    assert declared_once(requests) == (shared, saved)


def test_rates_of_nothing_are_none() -> None:
    assert hit_rate(0, 0) is None
    assert speedup(5, 5) is None
    assert (hit_rate(3, 4), speedup(3, 4)) == (0.75, 4)
    assert budget_of([]) == 0
    assert budget_of([[1, 2, 3], [1]]) == 4


@given(REQUESTS)
def test_a_tree_holds_what_was_not_reused(requests) -> None:
    assert distinct_tokens(requests) == sum(map(len, requests)) - sum(most_reused(requests))
    prefixes = {tuple(each[:end]) for each in requests for end in range(1, len(each) + 1)}
    assert distinct_tokens(requests) == len(prefixes)


@given(REQUESTS.filter(bool))
def test_what_is_declared_once_is_in_every_request(requests) -> None:
    shared, _ = declared_once(requests)
    assert shared == min(common_prefix(requests[0], each) for each in requests)

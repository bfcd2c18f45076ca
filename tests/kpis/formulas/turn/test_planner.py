from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.turn import planner as forms
from seams.turn.index import CUT


def test_the_cap_is_the_cut_of_the_index() -> None:
    assert forms.CAP == CUT


@pytest.mark.parametrize(("turns", "scored"), [(0, 0), (50, 1_275), (100, 5_050), (1_000, 500_500)])
def test_full_scan_goldens(turns: int, scored: int) -> None:
    assert forms.full_scan(turns) == scored


@given(st.integers(0, 400), st.integers(0, 300))
def test_scans_are_the_sums_they_stand_for(n: int, cap: int) -> None:
    assert forms.full_scan(n) == sum(range(n + 1)) == forms.scan_of(range(1, n + 1))
    assert forms.bounded_scan(n, cap) == sum(min(i, cap) for i in range(1, n + 1))
    assert forms.bounded_scan(n, cap) == forms.scan_of(range(1, n + 1), cap)
    assert forms.bounded_scan(n, cap) <= forms.full_scan(n)


def test_a_turn_may_bring_several_spans() -> None:
    assert forms.scan_of([3, 7, 200]) == 210
    assert forms.scan_of([3, 7, 200], 128) == 138


@pytest.mark.parametrize("call", [lambda: forms.full_scan(-1), lambda: forms.bounded_scan(1, -1)])
def test_what_counts_nothing_is_refused(call) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        call()

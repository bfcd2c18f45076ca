from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.turn import scaling as forms
from kpis.formulas.turn.planner import bounded_scan, full_scan

B, W, P, RHO = 700, 8000, 0.9, 0.7

GOLDENS = [
    # n, linear resident, linear flow, flow as charged, true flow, recall, faults, tax, scan as charged
    (50, 35_000, 892_500, 358_600, 358_200, 0.2401, 5, 3_500, 6_400),
    (100, 70_000, 3_535_000, 758_600, 758_200, 0.057648, 10, 7_000, 12_800),
    (1_000, 700_000, 350_350_000, 7_958_600, 7_958_200, 3.338e-14, 100, 70_000, 128_000),
]


@pytest.mark.parametrize("row", GOLDENS, ids=lambda row: f"n={row[0]}")
def test_scaling_goldens(row: tuple[float, ...]) -> None:
    n = int(row[0])
    assert (
        forms.linear_resident(n, B),
        forms.linear_flow(n, B),
        forms.capped_flow_charged(n, B, W),
        forms.capped_flow(n, B, W),
        forms.fault_tax(n, B, P),
        forms.bounded_scan_charged(n),
    ) == (*row[1:5], *row[7:])
    assert forms.compaction_recall(n, B, W, RHO) == pytest.approx(row[5], rel=1e-4)
    assert forms.expected_faults(n, P) == pytest.approx(row[6])
    assert forms.planned_resident(n, B, W) == 8_000


def test_a_charged_bound_exceeds_the_full_scan_below_255_turns() -> None:
    assert forms.bounded_scan_charged(254) > full_scan(254)
    assert forms.bounded_scan_charged(255) == full_scan(255)
    assert forms.bounded_scan_charged(256) < full_scan(256)


@given(st.integers(0, 400), st.integers(0, 300))
def test_the_charged_bound_is_never_below_the_true_one(n: int, cap: int) -> None:
    assert forms.bounded_scan_charged(n, cap) >= bounded_scan(n, cap)


@given(st.integers(0, 400), st.integers(0, 90), st.integers(0, 900))
def test_the_capped_flow_is_the_sum_it_stands_for(n: int, b: int, w: int) -> None:
    true = sum(min(b * i, w) for i in range(1, n + 1))
    assert forms.capped_flow(n, b, w) == true
    charged = forms.capped_flow_charged(n, b, w)
    if b and -(-w // b) <= n:
        assert charged - true == -(-w // b) * b - w
    else:
        assert charged == true


def test_a_perfect_forecast_pays_no_tax() -> None:
    assert forms.fault_tax(100, B, 1.0) == 0
    assert forms.fault_tax(1, 1, 0.5) == 1  # a half rounds up


def test_recall_corners() -> None:
    assert forms.compaction_recall(10, B, 0, RHO) == RHO
    assert forms.compaction_recall(50, B, W, 0) == forms.compaction_recall(50, B, W, 0.5)
    assert forms.compaction_recall(1, B, W, RHO) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: forms.bounded_scan_charged(-1),
        lambda: forms.linear_flow(1, -1),
        lambda: forms.capped_flow(1, 1, -1),
        lambda: forms.planned_resident(1, 1, -1),
        lambda: forms.compaction_recall(1, 1, -1, 0.5),
        lambda: forms.expected_faults(1, 1.5),
    ],
)
def test_what_counts_nothing_is_refused(call) -> None:
    with pytest.raises(ValueError, match=r"0 or more|a probability"):
        call()

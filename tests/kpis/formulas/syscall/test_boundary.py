"""The sentinel and the two quantile conventions."""

from __future__ import annotations

import pytest

from kpis.formulas.syscall.boundary import floor_index, gate_primary, nearest_rank


@pytest.mark.parametrize(
    ("in_process", "spawned", "holds"),
    [(2427, 6_913_458, 1), (1000, 5e6, 1), (1e7, 5e6, 0), (5, 5, 0), (1, 0, 0), (0, 5, 0), (-1, 5, 0)],
)
def test_the_gate_is_strict_and_needs_two_measurements(in_process: float, spawned: float, holds: int) -> None:
    assert gate_primary(in_process, spawned) == holds


def test_the_conventions_differ_at_the_tail() -> None:
    twelve = list(range(12))
    assert floor_index(twelve, 99) == 10
    assert nearest_rank(twelve, 0.99) == 11


def test_ten_samples() -> None:
    samples = list(range(100, 1001, 100))
    assert [floor_index(samples, percent) for percent in (0, 50, 99, 100)] == [100, 500, 900, 1000]
    assert [nearest_rank(samples, q) for q in (0, 0.5, 0.51, 1)] == [100, 500, 600, 1000]


@pytest.mark.parametrize("quantile", [floor_index, nearest_rank])
def test_no_values_no_quantile(quantile) -> None:
    with pytest.raises(ValueError, match="undefined"):
        quantile([], 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile([1], 101)

"""The sentinel."""

from __future__ import annotations

import pytest

from kpis.formulas.syscall.boundary import gate_primary


@pytest.mark.parametrize(
    ("in_process", "spawned", "holds"),
    [(2427, 6_913_458, 1), (1000, 5e6, 1), (1e7, 5e6, 0), (5, 5, 0), (1, 0, 0), (0, 5, 0), (-1, 5, 0)],
)
def test_the_gate_is_strict_and_needs_two_measurements(in_process: float, spawned: float, holds: int) -> None:
    assert gate_primary(in_process, spawned) == holds

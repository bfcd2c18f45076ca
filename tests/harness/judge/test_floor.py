"""The floor of neutral edits: it covers what the edits really do, and shrinks with the pairs."""

from __future__ import annotations

import math
from random import Random

import pytest
from scipy.stats import chi2

from harness.judge.floor import LEAST_EDITS, floor_of


def edits(
    tau: float, *, count: int = 30, pairs: int = 64, spread: float = 0.016, seed: int = 1
) -> dict[str, list[float]]:
    rng = Random(seed)
    moved = [rng.gauss(0, tau) for _ in range(count)]
    return {f"edit {at}": [rng.gauss(by, spread) for _ in range(pairs)] for at, by in enumerate(moved)}


def test_edits_that_do_nothing_leave_a_floor_below_a_third_of_a_percent() -> None:
    sizes = [floor_of(edits(0.0, seed=seed)) for seed in range(20)]
    assert all(found is not None and found.size < 1 / 300 for found in sizes)


@pytest.mark.parametrize("tau", [0.001, 0.003, 0.01])
def test_the_floor_covers_the_truth_in_nearly_all_cases(tau: float) -> None:
    found = [floor_of(edits(tau, seed=seed)) for seed in range(40)]
    covered = sum(each is not None and math.log1p(each.size) >= tau for each in found)
    assert covered >= 33  # 95 % by design; fewer than 33 of 40 come once in a thousand


def test_more_pairs_bound_it_closer() -> None:
    few, many = floor_of(edits(0.0, pairs=20)), floor_of(edits(0.0, pairs=200))
    assert few is not None
    assert many is not None
    assert many.size < few.size / 2
    assert (many.edits, many.pairs) == (30, 6000)


def test_one_large_edit_is_in_the_floor() -> None:
    trials = edits(0.0, count=9)
    shifted = {**trials, "edit 0": [ratio + 0.04 for ratio in trials["edit 0"]]}
    found = floor_of(shifted)
    assert found is not None
    assert found.size > 0.01
    assert found.largest == pytest.approx(math.expm1(0.04), abs=0.005)


def test_too_few_edits_bound_nothing() -> None:
    assert floor_of(edits(0.0, count=LEAST_EDITS - 1)) is None
    assert floor_of(edits(0.0, count=LEAST_EDITS)) is not None
    assert floor_of(edits(0.0, pairs=3)) is None


def test_constant_pairs_have_no_floor_but_what_they_moved() -> None:
    still = floor_of({f"edit {at}": [0.0] * 64 for at in range(10)})
    assert still is not None
    assert still.size == pytest.approx(0.0, abs=1e-6)


def test_the_least_number_of_edits_is_where_one_more_gains_less_than_a_tenth() -> None:
    """Of k edits that moved nothing the squares sum to k errors: the bound over the error is sqrt(k / chi2 - 1)."""
    left = {k: math.sqrt(k / float(chi2.ppf(0.05, k)) - 1) for k in range(4, 12)}
    assert [round(left[k], 2) for k in (4, 5, 6)] == [2.15, 1.83, 1.63]
    gains = {k: 1 - left[k + 1] / left[k] for k in range(4, 11)}
    assert next(k for k, gain in gains.items() if gain < 0.1) == LEAST_EDITS
    # Edits that lie exactly one error from zero are such a case, and the code gives that bound.
    spread, pairs = 0.016, 65
    steps = [spread * (at - pairs // 2) / (pairs // 2) for at in range(pairs)]
    still = floor_of({str(at): steps for at in range(6)})
    assert still is not None
    error = still.spread / math.sqrt(3 / math.pi * pairs)
    found = floor_of({str(at): [step + (-1) ** at * error for step in steps] for at in range(6)})
    assert found is not None
    assert math.log1p(found.size) == pytest.approx(left[6] * error, rel=1e-6)

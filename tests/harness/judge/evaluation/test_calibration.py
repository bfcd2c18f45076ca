"""Brier's score, the bins, and chances that no case of the same family had a part in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.evaluation.accuracy import Counts
from harness.judge.evaluation.calibration import FOLDS, Outcome, brier, counts_of, held_out, reliability

OUTCOMES = [Outcome(f"{bad}{at // 2}", bad, bad is (at % 4 != 3)) for bad in (True, False) for at in range(20)]


def test_the_cells_are_counted() -> None:
    mixed = [Outcome("a", *cell) for cell in [(True, True)] * 4 + [(True, False)] * 3 + [(False, True)] * 2]
    assert counts_of([*mixed, Outcome("a", bad=False, fired=False)]) == Counts(tp=4, fp=2, fn=3, tn=1)


def test_brier_by_hand() -> None:
    assert brier([0.8, 0.3], [True, False]) == pytest.approx((0.04 + 0.09) / 2)
    assert brier([0.5] * 4, [True, False, True, True]) == 0.25
    assert brier([1.0, 0.0], [True, False]) == 0
    with pytest.raises(ValueError, match="Without cases"):
        brier([], [])


def test_a_chance_rests_on_the_other_families() -> None:
    """The first family holds the only misses: its own chance is as if there were none, that of the rest is not."""
    outcomes = [Outcome(str(at), bad=True, fired=at > 0) for at in range(FOLDS)]
    outcomes += [Outcome(str(at), bad=False, fired=False) for at in range(FOLDS)]
    chances = held_out(outcomes)
    # Without the fold: 4 of 4 bad ones fired, 4 of 4 good ones are quiet; s = t = 4.5/5, prior one half.
    assert chances[0] == pytest.approx(0.1)
    # With the miss among the others: s = 3.5/5, t = 4.5/5.
    assert chances[1] == pytest.approx(0.7 / (0.7 + 0.1))
    assert chances[-1] == pytest.approx(0.3 / (0.3 + 0.9))


def test_the_answers_of_a_family_do_not_enter_its_own_chances() -> None:
    """Turn one answer: the other case of its family keeps its chance, cases of other folds do not."""
    turned = [replace(OUTCOMES[0], fired=not OUTCOMES[0].fired), *OUTCOMES[1:]]
    before, after = held_out(OUTCOMES), held_out(turned)
    assert OUTCOMES[1].family == OUTCOMES[0].family
    assert before[1] == after[1]
    assert before[2] != after[2]


def test_the_bins_by_hand() -> None:
    first, last = reliability([0.05, 0.09, 1.0, 0.9], [False, True, True, True])
    assert (first.low, first.high, first.n, first.stated, first.bad) == (0.0, 0.1, 2, pytest.approx(0.07), 0.5)
    assert (last.low, last.high, last.n, last.bad) == (0.9, 1.0, 2, 1.0)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_every_case_is_in_one_bin_that_holds_its_chance(cases: list[tuple[float, bool]]) -> None:
    bins = reliability([chance for chance, _ in cases], [bad for _, bad in cases])
    assert sum(one.n for one in bins) == len(cases)
    assert sum(one.n * one.bad for one in bins) == pytest.approx(sum(bad for _, bad in cases))
    assert all(one.low - 1e-9 <= one.stated <= one.high + 1e-9 for one in bins)

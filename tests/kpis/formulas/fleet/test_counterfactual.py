"""Exact and bounded cells, their floors, and what is reportable."""

from __future__ import annotations

import pytest

from kpis.formulas.fleet.counterfactual import FLOOR, Observed, divergence, report

ONE = Observed(("served", "denied", "served"), (None, None, b"x"), dict.fromkeys(FLOOR, 1))


def test_no_difference_is_exact() -> None:
    assert divergence(ONE, ONE) is None


def test_another_class_or_another_redaction_bounds_from_there() -> None:
    assert divergence(ONE, ONE._replace(classes=("served", "served", "served"))) == 1
    assert divergence(ONE, ONE._replace(rewrites=(None, None, b"y"))) == 2
    assert divergence(ONE, ONE._replace(rewrites=(None, None, None))) == 2


def test_other_counters_alone_do_not() -> None:
    assert divergence(ONE, ONE._replace(floor=dict.fromkeys(FLOOR, 5))) is None


def test_replays_of_different_lengths_are_not_of_one_trace() -> None:
    with pytest.raises(ValueError, match="as many calls"):
        divergence(ONE, ONE._replace(classes=("served",)))


def test_cells_are_sorted_and_the_reference_is_none_of_them() -> None:
    other = ONE._replace(classes=("denied", "denied", "served"))
    told = report({"t2": {"r": ONE, "b": other, "a": ONE}, "t1": {"b": ONE, "r": ONE, "a": ONE}}, "r")
    assert [(cell.trace, cell.policy, cell.label) for cell in told.cells] == [
        ("t1", "a", "exact"),
        ("t1", "b", "exact"),
        ("t2", "a", "exact"),
        ("t2", "b", "bounded@0"),
    ]
    assert (told.traces, told.exact, told.exact_fraction) == (2, 3, 0.75)
    assert (dict(told.coverage), told.reportable) == ({"a": (2, 2), "b": (1, 2)}, ("a",))
    assert told.population == dict.fromkeys(FLOOR, 4)
    assert told.floor_of("b") == dict.fromkeys(FLOOR, 2)
    assert [cell.refusal is None for cell in told.cells] == [True, True, True, False]


def test_without_a_cell_nothing_was_bounded() -> None:
    told = report({"t": {"r": ONE}}, "r")
    assert (told.cells, told.exact_fraction, told.reportable) == ((), 1.0, ())
    assert report({}, "r").traces == 0


def test_a_trace_without_its_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="not replayed under the reference"):
        report({"t": {"a": ONE}}, "r")

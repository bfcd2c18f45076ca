"""Rounding and printing as the seeds, scores and hashes have it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.evaluation.canonical import compact, digest, in_code_units
from harness.judge.evaluation.figures import fixed, half_up, number


@pytest.mark.parametrize(
    ("value", "places", "rounded"),
    [
        (12.5, 0, 13),
        (2.5, 0, 3),
        (-2.5, 0, -2),  # upwards, not away from zero
        (0.49999999999999994, 0, 0),  # the sum with 1/2 would round up to 1
        (0.0625, 3, 0.063),
        (0.7645, 3, 0.765),
        (1.0, 4, 1.0),
    ],
)
def test_ties_go_up(value: float, places: int, rounded: float) -> None:
    assert half_up(value, places) == rounded


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0625, "0.063"), (0.5, "0.500"), (1.0, "1.000"), (0.33333, "0.333"), (0.0005, "0.001"), (1.0005, "1.000")],
)
def test_a_fixed_number_of_places_by_the_exact_double(value: float, text: str) -> None:
    assert fixed(value, 3) == text  # 1.0005 lies below its own tie


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-3.25, "-3.25"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (1.25e-9, "1.25e-9"),
        (123456.789, "123456.789"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_a_number_at_its_shortest(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_reads_back_as_itself(value: float) -> None:
    assert float(number(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_no_number(value: float) -> None:
    with pytest.raises(ValueError, match="no number"):
        number(value)


def test_one_spelling() -> None:
    assert compact({"b": [1.0, None, True], "a": 'é"\n'}) == '{"b":[1,null,true],"a":"é\\"\\n"}'
    assert compact("\ud83d") == '"\\ud83d"'
    assert digest("\ud83d") != digest("\ud83e")
    with pytest.raises(ValueError, match="set is no JSON"):
        compact({1})


def test_names_sort_by_code_units_and_not_by_code_points() -> None:
    assert in_code_units(["\uff01", "\U0001f600", "b", "a"]) == ["a", "b", "\U0001f600", "\uff01"]

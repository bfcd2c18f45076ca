"""The seeded stream: the published vectors, and what the two procedures do with a zero."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.judge.evaluation import draws
from harness.judge.evaluation.draws import Procedure, betas, fnv1a, uniforms
from harness.judge.evaluation.ranks import bounds


@pytest.mark.parametrize(("text", "value"), [("", 2166136261), ("a", 3826002220), ("risk:x", 677336984)])
def test_the_hash_of_a_seed(text: str, value: int) -> None:
    assert fnv1a(text) == value


def test_the_hash_runs_over_code_units() -> None:
    def by_hand(units: list[int]) -> int:
        value = 0x811C9DC5
        for unit in units:
            value = (value ^ unit) * 0x01000193 % 2**32
        return value

    assert fnv1a("\U0001f600") == by_hand([0xD83D, 0xDE00])


def test_the_first_three_uniforms() -> None:
    assert list(itertools.islice(uniforms(677336984), 3)) == [
        0.9010111975949258,
        0.15185162029229105,
        0.9340994136873633,
    ]


def test_the_stream_is_that_of_the_recurrence_across_its_blocks() -> None:
    def one_by_one(state: int) -> float:
        def imul(a: int, b: int) -> int:
            return a * b % 2**32

        mixed = imul(state ^ state >> 15, state | 1)
        mixed ^= (mixed + imul(mixed ^ mixed >> 7, mixed | 61)) % 2**32
        return ((mixed ^ mixed >> 14) % 2**32) / 2**32

    seed, found = 4294967290, list(itertools.islice(uniforms(4294967290), 9000))
    assert found == [one_by_one((seed + 0x6D2B79F5 * (index + 1)) % 2**32) for index in range(9000)]


@pytest.mark.parametrize("procedure", Procedure)
def test_draws_are_of_the_distribution_that_they_claim(procedure: Procedure) -> None:
    drawn = betas(fnv1a("check"), ((12.5, 0.5), (3.0, 7.0)), procedure)
    assert drawn.shape == (2000, 2)
    for column, (a, b) in zip(drawn.T, ((12.5, 0.5), (3.0, 7.0)), strict=True):
        error = np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)) / 2000)
        assert abs(column.mean() - a / (a + b)) < 5 * error
    assert np.array_equal(drawn, betas(fnv1a("check"), ((12.5, 0.5), (3.0, 7.0)), procedure))


def test_a_zero_is_replaced_in_one_procedure_and_drawn_again_in_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.0, 0.25, 0.5, 0.75, 0.375, 0.625]
    monkeypatch.setattr(draws, "uniforms", lambda seed: itertools.cycle(values))
    one, other = (betas(0, ((2.0, 2.0),), procedure, draws=1)[0, 0] for procedure in Procedure)
    assert 0 < one < 1
    assert 0 < other < 1
    assert one != other


def test_the_bounds_are_the_fiftieth_and_the_1950th_of_2000() -> None:
    assert bounds(list(range(2000))) == (49, 1949)
    assert bounds([7.0]) == (7.0, 7.0)

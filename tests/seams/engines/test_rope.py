from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.engines.rope import Rope

THETAS = (10_000.0, 1_000_000.0)
HEADS = st.lists(st.floats(-1e6, 1e6), min_size=8, max_size=8)


def turned(head: list[float], position: int, theta: float) -> list[float]:
    """One head, number by number."""
    half = len(head) // 2
    first, second = [], []
    for i, (a, b) in enumerate(zip(head[:half], head[half:], strict=True)):
        angle = position * theta ** (-2 * i / len(head))
        first.append(a * math.cos(angle) - b * math.sin(angle))
        second.append(b * math.cos(angle) + a * math.sin(angle))
    return first + second


@given(head=HEADS, position=st.integers(0, 9_000), layer=st.integers(0, 1))
def test_a_head_turns_by_the_rule_to_the_bit(head, position, layer) -> None:
    found = Rope(8, THETAS).rotate(np.array([[head]]), position, layer)
    assert found.shape == (1, 1, 8)
    assert found[0, 0].tolist() == turned(head, position, THETAS[layer])


@given(first=st.integers(0, 200), count=st.integers(0, 70), seed=st.integers(0, 99))
def test_many_rows_turn_as_each_of_them_alone(first, count, seed) -> None:
    """Whatever lies beside a row, and however often the tables had to grow before."""
    raw = np.random.default_rng(seed).standard_normal((2, 3, count, 8))
    at_once = Rope(8, THETAS).rotate(raw, first)
    rope = Rope(8, THETAS)
    for layer in range(2):
        for row in range(count):
            alone = rope.rotate(raw[layer, :, row : row + 1], first + row, layer)
            assert alone.tobytes() == np.ascontiguousarray(at_once[layer, :, row : row + 1]).tobytes()


def test_the_first_position_turns_nothing_and_a_rotation_keeps_the_length() -> None:
    raw = np.random.default_rng(1).standard_normal((2, 1, 50, 8))
    found = Rope(8, THETAS).rotate(raw, 0)
    assert (found[:, :, 0] == raw[:, :, 0]).all()
    assert (found[:, :, 1:] != raw[:, :, 1:]).any(axis=-1).all()
    np.testing.assert_allclose(np.linalg.norm(found, axis=-1), np.linalg.norm(raw, axis=-1))


@pytest.mark.parametrize("head_dim", [0, 7, -2])
def test_a_head_without_two_halves_is_refused(head_dim: int) -> None:
    with pytest.raises(ValueError, match="even head_dim"):
        Rope(head_dim, THETAS)

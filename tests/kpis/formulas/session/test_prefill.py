from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.session.prefill import (
    SESSION,
    Prefill,
    Shape,
    anchor,
    context,
    cost,
    prefill_tokens,
    ratio,
    read_again_ms,
    sample_lengths,
)

HEADLINE_LENGTHS = [256, 1904, 2048, 3552, 5200, 6848]
HEADLINE_MS = [4988, 50631, 54284, 115496, 204427, 318047]

SHAPES = st.builds(
    Shape,
    prefix=st.integers(0, 300),
    turns=st.integers(1, 12),
    agents=st.integers(1, 6),
    decode=st.integers(0, 20),
    result=st.integers(0, 40),
)


@pytest.mark.parametrize(
    ("shape", "tokens", "ratios"),
    [
        ((2048, 50, 5, 32, 64), (1_100_000, 25_920, 17_728), (62.0487, 1.4621, 42.4383)),
        ((2048, 50, 1, 32, 64), (220_000, 5_184, 5_184), (42.4383, 1, 42.4383)),
        ((2048, 1, 5, 32, 64), (10_240, 10_240, 2_048), (5, 5, 1)),
        ((512, 8, 4, 24, 48), (24_448, 3_392, 1_856), (13.1724, 1.8276, 7.2075)),
        ((512, 32, 4, 24, 48), (208_384, 8_000, 6_464), (32.2376, 1.2376, 26.048)),
        ((512, 64, 2, 4, 8), (113_920, 2_032, 1_520), (74.9474, 1.3368, 56.063)),
        ((512, 256, 2, 4, 8), (1_045_504, 5_104, 4_592), (227.6794, 1.1115, 204.8401)),
        ((512, 512, 2, 4, 8), (3_663_872, 9_200, 8_688), (421.7164, 1.0589, 398.2470)),
        ((100_000, 10, 1, 200, 500), (1_031_500, 104_500, 104_500), (9.8708, 1, 9.8708)),
    ],
)
def test_the_known_sessions(shape, tokens, ratios) -> None:
    found = prefill_tokens(Shape(*shape))
    assert found == tokens
    a, b, c = found
    assert (a / c, b / c, a / b) == pytest.approx(ratios, abs=5e-5)


def test_the_session_of_the_token_ratios_is_the_known_one() -> None:
    assert SESSION == (2048, 50, 5, 32, 64)


@given(SHAPES)
def test_the_closed_form_is_the_sum_over_turns(shape: Shape) -> None:
    contexts = [context(shape, turn) for turn in range(shape.turns)]
    results = (shape.turns - 1) * shape.result
    assert prefill_tokens(shape) == Prefill(
        shape.agents * sum(contexts), shape.agents * (shape.prefix + results), shape.prefix + shape.agents * results
    )


@given(SHAPES)
def test_the_arms_are_in_order_and_meet_where_they_have_to(shape: Shape) -> None:
    a, b, c = prefill_tokens(shape)
    assert a >= b >= c
    once = prefill_tokens(shape._replace(turns=1))
    assert once == (shape.agents * shape.prefix, shape.agents * shape.prefix, shape.prefix)
    alone = prefill_tokens(shape._replace(agents=1))
    assert alone.b == alone.c
    if shape.turns > 1 and shape.agents > 1 and shape.prefix and shape.decode:
        assert a > b > c
    if c:
        assert ratio(a, c) == pytest.approx(ratio(b, c) * ratio(a, b))


def test_a_ratio_over_nothing_is_none() -> None:
    assert ratio(1, 0) is None
    assert ratio(*prefill_tokens(Shape(0, 1, 3, 4, 5))[1:]) is None


@pytest.mark.parametrize(
    ("shape", "named"),
    [((1, 0, 1, 1, 1), "turns = 0"), ((1, 1, 0, 1, 1), "agents = 0"), ((-1, 1, 1, 1, 1), "prefix = -1")],
)
def test_a_session_without_turns_or_agents_is_refused_by_name(shape, named) -> None:
    with pytest.raises(ValueError, match=named):
        prefill_tokens(Shape(*shape))


@pytest.mark.parametrize(
    ("length", "ms"), [(128, 300), (256, 600), (384, 1300), (512, 2000), (768, 5000), (1024, 8000), (1536, 14000)]
)
def test_the_cost_model_through_its_samples(length, ms) -> None:
    assert cost(length, [256, 512, 1024], [600, 2000, 8000]) == ms


def test_the_cost_model_with_few_samples() -> None:
    assert cost(1000, [], []) == 0
    assert [cost(length, [100], [50]) for length in (0, 50, 100, 400)] == [0, 25, 50, 200]


@pytest.mark.parametrize(("lengths", "ms"), [([2, 1], [1, 1]), ([1, 1], [1, 1]), ([0, 1], [1, 1]), ([1, 2], [1])])
def test_samples_that_make_no_line_are_refused(lengths, ms) -> None:
    with pytest.raises(ValueError, match="ascend"):
        cost(3, lengths, ms)


def test_the_lengths_that_are_sampled() -> None:
    assert sample_lengths(SESSION) == HEADLINE_LENGTHS
    assert sample_lengths(Shape(8, 2, 1, 1, 1)) == [256]
    assert sample_lengths(Shape(48, 6, 3, 2, 4), 16) == [16, 33, 48, 50, 67, 84]


def test_arm_a_of_fifty_turns_and_five_agents_recomputed() -> None:
    raw = read_again_ms(SESSION, HEADLINE_LENGTHS, HEADLINE_MS)
    assert raw == pytest.approx(42_144_387.17723611, rel=1e-14)
    assert cost(2048, HEADLINE_LENGTHS, HEADLINE_MS) == 54_284
    drift = anchor(65_847_620.59106346 / raw * 54_284, 54_284)
    assert drift == pytest.approx(1.562429, abs=1e-6)
    assert raw * drift == pytest.approx(65_847_620.59106346, rel=1e-12)


def test_the_headline_ratios_follow_from_its_parts() -> None:
    a = 65_847_620.59 + 2_878_394.18
    b = 1_818_954.37 + 2_878_394.18
    c = 686_755.86 + 22.256 + 452_092.82
    assert (a / c, b / c, a / b) == pytest.approx((60.3457, 4.1246, 14.6308), abs=5e-5)
    assert a / c == pytest.approx((b / c) * (a / b))
    # Without the correction for drift it would have been a third less.
    assert (42_144_387.18 + 2_878_394.18) / c == pytest.approx(39.5, abs=0.05)


@pytest.mark.parametrize(("live", "modelled"), [(0, 5), (5, 0), (-1, 5)])
def test_an_anchor_of_nothing_is_one(live, modelled) -> None:
    assert anchor(live, modelled) == 1

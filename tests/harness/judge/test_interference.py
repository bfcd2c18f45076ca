"""The diagnostics: what they see, what they leave alone, and that clean noise is left in peace."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.judge.interference import autocorrelated, bimodal, diagnose, first_slow, quantised
from harness.judge.sequence import judge_stream, log_ratios
from kpis.terms.comparison import ComparisonWarn
from kpis.terms.kpi import Direction
from tests.harness.judge.streams import ar1, stream


@pytest.mark.parametrize("n", [16, 48, 112])
def test_clean_noise_is_warned_about_in_one_series_of_a_hundred(n: int) -> None:
    rng = np.random.default_rng(n)
    series = rng.normal(0, 0.02, (1000, n))
    assert sum(bimodal(row.tolist()) for row in series) <= 10
    assert sum(autocorrelated(row.tolist()) for row in series) <= 10
    spiked = series + (rng.random((1000, n)) < 0.03) * np.log(rng.uniform(1.15, 1.6, (1000, n)))
    assert sum(bimodal(row.tolist()) for row in spiked) <= 15
    sides = [list(zip(np.exp(a), np.exp(b), strict=True)) for a, b in zip(spiked[::2], spiked[1::2], strict=True)]
    assert sum(first_slow(pairs) for pairs in sides) <= 5


@pytest.mark.parametrize("n", [16, 48, 112])
def test_two_modes_are_seen(n: int) -> None:
    rng = np.random.default_rng(n)
    seen = sum(bimodal((rng.normal(0, 0.01, n) + (np.arange(n) % 3 == 0) * 0.12).tolist()) for _ in range(100))
    assert seen >= 95
    assert not bimodal([0.0, 1.0] * 4), "under a screen of values nothing is said"
    assert not bimodal([0.0] * 20), "a constant has one mode"
    assert bimodal([0.0] * 10 + [1.0] * 10)
    assert not bimodal([0.0] * 18 + [1.0] * 2), "two of twenty are spikes"


def test_a_memory_from_pair_to_pair_is_seen() -> None:
    rng = np.random.default_rng(1)
    assert sum(autocorrelated(ar1(rng, 48, 0.02).tolist()) for _ in range(100)) >= 85
    assert not autocorrelated([0.0] * 48)
    assert not autocorrelated([0.0, 1.0] * 24), "alternation is the opposite"
    assert autocorrelated([float(i) for i in range(16)])


def test_a_slow_first_pair_needs_both_sides() -> None:
    """samyama-graph 752: the first timed run 1.4 to 1.9 times slow."""
    pairs = stream(1, "iid", 16)
    base, head = pairs[0]
    assert not first_slow(pairs)
    assert first_slow([(1.5 * base, 1.5 * head), *pairs[1:]])
    assert not first_slow([(1.5 * base, head), *pairs[1:]])
    assert not first_slow([(base / 1.5, head / 1.5), *pairs[1:]])
    assert not first_slow([(1.0, 1.0)] * 16)
    assert not first_slow([(9.0, 9.0), (1.0, 1.0)])


def test_ticks_are_seen() -> None:
    assert quantised([0.0] * 10)
    assert quantised([0.0, 0.1, 0.2] * 5)
    assert not quantised([float(i) for i in range(16)])
    assert not quantised([0.0])
    assert not quantised([])


def test_warnings_come_in_order_and_change_nothing() -> None:
    pairs = stream(3, "iid", 16)
    slow_start = [(2 * pairs[0][0], 2 * pairs[0][1]), *pairs[1:]]
    found = judge_stream(slow_start, Direction.LOWER)
    plain = judge_stream(pairs, Direction.LOWER)
    assert ComparisonWarn.FIRST_SLOW in {notice.code for notice in found.warnings}
    assert found.ratio == pytest.approx(plain.ratio)
    assert (found.state, found.pairs) == (plain.state, plain.pairs)


def test_each_side_is_looked_at_for_modes() -> None:
    flat = [math.exp(0.001 * (i * 7 % 16)) for i in range(16)]
    split = [value * (1.3 if i % 2 else 1) for i, value in enumerate(flat)]
    for pairs, named in ((list(zip(split, flat, strict=True)), "base"), (list(zip(flat, split, strict=True)), "head")):
        notices = diagnose(pairs, log_ratios(pairs, Direction.LOWER))
        modes = [notice.message for notice in notices if notice.code is ComparisonWarn.BIMODAL]
        assert [named in message for message in modes] == [True]

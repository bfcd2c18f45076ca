"""The run-level false alarm: generated suites of 40 KPIs in which nothing is slower than the margin allows.

The suites are the worst that the hypothesis admits: every KPI lies exactly on the margin, so that one screen in five
is suspicious and Holm has eight suspects a run. Kinds and spreads are mixed from suite to suite.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from harness.judge.rule import Rule
from harness.judge.sequence import PointJudge, Stage, settle
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction
from tests.harness.judge.batch import Outcome, alarmed, points
from tests.harness.judge.streams import ratios

RULE = Rule()
KPIS = 40
MIX = [
    ("iid", 0.016),
    ("iid", 0.04),
    ("spikes", 0.024),
    ("bimodal", 0.024),
    ("heavy_tail", 0.031),
]


def alarms(suites: int, change: float, seed: int, mix: list[tuple[str, float]] = MIX) -> tuple[int, int]:
    """How many suites went red, and how many points were suspected."""
    red = suspects = 0
    chunk = 500
    for start in range(0, suites, chunk):
        kind, spread = mix[start // chunk % len(mix)]
        rng = np.random.default_rng([seed, start])
        size = min(chunk, suites - start)
        found = points(lambda rows, n, r=rng, k=kind, s=spread: ratios(r, k, rows, n, s, change), size * KPIS, RULE)
        red += int(alarmed(found, KPIS, RULE).sum())
        suspects += int(found.suspected.sum())
    return red, suspects


def test_two_thousand_suites_on_the_margin() -> None:
    red, suspects = alarms(2_000, RULE.delta, seed=11)
    assert suspects > 2_000 * 6, "the suites must be hard: about eight suspects each"
    assert red <= binom.ppf(0.999, 2_000, 0.01)


def test_five_hundred_suites_without_a_change() -> None:
    assert alarms(500, 0.0, seed=12)[0] == 0


def test_quantised_suites() -> None:
    """Ties take the slow path, so fewer: ticks of 2 % and a change of exactly one margin."""
    red, _ = alarms(40, RULE.delta, seed=13, mix=[("quantised", 0.024)])
    assert red <= binom.ppf(0.999, 40, 0.01)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_suites_on_the_margin() -> None:
    """By design at most 1 %: the count must not contradict that, and it must show that the level is used."""
    red, _ = alarms(100_000, RULE.delta, seed=14)
    print(f"{red} of 100,000 suites on the margin went red")
    assert binomtest(red, 100_000, 0.01, alternative="greater").pvalue > 0.001
    assert red > 800


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_suites_without_a_change() -> None:
    red, _ = alarms(100_000, 0.0, seed=15)
    print(f"{red} of 100,000 unchanged suites went red")
    assert red <= 10


def drawn(rng: np.random.Generator, change: float, kept: list[np.ndarray]):
    """A generator that keeps what it drew."""

    def draw(rows: int, n: int) -> np.ndarray:
        kept.append(ratios(rng, "spikes", rows, n, 0.031, change))
        return kept[-1]

    return draw


def by_the_judge(kept: list[np.ndarray], found: Outcome) -> dict[int, PointJudge]:
    """The same draws, fed point by point to the judge itself."""
    judges = {at: PointJudge(Direction.LOWER, RULE) for at in range(len(found.p))}

    def feed(at: int, row: np.ndarray) -> None:
        judges[at].feed([(1.0, ratio) for ratio in np.exp(row).tolist()])

    looks = iter(kept)
    for at, row in enumerate(next(looks)):
        feed(at, row)
    still = [at for at, judge in judges.items() if judge.stage is Stage.EXTENSION]
    if still:
        for at, row in zip(still, next(looks), strict=True):
            feed(at, row)
    worse = [at for at in judges if found.suspected[at]]
    for at, row in zip(worse, next(looks) if worse else (), strict=True):
        feed(at, row)
    return judges


@pytest.mark.parametrize("change", [0.0, 0.02, 0.04])
def test_the_batch_is_the_judge(change: float) -> None:
    kept: list[np.ndarray] = []
    found = points(drawn(np.random.default_rng(16), change, kept), 6 * KPIS, RULE)
    judges = by_the_judge(kept, found)
    assert [judge.p for judge in judges.values()] == pytest.approx(found.p.tolist(), rel=1e-9)
    red = alarmed(found, KPIS, RULE)
    for suite in range(6):
        members = {at: judges[at] for at in range(suite * KPIS, (suite + 1) * KPIS)}
        accused = any(each.state is State.REGRESSED for each in settle(members, RULE).values())
        assert accused == red[suite]
    if change == 0.04:
        assert red.all()

"""A point through its stages, the settlement of a run, and goldens for each corner of a stream."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.rule import Rule
from harness.judge.screen import Side
from harness.judge.sequence import PointJudge, Stage, Want, judge_stream, log_ratios, settle
from kpis.terms.comparison import Comparison, ComparisonWarn, State
from kpis.terms.kpi import Direction
from tests.harness.judge.streams import stream

LOWER, HIGHER = Direction.LOWER, Direction.HIGHER
RULE = Rule()


def codes(found: Comparison) -> set[ComparisonWarn]:
    return {notice.code for notice in found.warnings}


def constant(base: float, head: float, n: int = 112) -> list[tuple[float, float]]:
    return [(base, head)] * n


# What a point wants, and what it refuses


def test_an_unchanged_point_ends_after_its_screen() -> None:
    judge = PointJudge(LOWER)
    assert judge.wants() == Want(Stage.SCREEN, 16)
    pairs = stream(1, "iid")
    judge.feed(pairs[:10])
    assert judge.wants() == Want(Stage.SCREEN, 6)
    judge.feed(pairs[10:16])
    assert judge.wants() == Want(Stage.DONE, 0)
    assert judge.comparison is not None
    assert (judge.comparison.state, judge.comparison.pairs) == (State.OK, 16)


def test_a_suspect_waits_for_its_family() -> None:
    judge = PointJudge(LOWER)
    pairs = stream(2, "iid", change=0.10)
    judge.feed(pairs[:16])
    assert judge.wants() == Want(Stage.CONFIRM, 64)
    assert judge.suspected is Side.WORSE
    assert judge.p == 1.0
    judge.feed(pairs[16:80])
    assert judge.wants() == Want(Stage.SETTLE, 0)
    assert judge.comparison is None, "only the settlement of the family may say regressed"
    assert judge.p < 1e-10
    found = settle({"it": judge}, RULE)["it"]
    assert (found.state, found.pairs, found.alpha) == (State.REGRESSED, 80, 0.01)
    with pytest.raises(ValueError, match="cannot be settled"):
        judge.settle(0.01)


def test_an_open_point_is_extended_and_judged_on_the_extension_alone() -> None:
    judge = PointJudge(LOWER)
    judge.feed(stream(0, "iid", 16, spread=0.2))
    assert judge.wants() == Want(Stage.EXTENSION, 32)
    judge.feed(stream(4, "iid", 32, spread=0.01))
    assert judge.comparison is not None
    assert (judge.comparison.state, judge.comparison.pairs) == (State.OK, 48)
    assert judge.comparison.ratio == pytest.approx(1, abs=0.01), "the screen's pairs are not pooled into it"


def test_a_point_that_stays_open_is_inconclusive() -> None:
    found = judge_stream(stream(1, "iid", spread=0.4), LOWER)
    assert (found.state, found.pairs) == (State.INCONCLUSIVE, 48)
    assert ComparisonWarn.SPREAD in codes(found)


def test_a_wide_margin_is_named_and_the_pairs_are_not_blamed_for_it() -> None:
    found = judge_stream(stream(1, "iid", change=0.2, spread=0.01), LOWER, Rule(delta=0.5))
    assert found.state is State.INCONCLUSIVE
    assert ComparisonWarn.SPREAD not in codes(found)
    (said,) = [notice.message for notice in found.warnings if notice.code is ComparisonWarn.MARGIN]
    assert said.startswith("The margin of this point is 50.0 %: a change under 5")
    assert ComparisonWarn.MARGIN not in codes(judge_stream(stream(1, "iid", spread=0.4), LOWER))


def test_more_than_wanted_is_refused_and_changes_nothing() -> None:
    judge = PointJudge(LOWER)
    with pytest.raises(ValueError, match=r"17 pairs .* screen wants 16"):
        judge.feed(constant(1, 1, 17))
    with pytest.raises(ValueError, match="positive finite"):
        judge.feed([(1.0, 1.0), (1.0, 0.0)])
    assert judge.wants() == Want(Stage.SCREEN, 16)
    judge.feed(stream(1, "iid", 16))
    with pytest.raises(ValueError, match="done wants 0"):
        judge.feed([(1.0, 1.0)])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0, 0.0])
@pytest.mark.parametrize("side", [0, 1])
def test_what_is_no_time_is_refused(bad: float, side: int) -> None:
    pair = (bad, 5.0) if side == 0 else (5.0, bad)
    with pytest.raises(ValueError, match="positive finite"):
        judge_stream([*constant(5, 5, 111), pair], LOWER)


def test_a_neutral_direction_is_no_timed_one() -> None:
    for call in (lambda: PointJudge(Direction.NEUTRAL), lambda: judge_stream([], Direction.NEUTRAL)):
        with pytest.raises(ValueError, match="direction"):
            call()


def test_the_sign_follows_the_direction() -> None:
    assert log_ratios([(1.0, 2.0)], LOWER)[0] == pytest.approx(math.log(2))
    assert log_ratios([(1.0, 2.0)], HIGHER)[0] == pytest.approx(-math.log(2))
    assert log_ratios([(3.0, 3.0)], LOWER) == [0.0]


# A run of many points


def suspect(confirmation: list[float]) -> PointJudge:
    """A point that screened 20 % slower and was confirmed on the given log ratios."""
    judge = PointJudge(LOWER)
    judge.feed(stream(6, "iid", 16, change=0.2))
    judge.feed([(1.0, math.exp(log)) for log in confirmation])
    return judge


def test_holm_is_over_the_suspects_of_the_run() -> None:
    near = [0.0198 + 0.02 * (i - 24.75) / 32 for i in range(64)]  # p between .01 / 40 and .01
    alone = suspect(near)
    assert 0.00025 < alone.p < 0.01
    assert settle({0: alone}, RULE)[0].state is State.REGRESSED
    crowd = {i: suspect(np.random.default_rng(i).normal(0, 0.02, 64).tolist()) for i in range(39)}
    crowd[39] = suspect(near)
    found = settle(crowd, RULE)
    assert State.REGRESSED not in {each.state for each in found.values()}
    assert found[39].alpha == pytest.approx(0.01 / 40)


def test_improvements_are_a_family_of_their_own() -> None:
    near = [0.0198 + 0.02 * (i - 24.75) / 32 for i in range(64)]
    judges = {"slower": suspect(near)}
    for i in range(39):
        judges[f"faster {i}"] = PointJudge(LOWER)
        judges[f"faster {i}"].feed(stream(i, "iid", 16, change=-0.2))
        judges[f"faster {i}"].feed(stream(i + 100, "iid", 64, change=-0.2))
    found = settle(judges, RULE)
    assert found["slower"].state is State.REGRESSED
    assert found["faster 0"].state is State.IMPROVED


def test_what_the_budget_leaves_out_is_inconclusive_and_counts() -> None:
    near = [0.0198 + 0.02 * (i - 24.75) / 32 for i in range(64)]
    judges = {i: PointJudge(LOWER) for i in range(39)}
    for judge in judges.values():
        judge.feed(stream(6, "iid", 16, change=0.2))
        judge.stop("the budget of 10 s was used up")
    judges[39] = suspect(near)
    judges[40] = PointJudge(LOWER)
    found = settle(judges, RULE)
    assert {each.state for each in found.values()} == {State.INCONCLUSIVE, found[39].state}
    assert found[39].state is not State.REGRESSED
    assert ComparisonWarn.BUDGET in codes(found[0])
    assert found[0].evidence[0] == "screen on 16 pairs: suspected worse"
    assert (found[40].ratio, found[40].pairs) == (None, 0)


# Goldens of single streams


def test_identical_constant_samples_are_ok_and_say_resolution() -> None:
    """pyperf calls two identical constant samples significant; a t-test has no answer (row 6 of what must survive)."""
    found = judge_stream(constant(115, 115), LOWER)
    assert found == Comparison(
        State.OK,
        1.0,
        1.0,
        1.0,
        16,
        found.smallest_visible,
        0.2,
        found.evidence,
        found.warnings,
    )
    assert found.smallest_visible == pytest.approx(0.02)
    assert codes(found) == {ComparisonWarn.RESOLUTION}


def test_all_equal_samples_that_changed_are_reported() -> None:
    """golang/go 19634: 115 to 78.8 with all samples equal read "no difference"."""
    found = judge_stream(constant(115, 78.8), LOWER)
    assert found.state is State.IMPROVED
    assert found.ratio == pytest.approx(78.8 / 115)
    assert ComparisonWarn.RESOLUTION in codes(found)
    assert judge_stream(constant(78.8, 115), LOWER).state is State.REGRESSED
    assert judge_stream(constant(78.8, 115), HIGHER).state is State.IMPROVED


def test_a_tick_of_fifteen_milliseconds_decides_nothing() -> None:
    """asv 780: nine equal samples of a coarse clock. One tick up or down at random is not a change."""
    rng = np.random.default_rng(1)
    ticks = [(15.6 * b, 15.6 * h) for b, h in rng.integers(6, 8, (112, 2)).tolist()]
    found = judge_stream(ticks, LOWER)
    assert found.state in (State.OK, State.INCONCLUSIVE)
    assert ComparisonWarn.RESOLUTION in codes(found)


@pytest.mark.parametrize("n", [0, 1, 5, 15])
def test_too_few_pairs_are_inconclusive(n: int) -> None:
    found = judge_stream(constant(5, 10, n), LOWER)
    assert (found.state, found.pairs, found.smallest_visible) == (State.INCONCLUSIVE, n, None)
    assert ComparisonWarn.TOO_FEW in codes(found)
    assert (found.ratio is None) is (n == 0)
    assert (found.low is None) is (n < 6)


def test_a_suspect_without_its_confirmation_is_inconclusive() -> None:
    for n in (16, 48, 111):
        found = judge_stream(stream(7, "iid", n, change=0.3), LOWER)
        assert found.state is State.INCONCLUSIVE
        assert found.ratio == pytest.approx(1.3, abs=0.05)
        assert found.pairs == 16 + max(0, n - 48)


def test_the_confirmation_stands_at_a_fixed_place() -> None:
    """Pairs 17 to 48 belong to the extension, even when it is not used."""
    slow, flat = stream(8, "iid", 48, change=0.3), stream(9, "iid", 64)
    assert judge_stream(slow + flat, LOWER).state is State.OK
    assert judge_stream(flat[:48] + slow + slow[:16], LOWER).state is State.OK
    found = judge_stream(slow + stream(10, "iid", 70, change=0.3), LOWER)
    assert (found.state, found.pairs) == (State.REGRESSED, 80)
    assert ComparisonWarn.UNUSED in codes(found)


KINDS = ["iid", "spikes", "bimodal", "heavy_tail", "quantised", "ar1", "drift"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", [LOWER, HIGHER])
def test_a_null_of_any_kind_is_never_accused(kind: str, direction: Direction) -> None:
    states = [judge_stream(stream(seed, kind), direction).state for seed in range(40)]
    assert not {State.REGRESSED, State.IMPROVED} & set(states)
    assert states.count(State.OK) >= 28


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", [0.15, -0.15])
def test_a_change_of_any_kind_is_seen_with_its_size(kind: str, change: float) -> None:
    worse = {LOWER: change > 0, HIGHER: change < 0}
    for direction in (LOWER, HIGHER):
        found = [judge_stream(stream(seed, kind, change=change), direction) for seed in range(20)]
        right = State.REGRESSED if worse[direction] else State.IMPROVED
        wrong = State.IMPROVED if worse[direction] else State.REGRESSED
        states = [each.state for each in found]
        assert states.count(right) >= 19
        assert wrong not in states
        bounds = [(each.low or math.inf, each.high or 0) for each in found]
        held = [low for low, high in bounds if low - 1e-9 <= 1 + change <= high + 1e-9]
        assert len(held) >= 17  # 95 % of 20, and three standard deviations


def test_a_change_within_the_margin_is_nobodys_fault() -> None:
    states = [judge_stream(stream(seed, "iid", spread=0.01, change=0.01), LOWER).state for seed in range(40)]
    assert set(states) == {State.OK}


def test_swapping_the_sides_swaps_the_answer() -> None:
    mirror = {State.REGRESSED: State.IMPROVED, State.IMPROVED: State.REGRESSED}
    for seed in range(20):
        pairs = stream(seed, "spikes", change=0.12 if seed % 2 else -0.12)
        there = judge_stream(pairs, LOWER)
        back = judge_stream([(head, base) for base, head in pairs], LOWER)
        assert back.state is mirror.get(there.state, there.state)
        assert there.ratio is not None
        assert back.ratio == pytest.approx(1 / there.ratio)


@given(
    st.lists(st.tuples(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300)), max_size=120),
    st.sampled_from([LOWER, HIGHER]),
)
def test_any_positive_pairs_are_judged_without_a_crash(pairs: list[tuple[float, float]], direction: Direction) -> None:
    found = judge_stream(pairs, direction)
    assert found.state in (State.OK, State.INCONCLUSIVE, State.REGRESSED, State.IMPROVED)
    assert found.pairs <= 112
    if len(pairs) < 80:
        assert found.state not in (State.REGRESSED, State.IMPROVED)

"""A judge that is wrong in one way fails a named check, which the real judge passes.

Each mutant replaces one function of the judge; each check is an ordinary assertion about what the judge says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
import pytest

from harness.judge import confirm, screen, sequence
from harness.judge.rule import Rule
from harness.judge.screen import Side
from harness.judge.sequence import PointJudge, Stage, judge_stream, settle
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction
from tests.harness.judge.streams import stream

RULE = Rule()
LOWER, HIGHER = Direction.LOWER, Direction.HIGHER


# The checks


def slower_is_worse() -> None:
    assert judge_stream(stream(1, "iid", change=0.1), LOWER).state is State.REGRESSED
    assert judge_stream(stream(1, "iid", change=-0.1), LOWER).state is State.IMPROVED


def fewer_operations_are_worse() -> None:
    assert judge_stream(stream(1, "iid", change=-0.1), HIGHER).state is State.REGRESSED
    assert judge_stream(stream(1, "iid", change=0.1), HIGHER).state is State.IMPROVED


def suspects(count: int, centre: float) -> dict[int, PointJudge]:
    """Points that screened 20 % slower and were confirmed on a sample about ``centre``."""
    judges = {}
    for at in range(count):
        judges[at] = PointJudge(LOWER)
        judges[at].feed(stream(at, "iid", 16, change=0.2))
        judges[at].feed([(1.0, math.exp(centre + 0.02 * (2 * i - 63) / 64)) for i in range(64)])
    return judges


def one_in_forty_is_luck() -> None:
    """A p between .01 / 40 and .01 convicts a suspect that stands alone, and none of forty."""
    lone = suspects(1, 0.0238)
    assert settle(lone, RULE)[0].state is State.REGRESSED
    assert State.REGRESSED not in {found.state for found in settle(suspects(40, 0.0238), RULE).values()}


def a_null_on_the_margin_is_confirmed_in_one_of_a_hundred() -> None:
    rng = np.random.default_rng(1)
    fresh = rng.normal(RULE.margin, 0.03, (600, 64))
    confirmed = sum(confirm.confirm(row.tolist(), RULE, 0.01).state is State.REGRESSED for row in fresh)
    assert confirmed <= 15  # binomial(600, .01): 15 or more in 1 of 1,000


def the_bound_is_one_sided() -> None:
    """Six values: the least of them is the one-sided 97.5 % bound, and a two-sided one does not exist."""
    six = [0.1, 0.2, 0.35, 0.4, 0.55, 0.6]
    assert screen.screen(six, RULE).low == pytest.approx(0.1)
    assert confirm.confirm(six, RULE, 0.01).low == pytest.approx(math.exp(0.1))


def ten_alike_are_one_in_1024() -> None:
    assert confirm.p_value([0.1 + i / 100 for i in range(10)], Side.WORSE, RULE) == 2**-10
    assert confirm.p_value([-0.1 - i / 100 for i in range(10)], Side.BETTER, RULE) == 2**-10


def suspicion_does_not_confirm_itself() -> None:
    slow, flat = stream(2, "iid", 48, change=0.2), stream(3, "iid", 64)
    assert judge_stream(slow + flat, LOWER).state is State.OK


def the_tail_is_exact() -> None:
    """All sixteen alike are 1 in 65,536; the normal approximation says 1 in 4,600."""
    assert confirm.p_value([0.1 + i / 100 for i in range(16)], Side.WORSE, RULE) == 2**-16


def a_change_within_the_margin_is_not_accused() -> None:
    assert judge_stream(stream(4, "iid", spread=0.005, change=0.01), LOWER).state is State.OK


def what_is_undecided_is_not_ok() -> None:
    assert judge_stream(stream(1, "iid", spread=0.4), LOWER).state is State.INCONCLUSIVE
    assert judge_stream(stream(1, "iid", 10), LOWER).state is State.INCONCLUSIVE


# The mutants


def flipped_sign(patch: pytest.MonkeyPatch) -> None:
    real = sequence.log_ratios
    patch.setattr(sequence, "log_ratios", lambda pairs, direction: [-ratio for ratio in real(pairs, direction)])


def swapped_sides(patch: pytest.MonkeyPatch) -> None:
    real = sequence.log_ratios
    swap: Callable = lambda pairs, direction: real([(head, base) for base, head in pairs], direction)  # noqa: E731
    patch.setattr(sequence, "log_ratios", swap)


def direction_ignored(patch: pytest.MonkeyPatch) -> None:
    real = sequence.log_ratios
    patch.setattr(sequence, "log_ratios", lambda pairs, _direction: real(pairs, LOWER))


def no_holm(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sequence, "holm_level", lambda _family, alpha: alpha)


def pooled_values(patch: pytest.MonkeyPatch) -> None:
    """Six rounds a process taken for six processes: within a process they are nearly the same."""
    real = confirm.p_value

    def pooled(fresh: Sequence[float], side: Side, rule: Rule) -> float:
        return real([value + 1e-6 * i for value in fresh for i in range(6)], side, rule)

    patch.setattr(confirm, "p_value", pooled)


def two_sided_bound(patch: pytest.MonkeyPatch) -> None:
    for module in (confirm, screen):
        real = module.lower_bound
        patch.setattr(module, "lower_bound", lambda values, alpha, real=real: real(values, alpha / 2))


def two_sided_p(patch: pytest.MonkeyPatch) -> None:
    for name in ("p_greater", "p_less"):
        real = getattr(confirm, name)
        patch.setattr(confirm, name, lambda values, shift, real=real: min(1.0, 2 * real(values, shift)))


def confirmed_on_the_screen(patch: pytest.MonkeyPatch) -> None:
    real = PointJudge._close

    def close(self: PointJudge, stage: Stage) -> None:
        if stage is Stage.CONFIRM:
            self._ratios[stage] = (self._ratios[Stage.SCREEN] * 4)[:64]
        real(self, stage)

    patch.setattr(PointJudge, "_close", close)


def pooled_with_the_screen(patch: pytest.MonkeyPatch) -> None:
    real = PointJudge._close

    def close(self: PointJudge, stage: Stage) -> None:
        if stage is Stage.CONFIRM:
            self._ratios[stage] = self._ratios[Stage.SCREEN] + self._ratios[stage][:48]
        real(self, stage)

    patch.setattr(PointJudge, "_close", close)


def normal_tail(patch: pytest.MonkeyPatch) -> None:
    def approximate(values: Sequence[float], shift: float = 0.0) -> float:
        differences = np.asarray(values) - shift
        ranks = np.argsort(np.argsort(np.abs(differences))) + 1
        n = len(differences)
        deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return 1 - NormalDist().cdf((float(ranks[differences > 0].sum()) - n * (n + 1) / 4) / deviation)

    patch.setattr(confirm, "p_greater", approximate)


def no_margin(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rule, "margin", property(lambda _self: 0.0))


def not_significant_is_ok(patch: pytest.MonkeyPatch) -> None:
    real = PointJudge._finish

    def finish(self: PointJudge, state: State, said: str, *notices: object) -> None:
        real(self, State.OK if state is State.INCONCLUSIVE else state, said, *notices)

    patch.setattr(PointJudge, "_finish", finish)


MUTANTS = [
    (flipped_sign, slower_is_worse),
    (swapped_sides, slower_is_worse),
    (direction_ignored, fewer_operations_are_worse),
    (no_holm, one_in_forty_is_luck),
    (pooled_values, a_null_on_the_margin_is_confirmed_in_one_of_a_hundred),
    (two_sided_bound, the_bound_is_one_sided),
    (two_sided_p, ten_alike_are_one_in_1024),
    (confirmed_on_the_screen, suspicion_does_not_confirm_itself),
    (pooled_with_the_screen, suspicion_does_not_confirm_itself),
    (normal_tail, the_tail_is_exact),
    (no_margin, a_change_within_the_margin_is_not_accused),
    (not_significant_is_ok, what_is_undecided_is_not_ok),
]


@pytest.mark.parametrize("check", dict.fromkeys(check for _, check in MUTANTS), ids=lambda check: check.__name__)
def test_the_judge_passes(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize(("mutant", "check"), MUTANTS, ids=lambda part: part.__name__)
def test_the_mutant_is_caught(
    mutant: Callable[[pytest.MonkeyPatch], None], check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant(monkeypatch)
    with pytest.raises(AssertionError):
        check()

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.turn import Durability, Forecast, Span, Weights
from seams.turn.benefit import Scorer, query_of, tokens
from seams.turn.planner import ReferencePlanner

NOTHING = Weights(0, 0, 0, 0, 0)


def span(step: int = 0, text: str = "", **more: object) -> Span:
    return Span(f"span:{step}", step, "tool", f"tool: {text}", f"digest of {step}", 40, **more)  # type: ignore[arg-type]


def alone(signal: str) -> Weights:
    return NOTHING._replace(**{signal: 1.0})


def scored(
    signal: str, each: Span, max_step: int = 4, intents: tuple[str, ...] = ("alpha beta", "gamma delta")
) -> float:
    return Scorer(Forecast(intents, weights=alone(signal)), max_step).score(each)[0]


def test_words_are_lower_case_runs_of_three_or_more_letters_and_digits() -> None:
    assert tokens("The cat's TOOL_call, of 12 or 123: naïve x") == {"the", "cat", "tool", "call", "123", "naïve"}
    assert query_of(["refund fee", "Fee!"]) == {"refund", "fee"}


def test_relevance_is_the_share_of_the_intents_words() -> None:
    assert scored("relevance", span(text="alpha alpha gamma")) == 0.5
    assert scored("relevance", span(text="alpha"), intents=()) == 0
    assert scored("relevance", span(text=""), intents=("tool",)) == 1  # the role counts


@pytest.mark.parametrize(
    ("utility", "worth"), [(2, 0.5), (4, 1), (9, 1), (-3, 0), (float("nan"), 0), (float("inf"), 0)]
)
def test_utility_is_clamped_from_0_to_4(utility: float, worth: float) -> None:
    assert scored("utility", span(utility=utility)) == worth


@pytest.mark.parametrize(("durability", "prior"), [("durable", 1), ("bounded", 0.6), ("session", 0.5), ("turn", 0.2)])
def test_durability_has_a_prior(durability: str, prior: float) -> None:
    assert scored("durability", span(durability=Durability(durability))) == prior


@pytest.mark.parametrize(
    ("step", "recency", "primacy"), [(0, 0, 0), (1, 0.25, 0.75), (3, 0.75, 0.25), (4, 1, 0), (5, 1, 0)]
)
def test_recency_grows_and_primacy_falls_strictly_between_the_ends(step: int, recency: float, primacy: float) -> None:
    assert scored("recency", span(step)) == recency
    assert scored("primacy", span(step)) == primacy


def test_a_history_of_one_span_has_no_recency() -> None:
    assert scored("recency", span(0), max_step=0) == 0
    assert scored("recency", span(3), max_step=0) == 0


def test_all_zero_weights_mean_the_defaults() -> None:
    each = span(2, "alpha", durability=Durability.DURABLE, utility=4)
    zeroed, default = Forecast(("alpha",), weights=NOTHING), Forecast(("alpha",))
    assert Scorer(zeroed, 4).score(each)[0] == Scorer(default, 4).score(each)[0] == pytest.approx(1 + 0.5 + 0.4 + 0.1)


def test_sealed_and_tombstoned_are_worth_exactly_nothing_and_are_counted() -> None:
    scorer = Scorer(Forecast(("alpha",)), 4)
    marked = [span(4, "alpha", sealed=True), span(4, "alpha", tombstoned=True)]
    assert [scorer.score(each)[0] for each in marked] == [0.0, 0.0]
    assert scorer.calls == 2


def test_a_sum_that_is_not_finite_is_worth_nothing() -> None:
    weights = Weights(relevance=float("inf"))
    assert Scorer(Forecast(("alpha",), weights=weights), 4).score(span(1, "alpha"))[0] == 0


def test_refund_fee_golden() -> None:
    texts = [("the refund fee is twenty five euros", 11), ("weather is fine", 7), ("the refund policy is generous", 13)]
    spans = [
        span(step, text, durability=Durability.SESSION)._replace(bytes=4 * cost)
        for step, (text, cost) in enumerate(texts)
    ]
    planner = ReferencePlanner()
    candidates = planner.candidates(spans, Forecast(("refund fee",)))
    assert [each.benefit for each in candidates] == pytest.approx([1.2, 0.3, 0.9])
    plan = planner.optimize(candidates, 32)
    assert (len(plan.selected), plan.cost_used, plan.benefit) == (3, 31, pytest.approx(2.4))


def test_a_rated_span_wins_over_a_fresh_intent_under_greedy() -> None:
    spans = [span(0, "alpha"), span(1, "beta"), span(2, "alpha", utility=4.0)]
    spans = [each._replace(bytes=20) for each in spans]
    planner = ReferencePlanner()
    candidates = planner.candidates(
        spans, Forecast(("alpha beta",), weights=NOTHING._replace(relevance=1.0, utility=0.5))
    )
    assert [each.benefit for each in candidates] == [0.5, 0.5, 1.0]
    assert [each.id for each in planner.optimize(candidates, 10).selected] == ["span:0", "span:2"]


@given(st.integers(0, 40), st.integers(0, 40), st.floats(allow_nan=True), st.sampled_from(Durability))
def test_a_benefit_is_finite_and_within_the_sum_of_the_weights(
    step: int, max_step: int, utility: float, durability: Durability
) -> None:
    each = span(step, "alpha", utility=utility, durability=durability)
    assert 0 <= Scorer(Forecast(("alpha beta",)), max_step).score(each)[0] <= sum(Weights()) + 1e-9

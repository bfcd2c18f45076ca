from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.turn import Durability, Forecast, Weights
from seams.turn.benefit import Scorer
from seams.turn.learn import INTENTS, TOP_WEIGHT, learned_forecast, learned_weights
from seams.turn.spans import make_span

NOTHING = Weights(0, 0, 0, 0, 0)


def test_the_words_that_no_intent_holds_are_appended_sorted() -> None:
    faulted = [make_span(0, "tool", "zebra refund fee"), make_span(1, "user", "apple zebra of it")]
    learned = learned_forecast(Forecast(("refund fee",), horizon=4, pins=("span:9",)), faulted)
    assert learned == Forecast(("refund fee", "apple", "tool", "user", "zebra"), horizon=4, pins=("span:9",))


@pytest.mark.parametrize(("held", "grown"), [(0, INTENTS), (30, INTENTS), (32, 32), (40, 40)])
def test_intents_grow_to_their_cap_and_what_was_authored_stays(held: int, grown: int) -> None:
    authored = tuple(f"authored {place}" for place in range(held))
    lines = (" ".join(f"word{place}" for place in range(start, start + 14)) for start in (10, 30, 50))
    faulted = [make_span(step, "tool", line) for step, line in enumerate(lines)]
    learned = learned_forecast(Forecast(authored), faulted).intents
    assert (learned[:held], len(learned)) == (authored, grown)
    assert (
        list(learned[held:])
        == ["tool", *(f"word{place}" for place in [*range(10, 24), *range(30, 44), 50, 51, 52])][: grown - held]
    )


def test_without_a_fault_the_forecast_stays() -> None:
    assert learned_forecast(Forecast(("refund",)), []) == Forecast(("refund",))
    assert learned_forecast(Forecast(("tool refund",)), [make_span(0, "tool", "refund")]).intents == ("tool refund",)


def test_one_step_of_the_weights() -> None:
    """By hand: w = (1, 0.5, 0.4, 0.2, 0), one wanted x = (1, 0, 0, 0, 0), one wasted x = (0, 1, 0, 0, 0)."""
    learned = learned_weights(Weights(), [NOTHING._replace(relevance=1)], [NOTHING._replace(utility=1)])
    up, down = (1 - 1 / (1 + math.exp(-1))) / 2, 1 / (1 + math.exp(-0.5)) / 2
    assert learned == pytest.approx((1 + up, 0.5 - down, 0.4, 0.2, 0))


def test_a_weight_stays_between_nothing_and_its_top() -> None:
    ones = Weights(1, 1, 1, 1, 1)
    assert learned_weights(ones._replace(recency=0.1), [], [NOTHING._replace(recency=1)]).recency == 0
    assert max(learned_weights(Weights(*[1e9] * 5), [], [ones])) == TOP_WEIGHT


def test_nothing_seen_and_no_numbers_teach_nothing() -> None:
    assert learned_weights(Weights(), [], []) == Weights()
    assert learned_weights(NOTHING, [], []) == Weights()
    odd = Weights(relevance=math.nan)
    assert learned_weights(odd, [Weights()], []) is odd


def test_what_is_learned_from_are_the_signals_of_the_score() -> None:
    span = make_span(2, "tool", "alpha 12", Durability.BOUNDED, utility=3)
    scorer = Scorer(Forecast(("alpha beta",), weights=Weights(1, 1, 1, 1, 1)), 4)
    signals = scorer.signals(span)
    assert signals == Weights(0.5, 0.75, 0.6, 0.5, 0.5)
    assert scorer.calls == 0
    assert scorer.score(span)[0] == pytest.approx(sum(signals))
    assert Scorer(Forecast(), 4).signals(span).relevance == 0


signals = st.builds(Weights, *[st.floats(0, 1)] * 5)


@given(st.builds(Weights, *[st.floats(0, 10)] * 5), st.lists(signals, max_size=5), st.lists(signals, max_size=5))
def test_learned_weights_are_within_bounds_and_move_the_right_way(
    weights: Weights, wanted: list[Weights], wasted: list[Weights]
) -> None:
    learned = learned_weights(weights, wanted, wasted)
    assert all(0 <= weight <= TOP_WEIGHT for weight in learned)
    if wanted and not wasted and any(weights):
        assert all(new >= min(old, TOP_WEIGHT) for new, old in zip(learned, weights, strict=True))
    if wasted and not wanted and any(weights):
        assert all(new <= old for new, old in zip(learned, weights, strict=True))

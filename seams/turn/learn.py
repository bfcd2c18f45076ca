"""What a turn teaches the next forecast: the words that it lacked, and how much each signal was worth.

One step after each turn, from what was seen alone: nothing is kept here between turns, and no span is scored. It is for
whoever runs a planner over turns; the replays that are measured forecast each turn afresh, so that a reading does not
depend on what was learned before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from seams.contract.turn import Forecast, Span, Weights
from seams.turn.benefit import effective, query_of, tokens

__all__ = ["INTENTS", "RATE", "TOP_WEIGHT", "learned_forecast", "learned_weights"]

INTENTS = 32
"""Intents that a forecast may have grown to; more that were authored stay, and nothing is added to them."""

RATE = 1.0
"""The share of the mean gradient that one step takes."""

TOP_WEIGHT = 10.0
"""A weight stays between 0 and this, so that one odd turn cannot silence the other signals for ever."""


def learned_forecast(forecast: Forecast, faulted: Iterable[Span]) -> Forecast:
    """``forecast`` with the words of the faulted spans that no intent holds, sorted, up to ``INTENTS`` in all."""
    words: set[str] = set()
    for span in faulted:
        words |= tokens(f"{span.role} {span.descriptor}")
    room = max(INTENTS - len(forecast.intents), 0)
    return forecast._replace(intents=(*forecast.intents, *sorted(words - query_of(forecast.intents))[:room]))


def _sigmoid(x: float) -> float:
    # By the sign, so that the exponential never overflows.
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def learned_weights(weights: Weights, wanted: Sequence[Weights], wasted: Sequence[Weights]) -> Weights:
    """One step of logistic regression on the signals of spans, as :meth:`seams.turn.benefit.Scorer.signals` gives them.

    ``wanted``: of those that the turn went back to, in the view or paged in. ``wasted``: of those that were in the
    view for nothing. w becomes w - RATE * mean((sigmoid(w.x) - y) x), y being 1 and 0, each weight then between 0 and
    ``TOP_WEIGHT``. Without any span, and where a weight is no finite number, nothing is learned.
    """
    seen = [(signals, 1.0) for signals in wanted] + [(signals, 0.0) for signals in wasted]
    weights = effective(weights)
    if not seen or not all(map(math.isfinite, weights)):
        return weights
    gradient = [0.0] * len(weights)
    for signals, label in seen:
        error = _sigmoid(sum(weight * signal for weight, signal in zip(weights, signals, strict=True))) - label
        for place, signal in enumerate(signals):
            gradient[place] += error * signal
    stepped = (weight - RATE * slope / len(seen) for weight, slope in zip(weights, gradient, strict=True))
    return Weights(*(min(max(weight, 0.0), TOP_WEIGHT) for weight in stepped))
